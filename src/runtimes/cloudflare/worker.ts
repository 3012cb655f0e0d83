/**
 * The `fetch` of a Worker.
 *
 * @module
 */

import { coreOf } from '../../core/handler.ts'
import { BrandedPlatform, isWebSocket, type Platform, type RawSocketHandlers } from '../../http/platform.ts'
import { addressIn } from '../../web/ip-address.ts'
import { checkHandler, type Fetch } from '../server.ts'
import { connect, type StandardSocket } from '../standard-socket.ts'
import { identifyLocals, logStarted, useReadableLog } from '../started.ts'

/**
 * The part of Workers' `ExecutionContext` that is used. It is restated here, so that the declarations need no types package
 * that a user may not have.
 */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void
}

/** A WebSocket of Workers. It is silent until it is accepted. */
interface WorkerSocket extends StandardSocket {
  accept(): void
}

declare const process: { readonly env: { readonly NODE_ENV?: string } }

declare const WebSocketPair: new () => { readonly 0: WorkerSocket; readonly 1: WorkerSocket }

/** The `fetch` member of a Worker. */
export type WorkerFetch = (request: Request, env: unknown, context: WorkerContext) => Promise<Response>

/**
 * Makes the `fetch` of a Worker. It gives the handler the client's address and `waitUntil`. On Cloudflare the address is that of
 * `cf-connecting-ip`, which the edge sets; on workerd alone it is that of the connection. With `NODE_ENV=development`, as under
 * `wrangler dev`, it is unknown: clients may send that header there. `wrangler.toml` needs the compatibility flag
 * `enable_request_signal`, so that a run stops when its client disconnects.
 *
 * @example
 * export default { fetch: worker(createHandler({ agents })) } satisfies ExportedHandler
 */
export function worker(handler: Fetch): WorkerFetch {
  checkHandler(handler, 'worker', 'worker(createHandler({ agents: { … } }))')
  const isServed = coreOf(handler)?.production === true
  const unproven = isDevelopment() && !isServed ? { header: ADDRESS } : undefined
  let hasBegun = false
  return async (request, _env, context) => {
    if (!hasBegun) {
      hasBegun = true
      begin(handler)
    }
    return handler(request, new WorkerPlatform(request, context, unproven))
  }
}

/** Called for the first request of an isolate. */
function begin(handler: Fetch): void {
  // Bundlers replace this expression. So a Worker in production does not contain the readable log.
  if (typeof process !== 'undefined' && process.env.NODE_ENV === 'development') {
    useReadableLog(handler)
    // Nobody knows where `wrangler dev` listens. Visitors are known only where `trustProxy` says that nobody else can connect.
    identifyLocals(handler, true)
  }
  logStarted(handler)
}

/** Works too if a bundler replaces the expression and there is no `process`. */
function isDevelopment(): boolean {
  try {
    return process.env.NODE_ENV === 'development'
  } catch {
    return false
  }
}

/** Cloudflare refuses requests in which the client has set this header. `wrangler dev` sets it only if the client has not. */
const ADDRESS = 'cf-connecting-ip'

/** The address of the connection with its port, which workerd adds to a request. Cloudflare and wrangler do not provide it. */
interface Connected {
  readonly cf?: { readonly clientIp?: string }
}

/** The platform of a request. It looks the address up on demand. */
class WorkerPlatform extends BrandedPlatform implements Platform {
  readonly isIsolated = true
  readonly #request: Request
  readonly #context: WorkerContext

  readonly unproven: Platform['unproven']

  constructor(request: Request, context: WorkerContext, unproven: Platform['unproven']) {
    super()
    this.unproven = unproven
    this.#request = request
    this.#context = context
  }

  get ip(): string | undefined {
    if (this.unproven) return undefined
    const { clientIp } = (this.#request as Connected).cf ?? {}
    return clientIp ? addressIn(clientIp) : (this.#request.headers.get(ADDRESS) ?? undefined)
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#context.waitUntil(promise)
  }

  upgrade(handlers: RawSocketHandlers): Response | undefined {
    return upgrade(this.#request, handlers)
  }
}

/** Makes a WebSocket of a request. The socket lives as long as its context; in a Durable Object, as long as the object. */
function upgrade(request: Request, handlers: RawSocketHandlers): Response | undefined {
  if (!isWebSocket(request.headers.get('upgrade'))) return undefined
  const { 0: client, 1: server } = new WebSocketPair()
  server.accept()
  connect(server, handlers)
  // `webSocket` is a member of Workers only. Other runtimes accept no status 101 here.
  const init: object = { status: 101, webSocket: client }
  return new Response(null, init)
}
