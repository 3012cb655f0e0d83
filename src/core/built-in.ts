/**
 * The interface of the plugins of this package, beyond the public one. It may change at any time.
 *
 * @module
 */

import type { MemoryStorage } from '../agents/memory.ts'
import type { Kind } from '../agents/run-types.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Middleware, RequestState, Route } from '../http/context.ts'
import type { UploadReader } from '../http/limits/upload.ts'
import type { AnswerRun, RunAgain } from '../http/runs/go-on.ts'
import type { StartParts, StartRun } from '../http/runs/start-run.ts'
import type { KeyReader } from '../http/security/key-headers.ts'
import type { Admit } from '../runs/admit.ts'
import type { FileStorage } from '../runs/files.ts'
import type { InputFilter } from '../runs/input-filter.ts'
import type { Life } from '../runs/life.ts'
import type { RunNotices } from '../runs/notices.ts'
import type { CostOf } from '../runs/numbers.ts'
import type { Observer } from '../runs/observer.ts'
import type { Permit } from '../runs/permit.ts'
import type { RunMiddleware } from '../runs/run-middleware.ts'
import type { HostSettings, RunHost } from '../runs/stored/host.ts'
import type { WorkingRuns } from '../runs/stored/working.ts'
import type { Approvals } from '../runs/waiting/approvals.ts'
import type { Cors } from '../web/cors.ts'
import type { AddressReader } from '../web/ip-address.ts'
import type { Builders, BuiltInDescription } from './builders.ts'
import type { ObjectClassName, ObjectServiceMaker, SocketSeat, SocketService } from './hosted.ts'
import type { CoreSettings } from './options.ts'
import type { Mounted, Plugin, PluginCore } from './plugin.ts'
import type { CallTransactions, Transactions } from './transaction-calls.ts'

/** What the plugins of this package may be beside that. It is no part of the interface: what is published here is frozen. */
export interface BuiltIn extends Omit<Plugin, 'mount'> {
  /** Transactions over the store itself, by the name of their keeper. */
  readonly transactions?: Readonly<Record<string, Transactions>>
  /** Reads forms with files. One plugin. */
  readonly uploads?: (settings: CoreSettings) => UploadReader
  /** Finds the client's address behind proxies. One plugin. `onError` is told what its function throws; then no proxy is trusted. */
  readonly addressOf?: (onError: (error: unknown) => void) => AddressReader
  /** Who may call across origins. One plugin. */
  readonly cors?: (keyHeaders: readonly string[]) => Cors | undefined
  /** Names of its own: its targets have the plugin's name as `scope`, so that an object finds them again. */
  readonly catalog?: (served: Catalog) => Catalog
  /** Stores the files of stored runs. One plugin. */
  readonly files?: (settings: CoreSettings, keep: CallTransactions) => FileStorage
  /** Lets others than the owner of a run decide, and approvals expire. One plugin. */
  readonly approvals?: (settings: CoreSettings, keep: CallTransactions) => Approvals
  /** Stands before the host of stored runs. */
  readonly host?: (host: RunHost, parts: HostParts) => RunHost
  /** Says who may run what. One plugin. */
  readonly permit?: (settings: CoreSettings, keep: CallTransactions) => Permit
  /** Tells others of the ends of stored runs. One plugin. */
  readonly notices?: (settings: CoreSettings, keep: CallTransactions) => RunNotices
  /** Gives the JSON Schema of schemas that offer none by themselves; null where there is none. One plugin. */
  readonly toJsonSchema?: (schema: unknown) => unknown
  /** What a run cost, for its record. The last plugin. */
  readonly costOf?: CostOf
  /** Is put around every run. The first plugin is the outermost. */
  readonly runMiddleware?: (settings: CoreSettings) => RunMiddleware
  /** Sees what clients say before any of it is kept, in the order of the plugins. */
  readonly inputFilter?: (settings: CoreSettings) => InputFilter
  /** Is asked before every run. One plugin. */
  readonly admit?: (core: CoreSettings, keep: CallTransactions) => Admit
  /** What agents remember. */
  readonly memory?: (keep: CallTransactions) => Partial<MemoryStorage>
  /** The observer in an object, which is paid for as long as something in it waits. Default: the same. */
  readonly observerInObject?: Observer
  /** Its halves in objects, by their class. Those of transactions are made of them. */
  readonly objectServices?: {
    readonly [Name in Exclude<ObjectClassName, 'gateway'>]?: ObjectServiceMaker<Core>
  }
  /** Answers in objects of sockets. One plugin. */
  readonly sockets?: (seat: SocketSeat, core: Core) => SocketService
  /** The routes of this part have an `authenticate` of their own. */
  readonly decidesItself?: boolean
  mount?(core: Core): BuiltInMounted
}

/** What a plugin that stands before the host of stored runs finds in the handler. */
export interface HostParts {
  readonly runs: HostSettings
  readonly settings: CoreSettings
  readonly callTransactions: CallTransactions
}

/** The same, mounted. */
export interface BuiltInMounted extends Omit<Mounted, 'routes' | 'base' | 'describe'> {
  readonly routes?: readonly Route[]
  /** With how errors of paths that are no routes are answered. */
  readonly base?: Mounted['base'] & Pick<Route, 'toError'>
  /** Who may call its routes across origins: null for nobody. Absent: as the handler's. */
  readonly cors?: Cors | null
  /** Around all other middleware. */
  readonly outer?: Middleware
  /** What the index of the service tells of, by name. */
  readonly links?: Readonly<Record<string, string>>
  /** What it keeps of a run or task that a reference out of the log may stand for: for an administrator. */
  findWork?(ref: string): Promise<readonly object[]>
  /** Deletes what it keeps of an owner or of a session, if anything. To be called again where it throws. */
  forget?(what: Forgetting): Promise<boolean>
  /** What it adds to the OpenAPI document. */
  describe?(build: Builders): BuiltInDescription
  /** The handler is complete and about to serve; not called where only a document is made. */
  begin?(): void
  /** A clock of the runtime rings: looks after what is due by itself. */
  ring?(): Promise<void>
  /** Why it can do nothing where no process of its own serves the handler: there it is `invalid_options`. */
  readonly needsServer?: string | undefined
  /** What becomes of its limits for clients whose address nobody knows. */
  readonly withoutAddress?: string
}

/** Whose traces are to go: all of an owner, or what is of one session. */
export interface Forgetting {
  /** The identity; null for a session that nobody owns. */
  readonly owner: string | null
  /**
   * No run of it is at work that began before this, and what begins now waits until it is gone: such a run is left alone, unless it
   * goes on with something from before.
   */
  readonly session?: { readonly kind: Kind; readonly name: string; readonly id: string }
  /** Cancels what is at work, or waits for a place. Without it that throws `session_busy`. */
  readonly cancels?: boolean
}

/** A plugin of this package, as it is given out. */
export function asPlugin(plugin: BuiltIn): Plugin {
  return plugin as unknown as Plugin
}

/** What a handler is made of: what plugins of this package find in it. */
export interface Core extends Omit<PluginCore, 'calls' | 'readRun' | 'startRun'> {
  readonly settings: CoreSettings
  readonly callTransactions: CallTransactions
  readonly readKeys: KeyReader
  /** The names that the targets of a scope are looked up in: a plugin's own, else all that is served. */
  readonly catalogOf: (scope: string | undefined) => Catalog
  /** What holds for every stored run. */
  readonly runs: HostSettings
  readonly host: RunHost
  readonly working: WorkingRuns
  readonly life: Life
  /** Opens a count of a stream, where anyone observes that. */
  readonly openStream: (() => () => void) | undefined
  readonly cors: Cors | undefined
  /** Undefined where no proxy is trusted. */
  readonly addressOf: AddressReader | undefined
  readonly uploads: UploadReader | undefined
  /** How many sockets are open, by each server of them. */
  readonly sockets: Set<() => number>
  /** The plugins with what they mounted, complete once the handler is made. */
  readonly mounted: readonly MountedPlugin[]
  /** Starts a run for whoever asks, over whatever transport. */
  readonly start: StartRun
  /** Answers what runs wait for. */
  readonly answer: AnswerRun
  /** Lets runs go on, and runs inputs again. */
  readonly again: RunAgain
  /** Why requests cannot have stored runs, if so. */
  readonly whyUnstored: StartParts['whyUnstored']
  /** Throws `unsupported_operation` where requests share no state. */
  checkShared(whatNeeds: string): (request: RequestState) => void
  /** A limit goes by the address of a client whose address nobody knows: told once to the log. */
  readonly onNoAddress: () => void
}

/** A plugin with what it mounted. */
export interface MountedPlugin extends BuiltInMounted {
  readonly plugin: BuiltIn
  readonly name: string
}
