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
import { DEFAULT_PROVIDERS, type Providers } from '../http/key-headers.ts'
import type { Log } from '../http/log.ts'
import type { DisconnectPolicy } from '../runs/host.ts'
import type { LocalState } from '../runs/local-state.ts'
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

/** What a handler serves and how. Every member is optional; an unknown or wrong one is a start-up error that names it. */
export interface CoreOptions {
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
  /** Bounds on requests. */
  readonly limits?: LimitOptions
  /**
   * Takes log entries, one for each request among them; `false` for none. Default: warnings and errors as JSON lines on the
   * console.
   */
  readonly logger?: Log | false
  /** Headers of model providers' keys, beside the three of the default table. */
  readonly providers?: Providers
  /** How runs are bounded and stored. */
  readonly runs?: RunsOptions
  /**
   * Where runs, tasks, sessions and what plugins keep are stored. Without one runs are plain ones, nothing is remembered, and
   * plugins that keep something say what to give. `createHandler` of `servable` has `memoryState()` by default.
   */
  readonly state?: State
  /**
   * The address under which clients reach the service, without a path: `https://agents.example.com`. Its pages are the own ones,
   * also behind a proxy that changes `Host`. Default: the request's.
   */
  readonly publicUrl?: string
  /** What is added to the handler. Each has a name of its own; of two routes of one method and path both are refused. */
  readonly plugins?: readonly Plugin[]
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
export interface CoreSettings
  extends Required<
    Omit<CoreOptions, 'state' | 'registry' | 'fallback' | 'limits' | 'logger' | 'runs' | 'publicUrl'>
  > {
  readonly state: State | NoState
  readonly logsRequests: boolean
  readonly publicUrl: string | undefined
  readonly registry: Registry | undefined
  readonly fallback: CoreOptions['fallback']
  readonly limits: Required<LimitOptions>
  readonly log: Log
  readonly runs: Required<Omit<RunsOptions, 'store'>> & Pick<RunsOptions, 'store'>
}

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
  return {
    ...withDefaults(PLAIN_DEFAULTS, options),
    registry: options.registry === false ? undefined : (options.registry ?? defaultRegistry()),
    fallback: options.fallback,
    production: options.production ?? isProduction(),
    limits: withDefaults({ maxBodyBytes: 1024 * 1024 }, options.limits),
    log: options.logger === false ? () => {} : guarded(options.logger ?? consoleLog),
    logsRequests: isFunction(options.logger),
    providers: { ...DEFAULT_PROVIDERS, ...options.providers },
    runs: withDefaults(RUN_DEFAULTS, options.runs),
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

const RUN_DEFAULTS: CoreSettings['runs'] = {
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

function checkNames(plugins: readonly Plugin[]): void {
  const names = plugins.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw new ServableError('invalid_options', `\`plugins\`: there are two plugins named \`${twice}\``)
}

const consoleLog: Log = entry => {
  if (entry.level === 'error') console.error(JSON.stringify(entry))
  else if (entry.level === 'warn') console.warn(JSON.stringify(entry))
}
