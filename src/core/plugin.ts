/**
 * The plugin interface. A handler has the core and its plugins; the core knows none of them by name.
 *
 * @module
 */

import type { Kind } from '../agents/run-types.ts'
import type { Catalog } from '../http/catalog.ts'
import type { Context, Middleware } from '../http/context.ts'
import type { Log } from '../http/log.ts'
import type { AskedRun } from '../http/runs/start-run.ts'
import type { Observer } from '../runs/observer.ts'
import type { Reply } from '../web/reply.ts'
import type { Builders, Description } from './builders.ts'
import type { Keeping, PluginTransactions } from './plugin-store.ts'
import type { Calls } from './transaction-calls.ts'

/**
 * An addition to a handler: `createHandler({ plugins: [plugin] })`. A function makes it, which checks its own options and
 * throws `invalid_options` for wrong ones. Several handlers may have the same plugin; each mounts it.
 */
export interface Plugin {
  /** Unique in a handler: letters, digits and `-`. The `context.part` of its routes. */
  readonly name: string
  /** Observes every run, over any transport. An error that it throws goes to the log and changes no run. */
  readonly observer?: Observer
  /** The plugin's data. `mount` calls it through `core.calls`. */
  readonly kept?: Keeping
  /** Called once for each handler, before any request. Throws `invalid_options` for options that do not go together. */
  mount?(core: PluginCore): Mounted
}

/** A plugin in one handler. Every member is optional. */
export interface Mounted {
  /**
   * The plugin's routes. The core's routes come first, then those of earlier plugins. A route that can never be reached is
   * `invalid_options`.
   */
  readonly routes?: readonly PluginRoute[]
  /**
   * A path that belongs to the plugin, together with all paths below it. Requests there pass the guard first. With a guard, a
   * route of another plugin that could answer there is `invalid_options`.
   */
  readonly base?: PluginBase
  /** Wraps every request of every part, inside the handler's own middleware. */
  readonly middleware?: Middleware
  /**
   * Adds to the OpenAPI document. Called for each document, with what builds its parts. Its `prefix` is the prefix in the document:
   * `core.prefix`, or another if a proxy changes it. If it throws, `plugin.failed` is logged and the document goes without this part.
   */
  describe?(build: Builders): Description
  /**
   * Deletes what the plugin stores for an owner or a session. Returns whether there was anything. The caller repeats the call if
   * it throws.
   */
  forget?(what: Forgetting): Promise<boolean>
  /** Called when the last server that serves the handler has ended its runs. An error that it throws goes to the log. */
  close?(): void | Promise<void>
}

/** Whose data to delete: all of an owner, or that of one session. */
export interface Forgetting {
  /** The identity. Null for a session without an owner. */
  readonly owner: string | null
  /**
   * The caller has ensured that no run of the session that began before this call is running, and that new runs wait until the
   * deletion is complete. A waiting run is left alone, unless it continues an earlier run.
   */
  readonly session?: { readonly kind: Kind; readonly name: string; readonly id: string }
  /** Cancels running and queued runs. Without it, a running or queued run makes the call throw `session_busy`. */
  readonly cancels?: boolean
}

/** A path that belongs to a plugin. */
export interface PluginBase {
  readonly path: string
  readonly guard?: Middleware
  readonly toError?: ToError
  /**
   * A header in which clients of the path send the caller's token, such as `x-api-key`. It is moved to where authentication reads it,
   * before middleware sees the request, unless a token is there already. Default: none.
   */
  readonly tokenHeader?: string
}

/** A route of a plugin. `GET` answers `HEAD` too. An error that the endpoint throws is answered by its `code`. */
export interface PluginRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** An absolute path. `:name` is a parameter, found in `context.params`. The handler's prefix is `core.prefix`. */
  readonly path: string
  /** The scope that a key of `servable/keys` needs for it. Default: `read` for GET, `run` for POST, else `all`. */
  readonly scope?: 'read' | 'run' | 'all'
  /** Default: the problem as it is (RFC 9457). */
  readonly toError?: ToError
  readonly endpoint: (request: Request, context: Context) => Response | Reply | Promise<Response | Reply>
}

/**
 * Makes the error of a protocol from the response with the problem (RFC 9457). It gets the problems of its routes, also those
 * of middleware, whose body may be no JSON. A response of another content type stays as it is.
 */
export type ToError = (problem: Response) => Response | Promise<Response>

/** The handler, as a plugin sees it. */
export interface PluginCore {
  /** The path of all routes but those of A2A and the socket. */
  readonly prefix: string
  /** Whether the text of server errors is masked. */
  readonly production: boolean
  readonly log: Log
  /** The origin under which clients reach the service, if the options state it. */
  readonly publicUrl: string | undefined
  /** Most bytes of a JSON body. */
  readonly maxBodyBytes: number
  /** Most characters of an answer. */
  readonly maxLength: number
  /** Whether the handler stores runs and sessions. */
  readonly storesRuns: boolean
  /** The agents, teams and workflows, by kind and name, looked up at each call. */
  readonly catalog: Catalog
  /**
   * Reads and checks a run request as the routes do: the body (JSON, or a form if files are accepted), `Idempotency-Key` and
   * `Prefer`. The name is the path's parameter `name`. Throws the errors of the routes, such as `agent_not_found` and
   * `invalid_body`.
   */
  readRun(kind: Kind, request: Request, context: Context): Promise<AskedRun>
  /**
   * Calls of the plugin's `kept`. An address is any text; on Workers each address is one Durable Object. Throws `invalid_options`
   * for anything but its `kept`.
   */
  calls<T extends PluginTransactions>(kept: Keeping<T>): Calls<T, string>
}
