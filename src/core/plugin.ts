/**
 * What a plugin is. A handler has the core and its plugins, and the core knows none of them by name.
 *
 * @module
 */

import type { Kind } from '../agents/run-types.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Context, Middleware } from '../http/context.ts'
import type { Log } from '../http/log.ts'
import type { AskedRun, StartedRun } from '../http/start-run.ts'
import type { Observer } from '../runs/observer.ts'
import type { Description } from './description.ts'
import type { Calls } from './kept.ts'
import type { Keeping, PluginTransactions } from './plugin-store.ts'

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
  readonly kept?: Keeping
  /** Is called once for each handler, before any request. Throws `invalid_options` for what does not go together. */
  mount?(core: PluginCore): Mounted
}

/** A plugin in one handler. Every member is optional. */
export interface Mounted {
  /** A route that another one always comes before is `invalid_options`: the core's come first, then those of earlier plugins. */
  readonly routes?: readonly PluginRoute[]
  /**
   * All below this path is the plugin's, whether there is a route or not, and passes its guard first. A route of another plugin
   * that may answer there is `invalid_options`.
   */
  readonly base?: { readonly path: string; readonly guard?: Middleware }
  /** Around every request of every part, inside of the handler's own middleware. */
  readonly middleware?: Middleware
  /**
   * What it adds to the OpenAPI document; called for each document. `prefix` is the one that the document states: `core.prefix`, or
   * another where a proxy changes it. Where it throws, the log is told (`plugin.failed`) and the document does without it.
   */
  describe?(document: { readonly prefix: string }): Description
  /** Is called when the last server that serves the handler has ended its runs. What it throws is told to the log. */
  close?(): void | Promise<void>
}

/** A route of a plugin. `GET` answers `HEAD` as well. What an endpoint throws becomes an answer, by its `code`. */
export interface PluginRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Absolute, with `:name` for a parameter, which `context.params` has. `core.prefix` is the handler's. */
  readonly path: string
  readonly endpoint: (request: Request, context: Context) => Response | Promise<Response>
}

/** What a plugin finds in a handler. */
export interface PluginCore {
  /** The path under which everything but A2A and the socket is mounted. */
  readonly prefix: string
  /** Whether the text of server errors is masked. */
  readonly production: boolean
  readonly log: Log
  /** The address under which clients reach the service, where the options say it. */
  readonly publicUrl: string | undefined
  /** Most bytes of a JSON body. */
  readonly maxBodyBytes: number
  /** What is served, by kind and name, looked up at each call. */
  readonly catalog: Catalog
  /**
   * Reads and checks a request for a run as the routes do: the body (JSON, or a form where files are taken), `Idempotency-Key` and
   * `Prefer`. The name is the path's parameter `name`. Throws what the routes answer, such as `agent_not_found` and `invalid_body`.
   */
  readRun(kind: Kind, request: Request, context: Context): Promise<AskedRun>
  /**
   * Starts a run for whoever sent a request: with its identity, its keys and its limits. It is a stored run where it is asked for
   * in the background or with a key, or where the disconnect policy says so. Throws `runs_not_stored`, `idempotency_mismatch` and
   * `too_many_runs`. Whoever stops reading the events of a plain run cancels it, and so does a request that is aborted.
   */
  startRun(asked: AskedRun, request: Request, context: Context): Promise<StartedRun>
  /**
   * Calls of the transactions that the plugin has as `kept`. A place is any text: what is kept of one is in one object. Throws
   * `invalid_options` for what is not its `kept`.
   */
  calls<T extends PluginTransactions>(kept: Keeping<T>): Calls<T, string>
}
