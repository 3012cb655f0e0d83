/**
 * The options of the core: checked at construction, defaults filled in once.
 *
 * @module
 */

import * as v from 'valibot'
import type {
  Servable,
  ServableAgent,
  ServableLike,
  ServableTeam,
  ServableWorkflow,
} from '../agents/contract.ts'
import { defaultRegistry, type Registry } from '../agents/registry.ts'
import { withDefaults } from '../defaults.ts'
import { isProduction } from '../environment.ts'
import { ServableError } from '../errors.ts'
import type { Middleware } from '../http/context.ts'
import { logThrown } from '../http/failure-log.ts'
import { DEFAULT_PROVIDERS, type Providers } from '../http/key-headers.ts'
import type { Log } from '../http/log.ts'
import type { DisconnectPolicy } from '../runs/host.ts'
import type { LocalState } from '../runs/local-state.ts'
import type { Observer } from '../runs/observer.ts'
import { type RetentionMs, type RetentionOf, retentionBy } from '../runs/retention-of.ts'
import type { SessionsOptions } from '../runs/session-options.ts'
import {
  count,
  duration,
  flag,
  func,
  isFunction,
  isOrigin,
  path,
  record,
  registry,
  strings,
} from '../schemas.ts'
import { headerName, validate } from '../validation.ts'
import type { HostedState } from './hosted.ts'
import { type NoState, noState } from './no-state.ts'
import type { Plugin } from './plugin.ts'

/** What a handler serves and how. Every member is optional. An unknown or wrong member is a start-up error that names it. */
export interface CoreOptions {
  /** Agents by the name under which they are served. They win over registered ones of the same name. */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  /** Teams by name. */
  readonly teams?: Readonly<Record<string, ServableLike<ServableTeam>>>
  /** Workflows by name. */
  readonly workflows?: Readonly<Record<string, ServableLike<ServableWorkflow>>>
  /**
   * Agents, teams and workflows in one list, sorted by their `kind`. For agents of other frameworks use `toAgent` of
   * `servable/adapters`.
   */
  readonly serve?: readonly Servable[]
  /**
   * Where the handler looks up names that are not given explicitly, on every request. `false` serves the explicit entries only
   * and turns the lists off. Default: the default registry, which first-party agents join when they are made.
   */
  readonly registry?: Registry | false
  /** The path of all routes but those of A2A and the socket. Default: `/api`. */
  readonly prefix?: string
  /** Wraps every request of every part; the first is the outermost. Put authentication here. */
  readonly middleware?: readonly Middleware[]
  /** Answers requests that match no route, instead of a 404. Middleware does not apply to it. */
  readonly fallback?: (request: Request) => Response | Promise<Response>
  /** Masks the text of server errors. Default: on, unless `NODE_ENV` is `development` or `test`. */
  readonly production?: boolean
  /** Bounds on requests. */
  readonly limits?: LimitOptions
  /**
   * Receives log entries, one for each request among them. `false` turns logging off. Default: warnings, errors and entries with a
   * `channel` as JSON lines on the console. In development, servers write lines for people instead: `prettyLog()`.
   */
  readonly logger?: Log | false
  /** Headers of model providers' keys, in addition to the three of the default table. */
  readonly providers?: Providers
  /** How runs are bounded and stored. */
  readonly runs?: RunsOptions
  /** How the turns of sessions are kept, and what a run does whose session another run has. */
  readonly sessions?: SessionsOptions
  /**
   * Where runs, tasks, sessions and the data of plugins are stored. `createHandler` of `servable/core` has no default: without a
   * state all runs are plain runs, nothing is remembered, and a plugin that needs one says what to give. Default: `memoryState()`.
   */
  readonly state?: State
  /**
   * The origin under which clients reach the service, without a path: `https://agents.example.com`. Pages of this origin count
   * as the service's own, also behind a proxy that changes `Host`. Default: the request's.
   */
  readonly publicUrl?: string
  /** Plugins of the handler. Each has a name of its own. Two routes with one method and path are an error. */
  readonly plugins?: readonly Plugin[]
}

/** Where a deployment keeps what it has to keep. */
export type State = LocalState | HostedState

/** Bounds on requests. */
export interface LimitOptions {
  /**
   * Most bytes of a JSON body. A larger body is answered 413. A body of any size may be nested at most 200 deep, and have at
   * most 500,000 values and 1,000 parts in a message. Default: 1,048,576.
   */
  readonly maxBodyBytes?: number
}

/** How runs are bounded and stored. */
export interface RunsOptions {
  /** Milliseconds that a run may take. After that it fails with `run_timeout`. Default: 600,000. */
  readonly timeoutMs?: number
  /** Most events of one run. A run with more fails with `run_too_large`. Default: 1,000,000. */
  readonly maxEvents?: number
  /**
   * Most characters of text, tool calls and artifacts in a JSON answer. A run with more fails with `run_too_large`. Default:
   * 33,554,432.
   */
  readonly maxLength?: number
  /**
   * What happens to a stored run when its last client leaves. `cancel` cancels it. `continue` lets it go on. `{ graceMs }`
   * cancels it unless a client comes back within so many milliseconds. With anything but `cancel` every run is a stored run. A
   * background run always goes on. Default: `cancel`.
   */
  readonly disconnect?: DisconnectPolicy
  /**
   * What happens to system messages in the `history` of a client. `ignore` drops them, so that no client instructs your agents.
   * `append` passes them on. Default: `ignore`.
   */
  readonly clientSystem?: 'ignore' | 'append'
  /**
   * `none` refuses stored runs, so that no run leaves anything behind. `all` stores every run that is asked for over HTTP, a socket or
   * a plugin, where it can be stored, so that lists have them all. It also lists each turn of an A2A task, once the turn has ended.
   * Default: a run is stored if its client asks for that.
   */
  readonly store?: 'none' | 'all'
  /** Lets everyone list the runs that have no owner at `GET /runs`. When false, a list needs an identity. Default: false. */
  readonly listAnonymous?: boolean
  /**
   * Keeps the input of every stored run with its record, so that `POST /runs/:id/retry` runs it again and
   * `GET /runs/:id?include=input` shows it. Default: false.
   */
  readonly keepInput?: boolean
  /**
   * Writes into the record of every stored run how it was asked for and, when it ends, its duration, its first text, its tokens, their
   * cost, its tool calls and its model. Default: false.
   */
  readonly measure?: boolean
  /**
   * Milliseconds for which an ended run and its idempotency key are kept, or a function of its kind, name and owner. It is called
   * when the run ends. If it throws, or gives no number of 0 or more, the log is told and the default holds. Default: 86,400,000, a
   * day.
   */
  readonly retentionMs?: RetentionMs
  /**
   * Milliseconds for which a run that waits for answers is kept, if that is longer than `retentionMs`. Default: 604,800,000, a
   * week.
   */
  readonly waitingMs?: number
  /**
   * Most sessions that are kept for one owner. Past it the least recently used session is deleted. An owner is an identity, a
   * claimed `userId`, or all clients with neither. On Workers sessions are not counted, since each is kept by itself. Default:
   * 1,000.
   */
  readonly maxSessions?: number
  /**
   * Most messages of a session that a model is told. Past it the oldest turns are left out. Default: 200.
   */
  readonly maxSessionMessages?: number
  /**
   * Most characters of a session that a model is told, as JSON. Past it the oldest turns are left out. Default: 65,536.
   */
  readonly maxSessionLength?: number
  /**
   * Milliseconds for which a session is kept after its last run, or a function as for `retentionMs`. It is called each time that the
   * session is written. Default: 604,800,000, a week.
   */
  readonly sessionRetentionMs?: RetentionMs
  /** Most bytes of a stored run's events. A run with more fails with `run_too_large`. Default: 16,777,216. */
  readonly maxBytes?: number
  /** Most clients that follow one run at a time. One more is answered 429. Default: 100. */
  readonly maxFollowers?: number
  /** Most stored runs at work at a time. One more is answered 429. Default: 1,000. */
  readonly maxRunning?: number
  /**
   * Most stored runs of one client at work at a time. A client is an identity, else an address (of IPv6 its network of 64
   * bits), else all clients of whom neither is known. Default: 100.
   */
  readonly maxRunningPerOwner?: number
  /** Most plain runs of one client that wait for answers. One more fails with `too_many_runs`. Default: 100. */
  readonly maxWaitingPerOwner?: number
}

/** The options with every default in place. */
export interface CoreSettings
  extends Required<
    Omit<
      CoreOptions,
      'state' | 'registry' | 'fallback' | 'limits' | 'logger' | 'runs' | 'sessions' | 'publicUrl'
    >
  > {
  readonly state: State | NoState
  readonly logSeat: LogSeat
  readonly publicUrl: string | undefined
  readonly registry: Registry | undefined
  readonly fallback: CoreOptions['fallback']
  readonly limits: Required<LimitOptions>
  readonly log: Log
  readonly runs: RunSettings
  readonly sessions: Required<Omit<SessionsOptions, 'compact'>> & Pick<SessionsOptions, 'compact'>
}

type Numbers = 'retentionMs' | 'sessionRetentionMs'

/** How runs are bounded and stored; where functions say how long something is kept, the numbers are the defaults. */
interface RunSettings
  extends Required<Omit<RunsOptions, 'store' | Numbers>>,
    Pick<RunsOptions, 'store'>,
    Readonly<Record<Numbers, number>> {
  readonly retentionOf?: RetentionOf
  readonly sessionRetentionOf?: RetentionOf
}

const retention = v.union([count, func], 'must be a number of milliseconds or a function')

const state = v.custom<State>(
  value => Object(value).kind === 'local' || Object(value).kind === 'hosted',
  'must be memoryState(), sqliteState() or durableState()',
)

const plugin = v.custom<Plugin>(
  value => typeof value === 'object' && isPlugin(Object(value)),
  'must be a plugin, such as `a2a()`',
)

function isPlugin({ name, mount }: Readonly<Record<string, unknown>>): boolean {
  return typeof name === 'string' && /^[a-z][a-z\d-]*$/i.test(name) && mayBe(mount, isFunction)
}

function mayBe(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value)
}

const OptionsSchema = v.strictObject({
  agents: v.optional(record),
  teams: v.optional(record),
  workflows: v.optional(record),
  serve: v.optional(v.array(v.unknown(), 'must be an array')),
  registry: v.optional(v.union([v.literal(false), registry], 'must be a Registry or false')),
  prefix: v.optional(path),
  middleware: v.optional(v.array(func, 'must be an array of functions')),
  fallback: v.optional(func),
  production: v.optional(flag),
  limits: v.optional(v.strictObject({ maxBodyBytes: v.optional(count) })),
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
      clientSystem: v.optional(v.picklist(['ignore', 'append'], "must be 'ignore' or 'append'")),
      store: v.optional(v.picklist(['none', 'all'], "must be 'none', 'all' or left out")),
      listAnonymous: v.optional(flag),
      keepInput: v.optional(flag),
      measure: v.optional(flag),
      retentionMs: v.optional(retention),
      waitingMs: v.optional(count),
      maxSessions: v.optional(count),
      maxSessionMessages: v.optional(count),
      maxSessionLength: v.optional(count),
      sessionRetentionMs: v.optional(retention),
      maxBytes: v.optional(count),
      maxFollowers: v.optional(count),
      maxRunning: v.optional(count),
      maxRunningPerOwner: v.optional(count),
      maxWaitingPerOwner: v.optional(count),
    }),
  ),
  sessions: v.optional(
    v.strictObject({
      concurrency: v.optional(
        v.picklist(['queue', 'reject', 'interrupt'], "must be 'queue', 'reject' or 'interrupt'"),
      ),
      compact: v.optional(func),
      maxTurns: v.optional(count),
      maxLength: v.optional(count),
    }),
  ),
  state: v.optional(state),
  publicUrl: v.optional(
    v.pipe(v.string(), v.check(isOrigin, 'must be an origin such as https://agents.example.com')),
  ),
  plugins: v.optional(v.array(plugin, 'must be an array of plugins')),
})

/** Throws `invalid_options` that names every wrong member. */
export function checkCoreOptions(options: CoreOptions): void {
  validate(OptionsSchema, options, 'invalid_options', 'options')
  checkRuns(options.runs)
}

/** Checks the options and fills in defaults. Throws `invalid_options` that names every wrong member. */
export function resolveCoreOptions(options: CoreOptions): CoreSettings {
  checkCoreOptions(options)
  checkNames(options.plugins ?? [])
  const production = options.production ?? isProduction()
  const { logger = consoleLog } = options
  const logSeat: LogSeat = {
    log: logger || (() => {}),
    tellsRequests: isFunction(options.logger),
    isFree: !production && logger === consoleLog,
  }
  const log = guarded(logSeat)
  const settings = withDefaults(PLAIN_DEFAULTS, options)
  return {
    ...settings,
    // No plugin of a deployment can have this name.
    ...(logSeat.isFree && {
      plugins: [...settings.plugins, { name: '~log', observer: { start: run => logSeat.start?.(run) } }],
    }),
    logSeat,
    registry: options.registry === false ? undefined : (options.registry ?? defaultRegistry()),
    fallback: options.fallback,
    production,
    limits: withDefaults({ maxBodyBytes: 1024 * 1024 }, options.limits),
    log,
    providers: { ...DEFAULT_PROVIDERS, ...options.providers },
    runs: runSettingsOf(options.runs, log),
    sessions: withDefaults(SESSION_DEFAULTS, options.sessions),
    state: options.state ?? noState(),
    publicUrl: options.publicUrl,
  }
}

type Plain = 'agents' | 'teams' | 'workflows' | 'serve' | 'prefix' | 'middleware' | 'plugins'

const PLAIN_DEFAULTS: Pick<CoreSettings, Plain> = {
  agents: {},
  teams: {},
  workflows: {},
  serve: [],
  prefix: '/api',
  middleware: [],
  plugins: [],
}

const RUN_DEFAULTS: Omit<RunSettings, 'store'> = {
  timeoutMs: 600_000,
  maxEvents: 1_000_000,
  maxLength: 32 * 1024 * 1024,
  disconnect: 'cancel',
  clientSystem: 'ignore',
  listAnonymous: false,
  keepInput: false,
  measure: false,
  retentionMs: 24 * 60 * 60 * 1000,
  waitingMs: 7 * 24 * 60 * 60 * 1000,
  maxSessions: 1000,
  maxSessionMessages: 200,
  maxSessionLength: 65_536,
  sessionRetentionMs: 7 * 24 * 60 * 60 * 1000,
  maxBytes: 16 * 1024 * 1024,
  maxFollowers: 100,
  maxRunning: 1000,
  maxRunningPerOwner: 100,
  maxWaitingPerOwner: 100,
}

function runSettingsOf(
  { retentionMs, sessionRetentionMs, ...rest }: RunsOptions = {},
  log: Log,
): RunSettings {
  const by = (name: Numbers, given: RetentionOf) =>
    retentionBy(given, RUN_DEFAULTS[name], error =>
      logThrown(log, { event: 'retention.failed', option: `runs.${name}` }, error),
    )
  return {
    ...withDefaults<RunSettings>(RUN_DEFAULTS, rest),
    ...(typeof retentionMs === 'number' && { retentionMs }),
    ...(typeof retentionMs === 'function' && { retentionOf: by('retentionMs', retentionMs) }),
    ...(typeof sessionRetentionMs === 'number' && { sessionRetentionMs }),
    ...(typeof sessionRetentionMs === 'function' && {
      sessionRetentionOf: by('sessionRetentionMs', sessionRetentionMs),
    }),
  }
}

const SESSION_DEFAULTS: CoreSettings['sessions'] = {
  concurrency: 'queue',
  maxTurns: 1000,
  maxLength: 1024 * 1024,
}

/** A log that fails must not make a request fail. */
function guarded(seat: LogSeat): Log {
  return entry => {
    try {
      seat.log(entry)
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

function checkNames(plugins: readonly Plugin[]): void {
  const names = plugins.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw new ServableError('invalid_options', `\`plugins\`: there are two plugins named \`${twice}\``)
}

const consoleLog: Log = entry => {
  if (entry.level === 'error') console.error(JSON.stringify(entry))
  else if (entry.level === 'warn') console.warn(JSON.stringify(entry))
  else if (entry.channel !== undefined) console.log(JSON.stringify(entry))
}

/** Who writes the log. In development whoever serves the handler may do that in place of the console. */
export interface LogSeat {
  log: Log
  /** Whether each request is told to the log. */
  tellsRequests: boolean
  /** Is told of every run. */
  start?: Observer['start']
  /** Nobody has given a log, and this is development. */
  readonly isFree: boolean
}
