/**
 * Puts the parts together: one pure `(Request) => Promise<Response>`.
 *
 * @module
 */

import { createLocalTaskHost } from './a2a/local-task-host.ts'
import type { A2ASettings } from './a2a/options.ts'
import { a2aRoutes } from './a2a/routes.ts'
import type { TaskHost } from './a2a/task-host.ts'
import { adminGate, OPEN_WARNING } from './admin/gate.ts'
import type { AdminSettings } from './admin/options.ts'
import { adminPath, adminRoutes, type FindRuns } from './admin/routes.ts'
import type { Servable } from './agents/contract.ts'
import type { Nothing, Served, ServedOf } from './agents/served.ts'
import { createLocalRecords } from './gateway/local-records.ts'
import type { GatewaySettings } from './gateway/options.ts'
import { type GatewayRoutesOptions, gatewayRoutes } from './gateway/routes.ts'
import { askedAtHandshake } from './http/authentication.ts'
import { type Middleware, type Part, type RequestState, type Route, refusing } from './http/context.ts'
import { createDispatch } from './http/dispatch.ts'
import { withDrain } from './http/drain.ts'
import { createKeyReader, type KeyReader, keyHeaders } from './http/key-headers.ts'
import { createNoAddress, withNoAddress } from './http/no-address.ts'
import { platformOf } from './http/platform.ts'
import {
  type CountRequest,
  countInStore,
  createLocalCount,
  createRateLimit,
  type RateLimitSettings,
} from './http/rate-limit.ts'
import { createMatcher, joinPath } from './http/router.ts'
import { correctionRoutes } from './http/routes/correction-routes.ts'
import { healthRoute } from './http/routes/health-route.ts'
import { indexRoute, linkHeader, linksTo } from './http/routes/index-route.ts'
import { listRoutes } from './http/routes/list-routes.ts'
import { runRoutes } from './http/routes/run-routes.ts'
import { storedRunRoutes } from './http/routes/stored-run-routes.ts'
import { toolRoutes } from './http/routes/tool-routes.ts'
import type { RunRequestOptions } from './http/run-request.ts'
import { createToolCatalog } from './http/tool-catalog.ts'
import { createUploadReader } from './http/upload.ts'
import { metricsRoutes } from './metrics/routes.ts'
import { createDocument, type OpenApiDocument } from './openapi/document.ts'
import { resolveSwagger, type SwaggerOptions } from './openapi/options.ts'
import { docsRoutes } from './openapi/routes.ts'
import type { HandlerOptions, Settings, State } from './options.ts'
import type { HostSettings, RunHost } from './runs/host.ts'
import { type Life, withLife } from './runs/life.ts'
import { createLocalHost } from './runs/local-host.ts'
import {
  correctionsIn,
  createGatewayOf,
  createLifeOf,
  createService,
  documentParts,
  hasIndex,
  hasTools,
  logSocketError,
  logTrustError,
  NOT_STORED,
  namedPaths,
  openService,
  type Service,
  withoutAddress,
} from './service.ts'
import type { SocketServer } from './socket/io/server.ts'
import { createAddressReader } from './web/client-address.ts'
import { createCors } from './web/cors.ts'

/**
 * Answers a request. The second argument is for the entries of the runtimes; anything else in its place, such as
 * what Bun, Deno, Workers and Next pass there, is ignored, so the handler itself can be given to each of them.
 */
export interface Handler<Names extends Served = Served> {
  (request: Request, platform?: unknown): Promise<Response>
  /** What it serves, for the compiler alone: `createClient<typeof handler>` knows its names. It has no value. */
  readonly '~served'?: Names
}

/** What is served by name, as the compiler reads it from options. */
type ServedBy<Agents, Teams, Workflows, List extends readonly unknown[]> = {
  readonly agents: ServedOf<'agent', Agents, List>
  readonly teams: ServedOf<'team', Teams, List>
  readonly workflows: ServedOf<'workflow', Workflows, List>
}

/** Options whose explicit entries the compiler remembers. */
interface NamedOptions<Agents, Teams, Workflows, List> {
  readonly agents?: Agents
  readonly teams?: Teams
  readonly workflows?: Workflows
  readonly serve?: List
}

/**
 * Makes the handler that serves agents, teams and workflows. Throws a `ServableError` with code `invalid_options`
 * that names what is wrong. The handler itself never rejects: every failure is a response.
 *
 * @example
 * export default { fetch: createHandler({ agents: { echo } }) }
 */
export function createHandler<
  const Agents extends HandlerOptions['agents'] = Nothing,
  const Teams extends HandlerOptions['teams'] = Nothing,
  const Workflows extends HandlerOptions['workflows'] = Nothing,
  const List extends readonly Servable[] = readonly [],
>(
  options: HandlerOptions & NamedOptions<Agents, Teams, Workflows, List> = {},
): Handler<ServedBy<Agents, Teams, Workflows, List>> {
  const service = openService(options)
  const { settings, catalog, runs } = service
  const { prefix, production, log, middleware, fallback, metricsExporter } = settings
  const countStream = metricsExporter?.core.openStream
  const readKeys = createKeyReader(settings.providers)
  const host = createHost(settings.state, runs)
  const life = createLifeOf(service)
  life.regularly(() => void host.lookAfter?.())
  const tasks = settings.a2a && createTaskHost(service, life)
  const { cors, socketCors } = createAllCors(settings)
  const tellNoAddress = createNoAddress(log, withoutAddress(settings))
  const corsOf = (part: Part) => (part === 'socket' ? socketCors : cors)

  const mounted = [
    ...runRoutes({ prefix, catalog, readKeys, runs, host, countStream, ...runRequests(settings) }),
    ...storedRunRoutes({ prefix, host, listAnonymous: settings.runs.listAnonymous, countStream }),
    ...(settings.registry === undefined ? [] : listRoutes(prefix, catalog)),
    ...(settings.swagger === undefined ? [] : docsRoutes(documentParts(service, settings.swagger))),
    ...correctionRoutes({
      prefix,
      catalog,
      maxBodyBytes: settings.limits.maxBodyBytes,
      listAnonymous: settings.runs.listAnonymous,
      store: correctionsIn(settings.state),
    }),
    healthRoute(prefix, life.isReady),
    ...(hasTools(settings)
      ? toolRoutes(prefix, createToolCatalog({ ...settings, toolServers: settings.admin?.manager }))
      : []),
    ...(metricsExporter === undefined ? [] : metricsRoutes(prefix, metricsExporter, catalog)),
    ...(settings.admin === undefined ? [] : mountAdmin(settings, settings.admin, { host, tasks })),
    ...(settings.a2a && tasks ? mountA2A(service, settings.a2a, { readKeys, host: tasks }) : []),
    ...(settings.gateway === undefined
      ? []
      : mountGateway(service, settings.gateway, { host, onNoAddress: tellNoAddress })),
  ]

  const links = linksTo(namedPaths(settings), mounted)
  const index = hasIndex(settings) ? joinPath(prefix) : undefined
  const routes = index === undefined ? mounted : [...mounted, indexRoute(index, links)]
  const territory = { path: adminPath(prefix), part: 'admin', cors: null } as const
  const find = createMatcher(routes, settings.admin === undefined ? [] : [territory])
  const gate = settings.admin === undefined ? [] : [adminGate(settings.admin.authenticate)]
  const dispatch = createDispatch({
    find,
    middleware: [...limited(settings, middleware, tellNoAddress), ...gate],
    corsOf,
    publicUrl: settings.publicUrl,
    fallback,
    production,
    log,
    addressOf: createAddressReader(settings.trustProxy, error => logTrustError(log, error)),
    logsRequests: settings.logsRequests,
    link: linkHeader(index, links),
    readKeys,
  })
  const handler = (request: Request, argument?: unknown): Promise<Response> => {
    life.onRequest(platformOf(argument).isIsolated === true)
    return dispatch(request, argument)
  }
  const { trustProxy, rateLimit } = settings
  if ((trustProxy ?? rateLimit?.trustedHeader) === undefined) withNoAddress(handler, tellNoAddress)
  return withDrain(withLife(handler, life), service.working.drain)
}

/**
 * The OpenAPI 3.0.3 document of what a handler with these options serves now, without a server. Throws `invalid_options`.
 *
 * @example
 * const document = openapi(options, { title: 'My agents' })
 */
export function openapi(options: HandlerOptions, swagger: Partial<SwaggerOptions> = {}): OpenApiDocument {
  const resolved = resolveSwagger({ ...options.swagger, ...swagger })
  return createDocument(documentParts(createService(options), resolved))
}

/** The rate limiter comes before all other middleware, but where it goes by a key: that may be what they find out. */
function limited(
  { rateLimit, state }: Settings,
  middleware: readonly Middleware[],
  onNobody: () => void,
): readonly Middleware[] {
  if (rateLimit === undefined) return middleware
  const limiter = createRateLimit(rateLimit, countOf(rateLimit, state), onNobody)
  return rateLimit.key === undefined ? [limiter, ...middleware] : [...middleware, limiter]
}

function countOf({ shared, windowMs }: RateLimitSettings, state: State): CountRequest {
  if (!shared) return createLocalCount({ windowMs })
  if (state.kind === 'hosted') return state.countRequests(windowMs)
  return key => state.store.write(tx => countInStore(tx, key, windowMs))
}

/** The socket may be open to other origins than the rest. */
function createAllCors({ cors: setting, gateway, providers }: Settings) {
  const headers = keyHeaders(providers)
  const cors = createCors(setting, headers)
  const socketCors = gateway?.origins === undefined ? cors : createCors(gateway.origins, headers)
  return { cors, socketCors }
}

function mountAdmin(
  { prefix, toolkits, limits, log, state }: Settings,
  settings: AdminSettings,
  { host, tasks }: { readonly host: RunHost; readonly tasks: TaskHost | undefined },
): Route[] {
  if (settings.authenticate === undefined) log({ level: 'warn', event: 'admin.open', message: OPEN_WARNING })
  const checkServed = refusing(sharedCheck(state, 'Tool servers need'))
  const findRuns: FindRuns = async ref => {
    const [runs, found] = await Promise.all([host.find(ref), tasks?.find(ref)])
    return { runs, tasks: found ?? [] }
  }
  return adminRoutes({ prefix, settings, toolkits, maxBodyBytes: limits.maxBodyBytes, findRuns, checkServed })
}

/** What is refused without: see {@link sharedCheck}. */
const SHARED =
  'a state that requests share: on Workers give `state: durableState()`, in Next use its Node runtime'

/** Where the host runs the socket's server by itself, there is nothing to mount. */
function mountGateway(
  service: Service,
  gateway: GatewaySettings,
  { host, onNoAddress }: Pick<GatewayRoutesOptions, 'onNoAddress'> & { readonly host: RunHost },
): Route[] {
  const { state, middleware } = service.settings
  const isLocal = state.kind === 'local' || gateway.server !== undefined
  const fetch = isLocal ? createLocalGateway(service, gateway, host).fetch : state.connectGateway()
  if (gateway.server !== undefined) return []
  const checkServed = refusing(({ isIsolated }) =>
    isLocal && isIsolated ? `The socket needs ${SHARED}` : undefined,
  )
  const { path, authenticate } = gateway
  const decidesItself = authenticate !== undefined
  const asked = askedAtHandshake(middleware)
  return gatewayRoutes({ path, decidesItself, askedAtHandshake: asked, fetch, checkServed, onNoAddress })
}

/** The socket's server in this process. */
function createLocalGateway(service: Service, settings: GatewaySettings, host: RunHost): SocketServer {
  const { state, runs, log } = service.settings
  const { recoveryMs: maxMs } = settings
  const records =
    maxMs === undefined || state.kind === 'hosted'
      ? undefined
      : createLocalRecords({
          store: state.store,
          host,
          maxMs,
          timeoutMs: runs.timeoutMs,
          onError: error => logSocketError(log, error),
        })
  return createGatewayOf(service, settings, { host, records })
}

function createTaskHost({ settings: { state }, a2aAgents, tasks }: Service, life: Life): TaskHost {
  if (state.kind === 'hosted') return state.createTaskHost()
  const agentOf = (name: string) => a2aAgents.resolve('agent', name)
  const host = createLocalTaskHost({ ...state, settings: tasks, agentOf })
  // What outlives a process may have been left behind by the one before.
  life.atBeginning(() => void host.resume?.())
  life.regularly(() => void host.lookAfter?.())
  return host
}

function mountA2A(
  { settings, a2aAgents }: Service,
  a2a: A2ASettings,
  { readKeys, host }: { readonly readKeys: KeyReader; readonly host: TaskHost },
): Route[] {
  const { production, publicUrl, state, metricsExporter } = settings
  return a2aRoutes({
    settings: a2a,
    agents: a2aAgents,
    host,
    readKeys,
    production,
    publicUrl,
    countStream: metricsExporter?.core.openStream,
    checkServed: refusing(sharedCheck(state, 'A2A needs')),
  })
}

function runRequests(
  settings: Settings,
): Pick<RunRequestOptions, 'maxBodyBytes' | 'readUpload' | 'disconnect' | 'whyUnstored'> {
  const { fileUpload, limits, runs } = settings
  return {
    maxBodyBytes: limits.maxBodyBytes,
    readUpload: fileUpload && createUploadReader(fileUpload, runs.timeoutMs),
    disconnect: runs.disconnect,
    whyUnstored: followCheck(settings),
  }
}

function createHost(state: State, settings: HostSettings): RunHost {
  return state.kind === 'hosted' ? state.createHost(settings) : createLocalHost({ ...state, settings })
}

/** Says why a request can have no stored run, if so. */
function followCheck({ state, runs }: Settings): (request: RequestState) => string | undefined {
  return runs.store === 'none' ? () => NOT_STORED : sharedCheck(state, 'Stored runs need')
}

/** Says why a request cannot have what outlives it, if so: nobody else would find it. */
function sharedCheck(state: State, whatNeeds: string): (request: RequestState) => string | undefined {
  const isVolatile = state.kind === 'local' && state.isVolatile
  return request => (isVolatile && request.isIsolated ? `${whatNeeds} ${SHARED}` : undefined)
}
