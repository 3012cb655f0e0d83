/**
 * What a plugin is. A handler has the core and its plugins, and the core knows none of them by name.
 *
 * @module
 */

import type { MemoryKeeper } from '../agents/memory.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Context, Middleware } from '../http/context.ts'
import type { Route } from '../http/router.ts'
import type { UploadReader } from '../http/upload.ts'
import type { Observer } from '../runs/observer.ts'
import type { Cors } from '../web/cors.ts'
import type { Core, PluginCore } from './core.ts'
import type { Description } from './description.ts'
import type { KeeperMaker, ObjectClassName, SocketKeeper, SocketSeat } from './hosted.ts'
import type { Keep, Transactions } from './kept.ts'
import type { CoreSettings } from './options.ts'
import type { PluginTransactions } from './plugin-store.ts'

/**
 * Something that is added to a handler: `createHandler({ plugins: [plugin] })`. It is made by a function that checks its own
 * options and throws `invalid_options` for wrong ones. It may be given to several handlers, and is mounted in each.
 */
export interface Plugin {
  /** Unique in a handler: letters, digits and `-`. It is `context.part` of its routes. */
  readonly name: string
  /** Is told of every run, whatever its transport. What it throws is told to the log and changes no run. */
  readonly observer?: Observer
  /** What it keeps. `mount` gets calls of it by `core.calls`. */
  readonly kept?: PluginTransactions
  /** Is called once for each handler, before any request. Throws `invalid_options` for what does not go together. */
  mount?(core: PluginCore): Mounted
}

/** A plugin in one handler. Every member is optional. */
export interface Mounted {
  /** The same method and path twice in a handler is `invalid_options`. */
  readonly routes?: readonly PluginRoute[]
  /** All below this path is the plugin's, whether there is a route or not, and passes its guard first. */
  readonly base?: { readonly path: string; readonly guard?: Middleware }
  /** Around every request of every part, inside of the handler's own middleware. */
  readonly middleware?: Middleware
  /** What it adds to the OpenAPI document; called for each document. */
  describe?(): Description
  /** Is called once when a server that serves the handler has ended its runs. */
  close?(): void | Promise<void>
}

/** A route of a plugin. `GET` answers `HEAD` as well. What an endpoint throws becomes an answer, by its `code`. */
export interface PluginRoute {
  readonly method: Route['method']
  /** Absolute, with `:name` for a parameter, which `context.params` has. `core.prefix` is the handler's. */
  readonly path: string
  readonly endpoint: (request: Request, context: Context) => Response | Promise<Response>
}

/** What the plugins of this package may be beside that. It is no part of the interface: what is published here is frozen. */
export interface BuiltIn extends Omit<Plugin, 'mount'> {
  /** Transactions over the store itself, by the name of their keeper. */
  readonly transactions?: Readonly<Record<string, Transactions>>
  /** Reads forms with files. One plugin. */
  readonly uploads?: (settings: CoreSettings) => UploadReader
  /** Who may call across origins. One plugin. */
  readonly cors?: (keyHeaders: readonly string[]) => Cors | undefined
  /** Names of its own: its targets have the plugin's name as `scope`, so that an object finds them again. */
  readonly catalog?: (served: Catalog) => Catalog
  /** What agents remember. */
  readonly memory?: (keep: Keep) => Partial<MemoryKeeper>
  /** The observer in an object, which is paid for as long as something in it waits. Default: the same. */
  readonly observerInObject?: Observer
  /** Its halves in objects, by their class. Those of transactions are made of them. */
  readonly keepers?: { readonly [Name in Exclude<ObjectClassName, 'gateway'>]?: KeeperMaker<Core> }
  /** Answers in objects of sockets. One plugin. */
  readonly sockets?: (seat: SocketSeat, core: Core) => SocketKeeper
  mount?(core: Core): BuiltInMounted
}

/** The same, mounted. */
export interface BuiltInMounted extends Omit<Mounted, 'routes'> {
  readonly routes?: readonly Route[]
  /** Who may call its routes across origins: null for nobody. Absent: as the handler's. */
  readonly cors?: Cors | null
  /** Around all other middleware. */
  readonly outer?: Middleware
  /** What the index of the service tells of, by name. */
  readonly links?: Readonly<Record<string, string>>
  /** What it keeps of a run or task that a reference out of the log may stand for: for an administrator. */
  findWork?(ref: string): Promise<readonly object[]>
  /** What the OpenAPI document has to know of it. */
  readonly facts?: object
  /** The handler is complete and about to serve; not called where only a document is made. */
  begin?(): void
  /** What becomes of its limits for clients whose address nobody knows. */
  readonly withoutAddress?: string
}

/** A plugin of this package, as it is given out. */
export function asPlugin(plugin: BuiltIn): Plugin {
  return plugin as unknown as Plugin
}
