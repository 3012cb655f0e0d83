/**
 * The interface of the plugins of this package, beyond the public one. It may change at any time.
 *
 * @module
 */

import type { MemoryStorage, SessionKey } from '../agents/memory.ts'
import type { Kind } from '../agents/run-types.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Middleware, RequestState, Route } from '../http/context.ts'
import type { UploadReader } from '../http/limits/upload.ts'
import type { AnswerRun, RunAgain } from '../http/runs/go-on.ts'
import type { StartParts, StartRun } from '../http/runs/start-run.ts'
import type { Roles } from '../http/security/acting.ts'
import type { KeyReader } from '../http/security/key-headers.ts'
import type { Identify } from '../http/security/local.ts'
import type { Admit } from '../runs/admit.ts'
import type { Brake } from '../runs/brake.ts'
import type { FileStorage } from '../runs/files.ts'
import type { InputFilter } from '../runs/input-filter.ts'
import type { Life } from '../runs/life.ts'
import type { RunNotices } from '../runs/notices.ts'
import type { CostOf } from '../runs/numbers.ts'
import type { Observer } from '../runs/observer.ts'
import type { Permit } from '../runs/permit.ts'
import type { RunMiddleware } from '../runs/run-middleware.ts'
import type { SessionPage, SessionQuery, SessionSummary } from '../runs/sessions/summary.ts'
import type { HostSettings, RunHost } from '../runs/stored/host.ts'
import type { WorkingRuns } from '../runs/stored/working.ts'
import type { Approvals } from '../runs/waiting/approvals.ts'
import type { Cors } from '../web/cors.ts'
import type { AddressReader } from '../web/ip-address.ts'
import type { ObjectClassName, ObjectServiceMaker, SocketObjectContext, SocketService } from './hosted.ts'
import type { CoreSettings } from './options.ts'
import type { Forgetting, Mounted, Plugin, PluginCore } from './plugin.ts'
import type { CallTransactions, Transactions } from './transaction-calls.ts'

/** The members of this package's plugins beyond `Plugin`. They are not part of the public interface, which is frozen. */
export interface BuiltIn extends Omit<Plugin, 'mount'> {
  /** Transactions over the store itself, by the name of their object service. */
  readonly transactions?: Readonly<Record<string, Transactions>>
  /** Parses forms with files. Only one plugin may have it. */
  readonly uploads?: (settings: CoreSettings) => UploadReader
  /**
   * Finds the client's address behind proxies. `onError` gets what its function throws; then no proxy is trusted. Only one plugin
   * may have it.
   */
  readonly addressOf?: (onError: (error: unknown) => void) => AddressReader
  /** Decides who may call across origins. Only one plugin may have it. */
  readonly cors?: (keyHeaders: readonly string[]) => Cors | undefined
  /** The plugin's own names. Its targets have the plugin's name as `scope`, so that a Durable Object can look them up again. */
  readonly catalog?: (served: Catalog) => Catalog
  /** Stores the files of stored runs. Only one plugin may have it. */
  readonly files?: (settings: CoreSettings, callTransactions: CallTransactions) => FileStorage
  /** Lets identities with roles act on the things of others. Only one plugin may have it. */
  readonly roles?: (settings: Pick<CoreSettings, 'log' | 'prefix'>) => Roles
  /** Lets others than the owner of a run decide approvals, and lets approvals expire. Only one plugin may have it. */
  readonly approvals?: (settings: CoreSettings, callTransactions: CallTransactions) => Approvals
  /** Wraps the host of stored runs. */
  readonly host?: (host: RunHost, parts: HostParts) => RunHost
  /** Decides who may run what. Only one plugin may have it. */
  readonly permit?: (settings: CoreSettings, callTransactions: CallTransactions) => Permit
  /** Notifies others of the ends of stored runs. Only one plugin may have it. */
  readonly notices?: (settings: CoreSettings, callTransactions: CallTransactions) => RunNotices
  /**
   * Returns the JSON Schema of a schema that does not offer one itself, or null if there is none. Only one plugin may have it.
   */
  readonly toJsonSchema?: (schema: unknown) => unknown
  /** Computes the cost of a run for its record. The last plugin that has it wins. */
  readonly costOf?: CostOf
  /** Wraps every run. The first plugin is the outermost. */
  readonly runMiddleware?: (settings: CoreSettings) => RunMiddleware
  /** Filters the input of clients before it is stored, in the order of the plugins. */
  readonly inputFilter?: (settings: CoreSettings) => InputFilter
  /** Called before every run. It may refuse the run. Only one plugin may have it. */
  readonly admit?: (core: CoreSettings, callTransactions: CallTransactions) => Admit
  /** Knows what starts no new runs. Only one plugin may have it. */
  readonly brake?: (settings: CoreSettings, callTransactions: CallTransactions, catalog: Catalog) => Brake
  /** Stores the memory of agents. */
  readonly memory?: (callTransactions: CallTransactions) => Partial<MemoryStorage>
  /** The observer inside a Durable Object, where waiting timers cost money. Default: `observer`. */
  readonly observerInObject?: Observer
  /** The plugin's services in Durable Objects, by the class of the object. Services for `transactions` are made from these. */
  readonly objectServices?: {
    readonly [Name in Exclude<ObjectClassName, 'gateway'>]?: ObjectServiceMaker<Core>
  }
  /** Serves the WebSockets of a Durable Object. Only one plugin may have it. */
  readonly sockets?: (context: SocketObjectContext, core: Core) => SocketService
  /** Whether its routes have an `authenticate` of their own. */
  readonly decidesItself?: boolean
  mount?(core: Core): BuiltInMounted
}

/** What `host` gets of the handler. */
export interface HostParts {
  readonly runs: HostSettings
  readonly settings: CoreSettings
  readonly callTransactions: CallTransactions
}

/** The result of `mount`, with the members of this package's plugins. */
export interface BuiltInMounted extends Omit<Mounted, 'routes'> {
  readonly routes?: readonly Route[]
  /** Who may call its routes across origins. Null for nobody. Absent: as for the handler. */
  readonly cors?: Cors | null
  /** Middleware outside all other middleware. */
  readonly outer?: Middleware
  /** Links in the index of the service, by name. */
  readonly links?: Readonly<Record<string, string>>
  /** Returns what the plugin stores for a run or task by a reference out of the log. For administrators. */
  findWork?(ref: string): Promise<readonly object[]>
  /** Some of the owners of a tenant of whom it stores something. It is asked again once they are deleted. */
  ownersOf?(tenant: string): Promise<readonly string[]>
  /** Deletes what it stores of some runs of a session, of which none is at work. The caller repeats the call if it throws. */
  forgetRuns?(what: SomeRuns): Promise<unknown>
  /** Lists and changes sessions. Only one plugin may have it. */
  readonly sessions?: SessionActs
  /** Called when the handler is complete and about to serve. Not called if only a document is made. */
  begin?(): void
  /** Called by a clock of the runtime, such as a cron trigger. The plugin does its due work. */
  ring?(): Promise<void>
  /** Why the plugin needs a server process. Without one the handler throws `invalid_options`. */
  readonly needsServer?: string | undefined
  /** How its limits treat clients with an unknown address. */
  readonly withoutAddress?: string
}

/** Some runs of a session, whose data is deleted. */
export interface SomeRuns extends Pick<Forgetting, 'owner' | 'session'> {
  readonly runIds: ReadonlySet<string>
}

/** What the plugin `sessions` does with sessions, for other plugins. */
export interface SessionActs {
  list(identity: string, query: SessionQuery): Promise<SessionPage>
  rename(key: SessionKey, title: string): Promise<SessionSummary>
  fork(
    key: SessionKey,
    identity: string | null,
    how: { readonly runId?: string; readonly title?: string },
  ): Promise<SessionSummary>
  /** Returns whether there was one. */
  forget(
    owner: string | null,
    session: { readonly kind: Kind; readonly name: string; readonly id: string },
    cancels: boolean,
  ): Promise<boolean>
  /** Deletes the turn of a run and all after it. */
  forgetBranch(
    owner: string | null,
    session: { readonly kind: Kind; readonly name: string; readonly id: string },
    runId: string,
  ): Promise<void>
}

/** Casts a plugin of this package to the public type. */
export function asPlugin(plugin: BuiltIn): Plugin {
  return plugin as unknown as Plugin
}

/** The parts of a handler that plugins of this package get. */
export interface Core extends Omit<PluginCore, 'calls' | 'readRun'> {
  readonly settings: CoreSettings
  readonly callTransactions: CallTransactions
  readonly readKeys: KeyReader
  /** Returns the catalog of a scope: that of the plugin with this name, or the handler's. */
  readonly catalogOf: (scope: string | undefined) => Catalog
  /** Settings of all stored runs. */
  readonly runs: HostSettings
  readonly host: RunHost
  readonly working: WorkingRuns
  readonly life: Life
  /** Counts an open stream until the returned function is called. Undefined if nobody observes this. */
  readonly openStream: (() => () => void) | undefined
  readonly cors: Cors | undefined
  /** Undefined if no proxy is trusted. */
  readonly addressOf: AddressReader | undefined
  readonly uploads: UploadReader | undefined
  /** Functions that return the number of open sockets, one for each socket server. */
  readonly sockets: Set<() => number>
  /** The plugins and what they mounted. Complete once the handler is made. */
  readonly mounted: readonly MountedPlugin[]
  /** Starts a run, for every transport. */
  readonly start: StartRun
  /** Answers the questions that runs wait for. */
  readonly answer: AnswerRun
  /** Resumes runs, and runs inputs again. */
  readonly again: RunAgain
  /** Returns why requests cannot have stored runs, or undefined if they can. */
  readonly whyUnstored: StartParts['whyUnstored']
  readonly storedStarts: StartParts['stored']
  /** A development server sets here who its visitors are, unless other machines reach a server of the handler. */
  readonly locals: { identify?: Identify | undefined; isExposed?: boolean }
  /** Throws `unsupported_operation` if requests share no state. */
  checkShared(whatNeeds: string): (request: RequestState) => void
  /** Logs once that a limit goes by the client's address while addresses are unknown. */
  readonly onNoAddress: () => void
}

/** A plugin with what it mounted. */
export interface MountedPlugin extends BuiltInMounted {
  readonly plugin: BuiltIn
  readonly name: string
}
