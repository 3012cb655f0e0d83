/**
 * What serving needs, made once from the options: for a handler, and for the Durable Objects beside it.
 *
 * @module
 */

import { resolveA2A } from './a2a/options.ts'
import type { TaskSettings } from './a2a/task-host.ts'
import { toolServersIn } from './admin/kept.ts'
import type { CorrectionStore } from './agents/corrections.ts'
import type { MemoryKeeper, SessionKeeper } from './agents/memory.ts'
import type { ToolServers } from './agents/tool-servers.ts'
import { ServableError } from './errors.ts'
import { createGateway, type GatewayParts } from './gateway/gateway.ts'
import { authenticateBy } from './gateway/handshake.ts'
import type { GatewaySettings } from './gateway/options.ts'
import { type Catalog, createCatalog, type Sources } from './http/catalog.ts'
import { localCorrections } from './http/corrections.ts'
import { logFailure, logThrown } from './http/failure-log.ts'
import { createKeyReader } from './http/key-headers.ts'
import type { Log } from './http/log.ts'
import { joinPath } from './http/router.ts'
import type { MetricsExporter } from './metrics/exporter.ts'
import { createStoreKeeper } from './metrics/store-keeper.ts'
import type { DocumentParts } from './openapi/document.ts'
import type { SwaggerSettings } from './openapi/options.ts'
import type { DocumentSecurity } from './openapi/security.ts'
import { type HandlerOptions, resolveOptions, type Settings, type State } from './options.ts'
import type { RunFailure } from './runs/failures.ts'
import type { HostSettings } from './runs/host.ts'
import { createLife, type Life } from './runs/life.ts'
import type { Meter } from './runs/meter.ts'
import { refOf } from './runs/record.ts'
import { appendSession, readSession } from './runs/sessions.ts'
import { createWorkingRuns, type WorkingRuns } from './runs/working.ts'
import type { SocketServer } from './socket/io/server.ts'
import type { Store } from './state/store.ts'

/** The checked options and what comes of them. */
export interface Service {
  readonly settings: Settings
  readonly catalog: Catalog
  readonly runs: HostSettings
  /** The runs at work in this process. */
  readonly working: WorkingRuns
  /** The agents that A2A offers. */
  readonly a2aAgents: Catalog
  readonly tasks: TaskSettings
  /** What the event socket offers. */
  readonly gatewayCatalog: Catalog
}

/** What the OpenAPI document tells of. */
export function documentParts({ settings, catalog }: Service, swagger: SwaggerSettings): DocumentParts {
  const { prefix, registry, fileUpload, metricsExporter, a2a } = settings
  return {
    swagger,
    prefix,
    catalog,
    security: documentSecurity(settings),
    hasIndex: hasIndex(settings),
    hasLists: registry !== undefined,
    hasUploads: fileUpload !== undefined,
    hasTools: hasTools(settings),
    hasAdmin: settings.admin !== undefined,
    hasMetrics: metricsExporter !== undefined,
    a2a: a2a && {
      path: joinPath(a2a.basePath),
      hasPush: a2a.push !== undefined,
      hasExtendedCard: a2a.extendedCard !== undefined,
    },
  }
}

/** Who is let in where, as far as it is known. */
function documentSecurity({ security, providers, admin, metricsExporter, a2a }: Settings): DocumentSecurity {
  const { challenge = 'Bearer' } = a2a?.extendedCard ?? {}
  return {
    ...security,
    providers,
    guarded: {
      ...(admin?.authenticate && { admin: 'bearer' }),
      ...(metricsExporter?.authenticate && { metrics: 'bearer' }),
      // The challenge begins with the name of what it asks for (RFC 9110, section 11.6.1).
      ...(a2a?.extendedCard && { card: challenge.split(' ', 1)[0]?.toLowerCase() ?? 'bearer' }),
    },
  }
}

/** Whether there is an index of what is mounted: it does not take the place of the host's own page. */
export function hasIndex({ prefix, fallback }: Settings): boolean {
  return joinPath(prefix) !== '/' || fallback === undefined
}

/** What the index tells of, where it is mounted. */
export function namedPaths({ prefix, swagger, a2a, gateway }: Settings): Readonly<Record<string, string>> {
  const at = (...path: string[]) => joinPath(prefix, ...path)
  return {
    ...(swagger?.assets && { docs: at(swagger.docsPath) }),
    ...(swagger && { spec: at(swagger.specPath) }),
    ...Object.fromEntries(['agents', 'teams', 'workflows', 'registry'].map(name => [name, at(name)])),
    run: at('agents', ':name', 'run'),
    stream: at('agents', ':name', 'stream'),
    runs: at('runs'),
    tools: at('tools'),
    health: at('health'),
    metrics: at('metrics'),
    ...(a2a && { card: '/.well-known/agent-card.json', a2a: joinPath(a2a.basePath) }),
    ...(gateway && { socket: joinPath(gateway.path) }),
  }
}

/** Whether there are tools to list. */
export function hasTools({ toolkits, toolLibrary, admin }: Settings): boolean {
  return toolkits.length > 0 || Object.keys(toolLibrary).length > 0 || admin?.manager !== undefined
}

/** Why there can be no stored runs. */
export const NOT_STORED = 'Runs are not stored here (`runs.store` is `none`): ask for a plain run'

/** Makes a service whose parts that keep something are at work: for whoever serves it. Throws `invalid_options`. */
export function openService(options: HandlerOptions): Service {
  const service = createService(options)
  const { metricsExporter, admin, state, log } = service.settings
  if (metricsExporter !== undefined) keepMetrics(metricsExporter, state, log)
  const manager = admin?.manager
  if (manager !== undefined) {
    manager.use(
      state.kind === 'hosted' ? state.connectToolServers() : openToolServers(service.settings, state.store),
    )
  }
  return service
}

/** Checks the options. Throws `invalid_options` that names what is wrong. */
export function createService(options: HandlerOptions): Service {
  const settings = resolveOptions(options)
  const { production, log } = settings
  const onFailure = (failure: RunFailure) => logFailure(log, failure)
  const catalog = createCatalog(settings)
  const working = createWorkingRuns()
  const runs = {
    ...settings.runs,
    production,
    onFailure,
    meter: meterOf(settings),
    working,
    memory: memoryIn(settings, catalog),
  }
  const { agents, maxTasksPerOwner, maxHistory, maxSubscribers, push } = settings.a2a ?? resolveA2A({})
  return {
    settings,
    catalog,
    runs,
    working,
    a2aAgents: agents === undefined ? catalog : createCatalog({ agents, registry: undefined }),
    gatewayCatalog: gatewayCatalogOf(settings, catalog),
    tasks: {
      ...runs,
      maxTasksPerOwner,
      maxHistory,
      maxFollowers: maxSubscribers,
      push,
      onGivenUp: ({ id, owner }, why) =>
        log({
          level: 'warn',
          event: 'push.given_up',
          taskId: refOf(id, owner),
          message: `The receiver is told no more: ${why}`,
        }),
    },
  }
}

/** Counts runs, by the prices of this handler. */
function meterOf({ metricsExporter, pricing }: Settings): Meter | undefined {
  return pricing === undefined ? metricsExporter?.core : metricsExporter?.core.pricedBy(pricing)
}

/** The life of a service beside its requests. */
export function createLifeOf({ settings, working }: Service): Life {
  const { state, log, metricsExporter } = settings
  return createLife({
    state: state.kind === 'local' ? state : undefined,
    working,
    flush: async () => metricsExporter?.core.flush(),
    onError: error => logThrown(log, { event: 'state.failed' }, error),
  })
}

/** Keeps what is counted where the state is kept; in memory, that is the exporter itself. */
function keepMetrics({ core }: MetricsExporter, state: State, log: Log): void {
  const onError = (error: unknown) => logThrown(log, { event: 'metrics.failed' }, error)
  if (state.kind === 'hosted') core.connect(each => state.keepMetrics(each, onError))
  else if (!state.isVolatile) core.connect(each => createStoreKeeper(each, state.store, onError))
}

/** What agents remember is kept in the state. */
function memoryIn(settings: Settings, catalog: Catalog): MemoryKeeper {
  const { list } = correctionsIn(settings.state)
  return {
    sessions: settings.runs.store === 'none' ? undefined : sessionsIn(settings),
    corrections: async (agent, owner, limit) => (await list({ agent, owner, limit })).corrections,
    servedAs(servable, kind, asked) {
      if (catalog.find(kind, asked)?.servable === servable) return asked
      return catalog.entries(kind).find(entry => entry.servable === servable)?.name
    },
  }
}

function sessionsIn({ state, runs }: Settings): SessionKeeper {
  if (state.kind === 'hosted') return state.keepSessions(runs)
  const { store } = state
  return {
    read: async key => store.read(tx => readSession(tx, key)),
    append: async (key, messages) => void (await store.write(tx => appendSession(tx, key, messages, runs))),
  }
}

/** Where corrections are kept that have no place of their own. */
export function correctionsIn(state: State): Required<CorrectionStore> {
  return state.kind === 'hosted' ? state.keepCorrections() : localCorrections(state.store)
}

/** The tool servers that a store keeps, connected from here. Throws `tool_servers_not_configured` without a manager. */
export function openToolServers({ admin, log }: Settings, store: Store): ToolServers {
  if (admin?.manager === undefined) {
    throw new ServableError('tool_servers_not_configured', 'There is no manager of tool servers')
  }
  return admin.manager.open({
    store: toolServersIn(store),
    policy: admin.policy,
    onChange: ({ status, ...change }) =>
      log({
        level: 'warn',
        event: status === 'connected' ? 'tool_server.back' : 'tool_server.lost',
        ...change,
      }),
  })
}

/** With anything of its own, the socket offers that alone. */
function gatewayCatalogOf({ gateway }: Settings, catalog: Catalog): Catalog {
  const { agents, teams, workflows, registry }: Sources = { registry: undefined, ...gateway }
  const isOwn = [agents, teams, workflows, registry].some(given => given !== undefined)
  return isOwn ? createCatalog({ agents, teams, workflows, registry, scope: 'gateway' }) : catalog
}

/** The server of the event socket, from what all gateways of a service share. */
export function createGatewayOf(
  service: Service,
  settings: GatewaySettings,
  own: Pick<GatewayParts, 'host' | 'records' | 'engine'>,
): SocketServer {
  const { runs, gatewayCatalog, settings: all } = service
  const readKeys = createKeyReader(all.providers)
  const authenticate = settings.authenticate ?? authenticateBy(all.middleware, { log: all.log, readKeys })
  const server = createGateway({
    ...own,
    settings: { ...settings, ...(authenticate && { authenticate }) },
    runs,
    catalog: gatewayCatalog,
    readKeys,
    limits: settings.limits,
    whyUnstored: all.runs.store === 'none' ? NOT_STORED : undefined,
    onError: (error, requestId, secrets) => logSocketError(all.log, error, requestId, secrets),
  })
  all.metricsExporter?.core.socketCounts.add(() => server.size)
  return server
}

/** What went wrong with a socket, beside its runs. */
export function logSocketError(
  log: Log,
  error: unknown,
  requestId?: string,
  secrets?: readonly string[],
): void {
  logThrown(log, { event: 'socket.failed', ...(requestId !== undefined && { requestId }) }, error, secrets)
}

/** `trustProxy` threw: nobody was believed. */
export function logTrustError(log: Log, error: unknown): void {
  logThrown(log, { event: 'trust_proxy.failed' }, error)
}

/** What becomes of the limits that go by address, for clients that have none. */
export function withoutAddress({ rateLimit, gateway }: Settings): string[] {
  const isCounted = rateLimit !== undefined && rateLimit.key === undefined
  return [
    ...(isCounted ? ['for `rateLimit` all of them are one client'] : []),
    ...(gateway !== undefined && gateway.server === undefined
      ? ['`gateway.limits.maxSocketsPerIp` does not bound them']
      : []),
  ]
}
