/**
 * The options of `createHandler`: checked at construction, defaults filled in once.
 *
 * @module
 */

import * as v from 'valibot'
import { CardSecuritySchemesSchema } from './a2a/card-security.ts'
import { type A2AOptions, type A2ASettings, resolveA2A } from './a2a/options.ts'
import type { TaskHost } from './a2a/task-host.ts'
import { type AdminOptions, AdminSchema, type AdminSettings, resolveAdmin } from './admin/options.ts'
import type {
  Servable,
  ServableAgent,
  ServableLike,
  ServableTeam,
  ServableWorkflow,
} from './agents/contract.ts'
import type { CorrectionStore } from './agents/corrections.ts'
import type { SessionKeeper } from './agents/memory.ts'
import { defaultRegistry, type Registry } from './agents/registry.ts'
import type { Tool } from './agents/tool.ts'
import type { ToolServers } from './agents/tool-servers.ts'
import type { Toolkit } from './agents/toolkit.ts'
import { withDefaults } from './defaults.ts'
import { isProduction } from './environment.ts'
import { ServableError } from './errors.ts'
import { type GatewayOptions, type GatewaySettings, resolveGateway } from './gateway/options.ts'
import type { GatewayFetch } from './gateway/routes.ts'
import type { Middleware } from './http/context.ts'
import { DEFAULT_PROVIDERS, type Providers } from './http/key-headers.ts'
import type { Log } from './http/log.ts'
import {
  type CountRequest,
  type RateLimitOptions,
  type RateLimitSettings,
  resolveRateLimit,
} from './http/rate-limit.ts'
import {
  resolveSecurity,
  type SecurityOptions,
  SecuritySchema,
  SecuritySchemesSchema,
  type SecuritySettings,
} from './http/security.ts'
import { type FileUploadOptions, resolveUpload, type UploadSettings } from './http/upload.ts'
import type { MetricsCore, MetricsKeeper } from './metrics/core.ts'
import type { MetricsExporter } from './metrics/exporter.ts'
import {
  DOCS_PATH,
  resolveSwagger,
  SPEC_PATH,
  type SwaggerOptions,
  type SwaggerSettings,
} from './openapi/options.ts'
import type { DisconnectPolicy, HostSettings, RunHost } from './runs/host.ts'
import { MAX_PARTS } from './runs/input.ts'
import { isPrice, type ModelPrice, type Pricing } from './runs/pricing.ts'
import type { SessionSettings } from './runs/sessions.ts'
import {
  count,
  duration,
  flag,
  func,
  isFunction,
  isOrigin,
  origins,
  path,
  record,
  strings,
} from './schemas.ts'
import type { SocketServer } from './socket/io/server.ts'
import { type LocalState, memoryState } from './state/state.ts'
import { headerName, validate } from './validation.ts'
import { isTrustProxy, TRUST_PROXY, type TrustProxy } from './web/client-address.ts'
import type { CorsSetting } from './web/cors.ts'

/** What a handler serves and how. Every member is optional; an unknown or wrong one is a start-up error that names it. */
export interface HandlerOptions extends SecurityOptions {
  /** Agents by the name under which they are served. They win over registered ones of the same name. */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  /** Teams by name. */
  readonly teams?: Readonly<Record<string, ServableLike<ServableTeam>>>
  /** Workflows by name. */
  readonly workflows?: Readonly<Record<string, ServableLike<ServableWorkflow>>>
  /** Agents, teams and workflows in one list, classified by their `kind`; others by `toAgent` of `servable/adapters`. */
  readonly serve?: readonly Servable[]
  /**
   * Where names that are not given explicitly are looked up, on every request. Default: the default registry, which
   * first-party agents join when they are made. `false`: only explicit entries are served, and the lists are off.
   */
  readonly registry?: Registry | false
  /** The path under which everything but A2A and the socket is mounted. Default `/api`. */
  readonly prefix?: string
  /** Wraps every request of every part, the first outermost: the place for authentication. */
  readonly middleware?: readonly Middleware[]
  /** Answers what matches no route, instead of a 404. Middleware does not apply to it. */
  readonly fallback?: (request: Request) => Response | Promise<Response>
  /** Masks the text of server errors. Default: on, unless `NODE_ENV` is `development` or `test`. */
  readonly production?: boolean
  /**
   * Lets pages of other origins call. Default false: what a browser says that such a page sent, and that changes something, is
   * answered 403 with `cross_site_request`. `true` is any origin, without credentials: with a cookie it is refused likewise.
   * An origin that is named may send cookies even without `credentials`, which lets its pages read the answers as well.
   */
  readonly cors?: CorsSetting
  /** Bounds on requests. */
  readonly limits?: LimitOptions
  /** Takes files with a run, as `multipart/form-data`: `true`, or how. Default false. */
  readonly fileUpload?: boolean | FileUploadOptions
  /** Toolkits whose tools are listed at `GET /tools`. */
  readonly toolkits?: readonly Toolkit[]
  /** Tools by the name under which they are listed. They win over a toolkit's tool of the same name. */
  readonly toolLibrary?: Readonly<Record<string, Tool>>
  /** Serves an OpenAPI document of what is served. Default: off. */
  readonly swagger?: SwaggerOptions
  /**
   * Who is believed about the client's address: the number of proxies before the service, the header that the nearest one
   * sets, or a function that knows proxies by their address. It holds for limits by address of requests and sockets, for the
   * places that clients without an identity share (uploads, runs, tasks, push notifications), for `context.ip` and for the log.
   * Default: nobody, so that behind a proxy all clients have the proxy's address.
   */
  readonly trustProxy?: TrustProxy
  /** Limits the requests of one client: `true` (100 a minute by address), or how. Default: off. */
  readonly rateLimit?: boolean | RateLimitOptions
  /**
   * Takes log entries, one for each request among them; `false` for none. Default: warnings and errors as JSON lines on the
   * console.
   */
  readonly logger?: Log | false
  /** Headers of model providers' keys, beside the three of the default table. */
  readonly providers?: Providers
  /** How runs are bounded and stored. */
  readonly runs?: RunsOptions
  /** Where stored runs and tasks are kept. Default: `memoryState()`. */
  readonly state?: State
  /** Offers agents to other agents over A2A: `true`, or how. Default: off. */
  readonly a2a?: true | A2AOptions
  /** Offers runs over an event socket, to Socket.IO clients and plain WebSockets: `true`, or how. Default: off. */
  readonly gateway?: true | GatewayOptions
  /** Lets administrators manage tool servers (MCP) and see the toolkits: `true`, or how. Default: off. */
  readonly admin?: boolean | AdminOptions
  /**
   * Prices in USD for a million tokens, by `provider/id` or `id` of the model. Metrics show by them what runs cost that do not
   * tell it themselves: of a team or workflow, the sum of what its agents used. Default: none.
   */
  readonly pricing?: Pricing
  /** Counts every run, and is what `GET /metrics` shows. Default: nothing is counted. */
  readonly metricsExporter?: MetricsExporter
  /**
   * The address under which clients reach the service, without a path: `https://agents.example.com`. Its pages are the own ones,
   * also behind a proxy that changes `Host`. Default: the request's.
   */
  readonly publicUrl?: string
}

/** State outside this program, which brings its own hosts. */
export interface HostedState {
  readonly kind: 'hosted'
  createHost(settings: HostSettings): RunHost
  createTaskHost(): TaskHost
  /** Sends requests of the event socket where its server is. */
  connectGateway(): GatewayFetch
  /** Keeps corrections. */
  keepCorrections(): Required<CorrectionStore>
  /** Keeps the messages of sessions. */
  keepSessions(settings: SessionSettings): SessionKeeper
  /** Counts requests of a client in windows of so many milliseconds. */
  countRequests(windowMs: number): CountRequest
  /** The tool servers, which are kept and connected elsewhere. */
  connectToolServers(): ToolServers
  /** Keeps what was counted. */
  keepMetrics(core: MetricsCore, onError: (error: unknown) => void): MetricsKeeper
}

/** Where a deployment keeps what it has to keep. */
export type State = LocalState | HostedState

/** Bounds on requests. */
export interface LimitOptions {
  /**
   * Most bytes of a JSON body; more is answered 413. Default 1,048,576. Whatever its size, it may be nested 200 deep, have
   * 500,000 values, and 1,000 parts in a message.
   */
  readonly maxBodyBytes?: number
}

/** How runs are bounded and stored. */
export interface RunsOptions {
  /** Milliseconds that a run may take; then it fails with `run_timeout`. Default 600,000. */
  readonly timeoutMs?: number
  /** Most events of one run; more fail it with `run_too_large`. Default 1,000,000. */
  readonly maxEvents?: number
  /** Most characters of text, tool calls and artifacts in a JSON answer; more fail the run with `run_too_large`. Default 33,554,432. */
  readonly maxLength?: number
  /**
   * What a stored run does when the last client that watches it leaves: `cancel` (default), `continue`, or `graceMs`
   * milliseconds to come back. With anything but `cancel` every run is a stored one. A background run goes on in
   * any case.
   */
  readonly disconnect?: DisconnectPolicy
  /** `none` refuses stored runs, so that nothing of any run is kept. */
  readonly store?: 'none'
  /** Lets everyone list runs that have no owner at `GET /runs`. Default false: without an identity that is off. */
  readonly listAnonymous?: boolean
  /** Milliseconds for which an ended run is kept, and its idempotency key with it. Default 86,400,000. */
  readonly retentionMs?: number
  /**
   * Most sessions of one owner that are kept: of an identity, of a claimed `userId`, or of all who have neither; past it the
   * one that was used least recently leaves. On Workers each session is by itself and they are not counted. Default 1,000.
   */
  readonly maxSessions?: number
  /** Most messages of a session that are kept; past it the oldest leave, answers with what they answer. Default 200. */
  readonly maxSessionMessages?: number
  /** Most characters of a session that are kept, as JSON; past it the oldest messages leave likewise. Default 65,536. */
  readonly maxSessionLength?: number
  /** Milliseconds for which a session is kept after its last run. Default 604,800,000, a week. */
  readonly sessionRetentionMs?: number
  /** Most bytes of a stored run's events; more fail it with `run_too_large`. Default 16,777,216. */
  readonly maxBytes?: number
  /** Most clients that follow one run at a time; one more is answered 429. Default 100. */
  readonly maxFollowers?: number
  /** Most stored runs at work at a time; one more is answered 429. Default 1,000. */
  readonly maxRunning?: number
  /**
   * The same, of one client: of an identity, else of an address (of IPv6 the network of 64 bits), else of all of whom neither
   * is known. Default 100.
   */
  readonly maxRunningPerOwner?: number
}

/** The options with every default in place. */
export interface Settings
  extends Required<
    Omit<
      HandlerOptions,
      | 'registry'
      | 'fallback'
      | 'limits'
      | 'logger'
      | 'runs'
      | 'a2a'
      | 'gateway'
      | 'admin'
      | 'metricsExporter'
      | 'pricing'
      | 'fileUpload'
      | 'rateLimit'
      | 'trustProxy'
      | 'swagger'
      | 'publicUrl'
      | keyof SecurityOptions
    >
  > {
  /** Undefined where A2A is off. */
  readonly a2a: A2ASettings | undefined
  /** Undefined where there is no event socket. */
  readonly gateway: GatewaySettings | undefined
  /** Undefined where there are no admin routes. */
  readonly admin: AdminSettings | undefined
  readonly metricsExporter: MetricsExporter | undefined
  readonly pricing: Pricing | undefined
  /** Undefined where there is no document. */
  readonly swagger: SwaggerSettings | undefined
  /** Undefined where requests are not limited. */
  readonly rateLimit: RateLimitSettings | undefined
  /** Undefined where no proxy is believed. */
  readonly trustProxy: TrustProxy | undefined
  readonly logsRequests: boolean
  /** Undefined where files are not taken. */
  readonly fileUpload: UploadSettings | undefined
  readonly publicUrl: string | undefined
  /** Who is let in, as it is told. */
  readonly security: SecuritySettings
  readonly registry: Registry | undefined
  readonly fallback: HandlerOptions['fallback']
  readonly limits: Required<LimitOptions>
  readonly log: Log
  readonly runs: Required<Omit<RunsOptions, 'store'>> & Pick<RunsOptions, 'store'>
}

const mediaTypes = v.pipe(
  v.array(
    v.pipe(
      v.string(),
      v.regex(/^(\*|[\w.+-]+)\/(\*|[\w.+-]+)$/i, 'must be a media type such as image/png, or image/*'),
    ),
    'must be an array of strings',
  ),
  v.minLength(1, 'must hold a type or more'),
)

const registry = v.custom<Registry>(
  value => isFunction(Object(value).get) && isFunction(Object(value).all) && isFunction(Object(value).list),
  'must be a Registry or false',
)

const state = v.custom<State>(
  value => Object(value).kind === 'local' || Object(value).kind === 'hosted',
  'must be memoryState(), sqliteState() or durableState()',
)

const cors = v.strictObject({
  origins: v.union([v.literal('*'), origins, func], "must be '*', an array of origins or a function"),
  credentials: v.optional(v.boolean()),
  allowedHeaders: v.optional(v.array(headerName)),
  exposedHeaders: v.optional(v.array(headerName)),
  maxAge: v.optional(
    v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be 0 or more')),
  ),
})

const a2a = v.strictObject({
  agents: v.optional(record),
  basePath: v.optional(path),
  provider: v.optional(v.strictObject({ organization: v.string(), url: v.optional(v.string()) })),
  version: v.optional(v.string()),
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  default: v.optional(v.string()),
  cardForm: v.optional(v.picklist(['hybrid', '1.0'], "must be 'hybrid' or '1.0'")),
  securitySchemes: v.optional(CardSecuritySchemesSchema),
  security: v.optional(SecuritySchema),
  documentationUrl: v.optional(v.string()),
  iconUrl: v.optional(v.string()),
  inputModes: v.optional(strings),
  outputModes: v.optional(strings),
  listAnonymous: v.optional(flag),
  maxBodyBytes: v.optional(count),
  maxParts: v.optional(v.pipe(count, v.maxValue(MAX_PARTS, `must be ${MAX_PARTS} or less`))),
  maxHistory: v.optional(count),
  maxTasksPerOwner: v.optional(count),
  maxSubscribers: v.optional(count),
  extendedCard: v.optional(
    v.strictObject({
      authenticate: func,
      challenge: v.optional(v.string()),
      agents: v.optional(strings),
      card: v.optional(v.union([func, record], 'must be an object or a function')),
    }),
  ),
  sign: v.optional(func),
  push: v.optional(
    v.union(
      [
        v.boolean(),
        v.strictObject({
          allow: v.optional(strings),
          secret: v.optional(v.string()),
          maxConfigs: v.optional(v.pipe(count, v.maxValue(1000, 'must be 1,000 or less'))),
          timeoutMs: v.optional(duration),
          maxTries: v.optional(count),
          retryMs: v.optional(duration),
          maxRetryMs: v.optional(duration),
        }),
      ],
      'must be true, false or an object of options',
    ),
  ),
})

const corsSetting = v.union(
  [v.boolean(), origins, cors],
  'must be true, false, origins or an object with `origins`',
)

const gateway = v.strictObject({
  agents: v.optional(record),
  teams: v.optional(record),
  workflows: v.optional(record),
  registry: v.optional(registry),
  path: v.optional(path),
  namespace: v.optional(
    v.pipe(v.string(), v.regex(/^\/[^,]*$/, 'must begin with a slash and have no comma')),
  ),
  authenticate: v.optional(func),
  origins: v.optional(corsSetting),
  recovery: v.optional(
    v.union(
      [v.boolean(), v.strictObject({ maxMs: v.optional(duration) })],
      'must be true, false or { maxMs }',
    ),
  ),
  limits: v.optional(
    v.strictObject({
      maxPayload: v.optional(count),
      maxAttachments: v.optional(v.pipe(count, v.maxValue(10, 'must be 10 or less'))),
      maxNamespaces: v.optional(count),
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

const OptionsSchema = v.strictObject({
  agents: v.optional(record),
  teams: v.optional(record),
  workflows: v.optional(record),
  serve: v.optional(v.array(v.unknown(), 'must be an array')),
  registry: v.optional(v.union([v.literal(false), registry], 'must be a Registry or false')),
  prefix: v.optional(path),
  middleware: v.optional(v.array(func, 'must be an array of functions')),
  securitySchemes: v.optional(SecuritySchemesSchema),
  security: v.optional(SecuritySchema),
  fallback: v.optional(func),
  production: v.optional(flag),
  cors: v.optional(corsSetting),
  limits: v.optional(v.strictObject({ maxBodyBytes: v.optional(count) })),
  swagger: v.optional(
    v.pipe(
      v.strictObject({
        enabled: flag,
        title: v.optional(v.string()),
        description: v.optional(v.string()),
        version: v.optional(v.string()),
        routePrefix: v.optional(path),
        servers: v.optional(
          v.array(v.strictObject({ url: v.string(), description: v.optional(v.string()) })),
        ),
        docsPath: v.optional(path),
        assets: v.optional(func),
        specPath: v.optional(path),
      }),
      v.check(
        ({ docsPath = DOCS_PATH, specPath = SPEC_PATH }) => docsPath !== specPath,
        'must have a `docsPath` and a `specPath` that differ',
      ),
    ),
  ),
  trustProxy: v.optional(v.custom<TrustProxy>(isTrustProxy, TRUST_PROXY)),
  rateLimit: v.optional(
    v.union(
      [
        v.boolean(),
        v.strictObject({
          windowMs: v.optional(duration),
          max: v.optional(count),
          key: v.optional(func),
          trustedHeader: v.optional(headerName),
          shared: v.optional(v.boolean()),
        }),
      ],
      'must be true, false or an object of options',
    ),
  ),
  fileUpload: v.optional(
    v.union(
      [
        v.boolean(),
        v.strictObject({
          maxFileSize: v.optional(count),
          maxFiles: v.optional(count),
          allowedMimeTypes: v.optional(mediaTypes),
          maxRequestSize: v.optional(count),
          timeoutMs: v.optional(duration),
          maxConcurrent: v.optional(count),
          maxTotalSize: v.optional(count),
        }),
      ],
      'must be true, false or an object of options',
    ),
  ),
  toolkits: v.optional(v.array(v.unknown(), 'must be an array')),
  toolLibrary: v.optional(record),
  logger: v.optional(v.union([v.literal(false), func], 'must be a function or false')),
  providers: v.optional(
    v.pipe(record, v.record(v.string(), v.strictObject({ header: headerName, matches: strings }))),
  ),
  runs: v.optional(
    v.strictObject({
      timeoutMs: v.optional(duration),
      maxEvents: v.optional(count),
      maxLength: v.optional(count),
      disconnect: v.optional(
        v.union(
          [v.picklist(['cancel', 'continue']), v.strictObject({ graceMs: duration })],
          "must be 'cancel', 'continue' or { graceMs }",
        ),
      ),
      store: v.optional(v.literal('none', "must be 'none' or left out")),
      listAnonymous: v.optional(flag),
      retentionMs: v.optional(count),
      maxSessions: v.optional(count),
      maxSessionMessages: v.optional(count),
      maxSessionLength: v.optional(count),
      sessionRetentionMs: v.optional(count),
      maxBytes: v.optional(count),
      maxFollowers: v.optional(count),
      maxRunning: v.optional(count),
      maxRunningPerOwner: v.optional(count),
    }),
  ),
  state: v.optional(state),
  a2a: v.optional(v.union([v.literal(true), a2a], 'must be true or an object of options')),
  gateway: v.optional(v.union([v.literal(true), gateway], 'must be true or an object of options')),
  admin: v.optional(AdminSchema),
  metricsExporter: v.optional(
    v.custom<MetricsExporter>(value => isFunction(Object(value).attach), 'must be a MetricsExporter'),
  ),
  pricing: v.optional(
    v.pipe(
      record,
      v.record(
        v.string(),
        v.custom<ModelPrice>(isPrice, 'must be { prompt, completion } in USD for a million tokens'),
      ),
    ),
  ),
  publicUrl: v.optional(
    v.pipe(v.string(), v.check(isOrigin, 'must be an origin such as https://agents.example.com')),
  ),
})

/** What is off, on with its defaults, or told how. */
function given<O extends object, S>(option: boolean | O | undefined, resolve: (how: O) => S): S | undefined {
  if (option === undefined || option === false) return undefined
  // Every member of such options is optional.
  return resolve(option === true ? ({} as O) : option)
}

/** Checks the options and fills in defaults. Throws `invalid_options` that names every wrong member. */
export function resolveOptions(options: HandlerOptions): Settings {
  validate(OptionsSchema, options, 'invalid_options', 'options')
  if (options.cors !== undefined) checkCors(options.cors, 'cors')
  checkRuns(options.runs)
  const gateway = given(options.gateway, resolveGateway)
  if (gateway !== undefined) checkGateway(gateway, options)
  const registry = options.registry === false ? undefined : (options.registry ?? defaultRegistry())
  const production = options.production ?? isProduction()
  const providers = { ...DEFAULT_PROVIDERS, ...options.providers }
  const security = resolveSecurity(options, { middleware: options.middleware ?? [], providers })
  return {
    ...withDefaults(PLAIN_DEFAULTS, options),
    registry,
    fallback: options.fallback,
    production,
    admin: given(options.admin, admin => resolveAdmin(admin, { production, registry })),
    limits: withDefaults({ maxBodyBytes: 1024 * 1024 }, options.limits),
    log: options.logger === false ? () => {} : guarded(options.logger ?? consoleLog),
    providers,
    security,
    runs: withDefaults(RUN_DEFAULTS, options.runs),
    state: options.state ?? memoryState(),
    a2a: given(options.a2a, a2a => resolveA2A(a2a, security)),
    gateway,
    metricsExporter: options.metricsExporter,
    pricing: options.pricing,
    swagger: options.swagger?.enabled ? resolveSwagger(options.swagger) : undefined,
    rateLimit: given(options.rateLimit, resolveRateLimit),
    trustProxy: options.trustProxy,
    logsRequests: isFunction(options.logger),
    fileUpload: given(options.fileUpload, resolveUpload),
    publicUrl: options.publicUrl,
  }
}

type Plain =
  | 'agents'
  | 'teams'
  | 'workflows'
  | 'serve'
  | 'prefix'
  | 'middleware'
  | 'cors'
  | 'toolkits'
  | 'toolLibrary'

const PLAIN_DEFAULTS: Pick<Settings, Plain> = {
  agents: {},
  teams: {},
  workflows: {},
  serve: [],
  prefix: '/api',
  middleware: [],
  cors: false,
  toolkits: [],
  toolLibrary: {},
}

const RUN_DEFAULTS: Settings['runs'] = {
  timeoutMs: 600_000,
  maxEvents: 1_000_000,
  maxLength: 32 * 1024 * 1024,
  disconnect: 'cancel',
  listAnonymous: false,
  retentionMs: 24 * 60 * 60 * 1000,
  maxSessions: 1000,
  maxSessionMessages: 200,
  maxSessionLength: 65_536,
  sessionRetentionMs: 7 * 24 * 60 * 60 * 1000,
  maxBytes: 16 * 1024 * 1024,
  maxFollowers: 100,
  maxRunning: 1000,
  maxRunningPerOwner: 100,
}

/** Browsers refuse credentials together with any origin (WHATWG Fetch, section 3.2.3), so it can only be a mistake. */
function checkCors(setting: CorsSetting, name: string): void {
  if (typeof setting !== 'object' || !('origins' in setting)) return
  if (setting.origins !== '*' || setting.credentials !== true) return
  throw new ServableError(
    'invalid_options',
    `\`${name}.credentials\` needs \`${name}.origins\` to name the origins, not '*'`,
  )
}

/** A log that fails must not make a request fail. */
function guarded(log: Log): Log {
  return entry => {
    try {
      log(entry)
    } catch {
      // There is nowhere left to say so.
    }
  }
}

function checkRuns({ store, disconnect = 'cancel' }: RunsOptions = {}): void {
  if (store !== 'none' || disconnect === 'cancel') return
  throw new ServableError(
    'invalid_options',
    "`runs.disconnect` must be 'cancel' where `runs.store` is 'none'",
  )
}

function checkGateway(
  { origins, recoveryMs, server, authenticate }: GatewaySettings,
  { runs: { store } = {}, middleware = [] }: HandlerOptions,
): void {
  if (server !== undefined && authenticate === undefined && middleware.length > 0) {
    throw new ServableError(
      'invalid_options',
      '`gateway.server` does not pass through `middleware`: give `gateway.authenticate` as well',
    )
  }
  if (origins !== undefined) checkCors(origins, 'gateway.origins')
  if (recoveryMs === undefined || store !== 'none') return
  throw new ServableError(
    'invalid_options',
    "`gateway.recovery` reads what clients missed from stored runs: `runs.store` must not be 'none'",
  )
}

const consoleLog: Log = entry => {
  if (entry.level === 'error') console.error(JSON.stringify(entry))
  else if (entry.level === 'warn') console.warn(JSON.stringify(entry))
}
