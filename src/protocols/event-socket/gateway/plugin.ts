/**
 * The event socket as a plugin: the entry `servable/event-socket`.
 *
 * Begin with `reception.ts` (who may connect), then `session.ts` (what a client asks) and `event-sender.ts`. May import
 * `socket`, `core` and what is below it.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../../base/errors.ts'
import {
  checkOptions,
  corsSetting,
  count,
  duration,
  func,
  isFunction,
  path,
  record,
} from '../../../base/schemas.ts'
import { asPlugin, type Core } from '../../../core/built-in.ts'
import { SHARED } from '../../../core/core.ts'
import type { SocketObjectContext, SocketService } from '../../../core/hosted.ts'
import { runsInObject } from '../../../core/in-object.ts'
import { stateFor } from '../../../core/no-state.ts'
import type { Forgetting, Plugin } from '../../../core/plugin.ts'
import { type Catalog, createCatalog } from '../../../http/catalog.ts'
import { refusing } from '../../../http/context.ts'
import { logThrown } from '../../../http/failure-log.ts'
import type { Log } from '../../../http/log.ts'
import { joinPath } from '../../../http/router.ts'
import { createAnswerRun } from '../../../http/runs/go-on.ts'
import { createStartRun } from '../../../http/runs/start-run.ts'
import { askedAtHandshake } from '../../../http/security/credential.ts'
import { keyHeaders } from '../../../http/security/key-headers.ts'
import type { Document } from '../../../stores/store.ts'
import { checkCredentials, createCors } from '../../../web/cors.ts'
import type { SocketServer } from '../socket/io/server.ts'
import { forwardToObjects } from './forwarded.ts'
import { createGateway, type GatewayParts } from './gateway.ts'
import { authenticateBy } from './handshake.ts'
import {
  createRecordObject,
  createRecords,
  createSocketObject,
  RECORD_SERVICE,
  RECORDS,
  recordCalls,
} from './object.ts'
import { type GatewayOptions, type GatewaySettings, resolveGateway } from './options.ts'
import { cancelRuns, forgetRecords, type SocketRecord } from './records.ts'
import { type GatewayFetch, gatewayRoutes } from './routes.ts'

const NAME = RECORD_SERVICE

const OptionsSchema: v.GenericSchema<unknown> = v.strictObject({
  agents: v.optional(record),
  teams: v.optional(record),
  workflows: v.optional(record),
  path: v.optional(path),
  namespace: v.optional(
    v.pipe(v.string(), v.regex(/^\/[^,]*$/, 'must begin with a slash and have no comma')),
  ),
  authenticate: v.optional(func),
  origins: v.optional(corsSetting()),
  recovery: v.optional(
    v.union(
      [v.boolean(), v.strictObject({ maxMs: v.optional(duration) })],
      'must be true, false or { maxMs }',
    ),
  ),
  limits: v.optional(
    v.strictObject({
      maxPayload: v.optional(count),
      maxEventsPerSecond: v.optional(count),
      maxSockets: v.optional(count),
      maxSocketsPerIp: v.optional(count),
      maxSocketsPerIdentity: v.optional(count),
      maxRunsPerSocket: v.optional(count),
      maxBufferedBytes: v.optional(count),
      pingInterval: v.optional(duration),
      pingTimeout: v.optional(duration),
      connectTimeout: v.optional(duration),
    }),
  ),
  server: v.optional(
    v.custom<SocketServer>(value => isFunction(Object(value).attach), 'must be made by createSocketServer'),
  ),
})

/** Offers runs over an event socket, to Socket.IO clients and plain WebSockets. Throws `invalid_options`. */
export function eventSocket(options: GatewayOptions = {}): Plugin {
  return eventSocketAs(NAME, options)
}

/** The same plugin, with the name of an option for errors. */
export function eventSocketAs(option: string, options: GatewayOptions): Plugin {
  checkOptions(option, OptionsSchema, options)
  if (options.origins !== undefined) checkCredentials(`${option}.origins`, options.origins)
  const settings = resolveGateway(option, options)
  return asPlugin({
    name: NAME,
    catalog: served => offeredBy(settings, served),
    objectServices: { index: createRecordObject },
    sockets: (context, core) => serveSockets(settings, context, core),
    mount(core) {
      checkTogether(option, settings, core)
      const { state, middleware } = core.settings
      const { path, authenticate, origins, server } = settings
      // On Workers the record of each socket is in an object of its own, and expires there.
      const forget = async ({ owner, session }: Forgetting) =>
        session === undefined && state.kind === 'local' && forgetRecords(state.store, owner)
      // The host runs the server by itself, so no routes are mounted.
      if (server !== undefined) return { begin: () => void createLocalServer(settings, core), forget }
      const isLocal = state.kind !== 'hosted'
      const fetch: GatewayFetch = isLocal ? createLocalServer(settings, core).fetch : forwardToObjects(state)
      return {
        routes: gatewayRoutes({
          option,
          path,
          decidesItself: authenticate !== undefined,
          askedAtHandshake: askedAtHandshake(middleware),
          fetch,
          checkServed: refusing(({ isIsolated }) =>
            isLocal && isIsolated ? `The socket needs ${SHARED}` : undefined,
          ),
          onNoAddress: core.onNoAddress,
        }),
        // The socket may allow other origins than the rest of the service.
        ...(origins !== undefined && {
          cors: createCors(origins, keyHeaders(core.settings.providers)) ?? null,
        }),
        links: { socket: joinPath(path) },
        forget,
        withoutAddress: `\`${option}.limits.maxSocketsPerIp\` has no effect`,
      }
    },
  })
}

/** Returns the entries on offer. If the socket's options name any, only those are on offer. */
function offeredBy(settings: GatewaySettings, served: Catalog): Catalog {
  const { agents, teams, workflows } = settings
  const isOwn = [agents, teams, workflows].some(given => given !== undefined)
  return isOwn ? createCatalog({ agents, teams, workflows, registry: undefined, scope: NAME }) : served
}

/** The server of the event socket in this process. */
function createLocalServer(settings: GatewaySettings, core: Core): SocketServer {
  const { host, callTransactions, runs } = core
  const { recoveryMs: maxMs } = settings
  const onExpired = ({ value }: Document) => cancelRuns(host, value as SocketRecord)
  const records =
    maxMs === undefined || core.settings.state.kind !== 'local'
      ? undefined
      : createRecords(callTransactions(NAME, RECORDS, { onExpired }), { ...runs, maxMs })
  return createServer(settings, core, { host, records })
}

/** Makes the server of the event socket in an object. Its sockets may sleep. */
function serveSockets(settings: GatewaySettings, context: SocketObjectContext, core: Core): SocketService {
  const { recoveryMs: maxMs, limits } = settings
  const runs = runsInObject(core)
  const records =
    maxMs === undefined ? undefined : createRecords(recordCalls(context.reach), { ...runs, maxMs })
  return createSocketObject(
    context,
    engine => createServer(settings, { ...core, runs }, { host: core.host, records, engine }),
    { pingInterval: limits.pingInterval, onError: error => logSocketError(core.log, error) },
  )
}

/** Makes the server of the event socket from the core. */
function createServer(
  settings: GatewaySettings,
  {
    settings: { middleware, roles },
    log,
    runs,
    readKeys,
    callTransactions,
    catalogOf,
    sockets,
    whyUnstored,
    storedStarts: stored,
  }: Core,
  own: Pick<GatewayParts, 'host' | 'records' | 'engine'>,
): SocketServer {
  const authenticate =
    settings.authenticate ?? authenticateBy(middleware, { log, readKeys, roles, handler: callTransactions })
  const starting = { runs, host: own.host, whyUnstored, stored }
  const server = createGateway({
    ...own,
    settings: { ...settings, ...(authenticate && { authenticate }) },
    runs,
    catalog: catalogOf(NAME),
    readKeys,
    startRun: createStartRun(starting),
    answerRun: createAnswerRun({ ...starting, catalogOf }),
    limits: settings.limits,
    onError: (error, requestId, secrets) => logSocketError(log, error, requestId, secrets),
  })
  sockets.add(() => server.size)
  return server
}

/** Logs an error of a socket that does not belong to a run. */
export function logSocketError(
  log: Log,
  error: unknown,
  requestId?: string,
  secrets?: readonly string[],
): void {
  logThrown(log, { event: 'socket.failed', ...(requestId !== undefined && { requestId }) }, error, secrets)
}

function checkTogether(
  option: string,
  { recoveryMs, server, authenticate }: GatewaySettings,
  { settings: { middleware, runs, state } }: Core,
): void {
  if (server !== undefined && authenticate === undefined && middleware.length > 0) {
    throw new ServableError(
      'invalid_options',
      `\`${option}.server\` does not run \`middleware\`: set \`${option}.authenticate\` too`,
    )
  }
  if (recoveryMs === undefined) return
  stateFor(`${option}.recovery`, state)
  if (runs.store !== 'none') return
  throw new ServableError(
    'invalid_options',
    `\`${option}.recovery\` needs stored runs: \`runs.store\` must not be 'none'`,
  )
}
