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
import { withDefaults } from '../base/defaults.ts'
import { isProduction } from '../base/environment.ts'
import { ServableError } from '../base/errors.ts'
import { count, flag, func, isFunction, isOrigin, path, record, registry, strings } from '../base/schemas.ts'
import { headerName, validate } from '../base/validation.ts'
import type { Middleware } from '../http/context.ts'
import type { Log } from '../http/log.ts'
import type { Roles } from '../http/security/acting.ts'
import { DEFAULT_PROVIDERS, type Providers } from '../http/security/key-headers.ts'
import type { Observer } from '../runs/observer.ts'
import type { SessionsOptions } from '../runs/sessions/session-options.ts'
import { isHost } from '../web/host.ts'
import type { HostedState } from './hosted.ts'
import type { LocalState } from './local-state.ts'
import { type NoState, noState } from './no-state.ts'
import type { Plugin } from './plugin.ts'
import {
  checkProduction,
  checkRuns,
  type ResolvedRunsOptions,
  type RunsOptions,
  RunsSchema,
  runSettingsOf,
} from './run-options.ts'
import type { ResolvedSessionsOptions } from './session-parts.ts'

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
  /** Limits of requests. */
  readonly limits?: LimitOptions
  /**
   * Receives log entries, one for each request among them. `false` turns logging off. Default: warnings, errors and entries with a
   * `channel` as JSON lines on the console. In development, servers write lines for people instead: `prettyLog()`.
   */
  readonly logger?: Log | false
  /** Headers of model providers' keys, in addition to the three of the default table. */
  readonly providers?: Providers
  /** How runs are limited and stored. */
  readonly runs?: RunsOptions
  /** How the turns of sessions are stored, and what happens to a run whose session is busy. */
  readonly sessions?: SessionsOptions
  /**
   * Where runs, tasks, sessions and the data of plugins are stored. `createHandler` of `servable/core` has no default: without a
   * state all runs are plain runs, nothing is remembered, and a plugin that needs a state throws an error with advice. Default:
   * `memoryState()`.
   */
  readonly state?: State
  /**
   * The origin under which clients reach the service, without a path: `https://agents.example.com`. Pages of this origin count
   * as the service's own, also behind a proxy that changes `Host`. Default: the request's.
   */
  readonly publicUrl?: string
  /**
   * Additional hosts under which requests on this machine may reach the service, with a port or without: `['tunnel.example']`.
   * Loopback names, addresses and the host of `publicUrl` are always allowed. Any other host is answered 403, since a page may
   * have its own name resolved to this machine (DNS rebinding). In production, hosts are checked only without `middleware`, which
   * means without authentication. Default: none.
   */
  readonly allowedHosts?: readonly string[]
  /** Plugins of the handler. Each has a name of its own. Two routes with one method and path are an error. */
  readonly plugins?: readonly Plugin[]
}

/** Where a deployment stores its data. */
export type State = LocalState | HostedState

/** Limits of requests. */
export interface LimitOptions {
  /**
   * Most bytes of a JSON body. A larger body is answered 413. A body of any size may be nested at most 200 deep, and have at
   * most 500,000 values and 1,000 parts in a message. Default: 1,048,576.
   */
  readonly maxBodyBytes?: number
}

/** The options with their defaults. */
export interface CoreSettings
  extends Required<
    Omit<
      CoreOptions,
      'state' | 'registry' | 'fallback' | 'limits' | 'logger' | 'runs' | 'sessions' | 'publicUrl'
    >
  > {
  readonly state: State | NoState
  /** Who may do what with the things of others. Undefined: nobody may do anything. */
  readonly roles: Roles | undefined
  readonly logBinding: LogBinding
  readonly publicUrl: string | undefined
  readonly registry: Registry | undefined
  readonly fallback: CoreOptions['fallback']
  readonly limits: Required<LimitOptions>
  readonly log: Log
  readonly runs: ResolvedRunsOptions
  readonly sessions: ResolvedSessionsOptions
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
  runs: v.optional(RunsSchema),
  sessions: v.optional(
    v.strictObject({
      concurrency: v.optional(
        v.picklist(
          ['queue', 'reject', 'interrupt', 'steer'],
          "must be 'queue', 'reject', 'interrupt' or 'steer'",
        ),
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
  allowedHosts: v.optional(
    v.pipe(
      strings,
      v.check(hosts => hosts.every(isHost), 'must be hosts such as agents.example.com'),
    ),
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
  checkProduction(options.runs, production)
  const logBinding = logBindingOf(options.logger, production)
  const log = guarded(logBinding)
  const settings = withDefaults(PLAIN_DEFAULTS, options)
  return {
    ...settings,
    // The name that no plugin of a deployment can have.
    ...(logBinding.isFree && {
      plugins: [...settings.plugins, { name: '~log', observer: { start: run => logBinding.start?.(run) } }],
    }),
    logBinding,
    roles: (settings.plugins as RolesPlugin[])
      .find(({ roles }) => roles)
      ?.roles?.({ log, prefix: settings.prefix }),
    registry: options.registry === false ? undefined : (options.registry ?? defaultRegistry()),
    fallback: options.fallback,
    production,
    limits: withDefaults({ maxBodyBytes: 1024 * 1024 }, options.limits),
    log,
    providers: { ...DEFAULT_PROVIDERS, ...options.providers },
    runs: runSettingsOf(options.runs, log, options.state?.kind === 'local'),
    sessions: withDefaults(SESSION_DEFAULTS, options.sessions),
    state: options.state ?? noState(),
    publicUrl: options.publicUrl,
    allowedHosts: hostsOf(options),
  }
}

/** A plugin that may be `roles()`. */
type RolesPlugin = Plugin & { readonly roles?: (parts: Pick<CoreSettings, 'log' | 'prefix'>) => Roles }

/** The allowed hosts in one notation. */
function hostsOf({ allowedHosts = [], publicUrl = 'null' }: CoreOptions): readonly string[] {
  const own = publicUrl === 'null' ? [] : [new URL(publicUrl).host]
  return [...allowedHosts.map(host => host.toLowerCase()), ...own]
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

const SESSION_DEFAULTS: CoreSettings['sessions'] = {
  concurrency: 'queue',
  maxTurns: 1000,
  maxLength: 1024 * 1024,
}

function checkNames(plugins: readonly Plugin[]): void {
  const names = plugins.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw new ServableError('invalid_options', `\`plugins\`: there are two plugins named \`${twice}\``)
}

/** Writes the log. In development, the server that serves the handler may replace it. */
interface LogBinding {
  log: Log
  /** Whether every request is logged. */
  logsRequests: boolean
  /** Observes every run. */
  start?: Observer['start']
  /** Whether the options have no logger and this is development. */
  readonly isFree: boolean
}

const consoleLog: Log = entry => {
  if (entry.level === 'error') console.error(JSON.stringify(entry))
  else if (entry.level === 'warn') console.warn(JSON.stringify(entry))
  else if (entry.channel !== undefined) console.log(JSON.stringify(entry))
}

/** The binding for an option `logger`. `false` turns logging off. */
function logBindingOf(logger: Log | false = consoleLog, production: boolean): LogBinding {
  return {
    log: logger || (() => {}),
    logsRequests: logger !== consoleLog && isFunction(logger),
    isFree: !production && logger === consoleLog,
  }
}

/** A log that ignores its own errors, so that no request fails. */
function guarded(binding: LogBinding): Log {
  return entry => {
    try {
      binding.log(entry)
    } catch {
      // There is no other place to report the error.
    }
  }
}
