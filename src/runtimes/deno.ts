/**
 * Deno.
 *
 * @module
 */

import { BrandedPlatform, isWebSocket, type Platform, type RawSocketHandlers } from '../http/platform.ts'
import { type Fetch, type Listen, type RunningServer, type ServeOptions, serveOn } from './server.ts'
import { connect, type StandardSocket } from './standard-socket.ts'

export { directory } from './directory.ts'
export type { CloseOptions, Fetch, RunningServer, ServeOptions } from './server.ts'

/**
 * The part of Deno that this file uses. It is restated here, so that the declarations need no types package that a user may
 * not have.
 */
interface DenoAddress {
  readonly hostname: string
  readonly port: number
}

interface DenoInfo {
  readonly remoteAddr: DenoAddress
}

declare const Deno: {
  serve(
    options: { port: number; hostname: string; signal: AbortSignal; onListen(): void },
    handler: (request: Request, info: DenoInfo) => Response | Promise<Response>,
  ): { readonly addr: DenoAddress; readonly finished: Promise<void>; shutdown(): Promise<void> }
  upgradeWebSocket(
    request: Request,
    options: { idleTimeout: number },
  ): { readonly socket: StandardSocket; readonly response: Response }
}

/** Makes a WebSocket of a request. Deno's own pings are off, since the code that opens a socket has its own. */
function upgrade(
  request: Request,
  open: Set<StandardSocket>,
  handlers: RawSocketHandlers,
): Response | undefined {
  if (!isWebSocket(request.headers.get('upgrade'))) return undefined
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 })
  open.add(socket)
  socket.addEventListener('close', () => open.delete(socket))
  socket.addEventListener('open', () => connect(socket, handlers))
  return response
}

/** The platform of a request. It looks the address up on demand. */
class DenoPlatform extends BrandedPlatform implements Platform {
  readonly #request: Request
  readonly #info: DenoInfo
  readonly #sockets: Set<StandardSocket>
  readonly waitUntil: (promise: Promise<unknown>) => void

  constructor(
    request: Request,
    info: DenoInfo,
    sockets: Set<StandardSocket>,
    waitUntil: (promise: Promise<unknown>) => void,
  ) {
    super()
    this.#request = request
    this.#info = info
    this.#sockets = sockets
    this.waitUntil = waitUntil
  }

  get ip(): string {
    return this.#info.remoteAddr.hostname
  }

  upgrade(handlers: RawSocketHandlers): Response | undefined {
    return upgrade(this.#request, this.#sockets, handlers)
  }
}

/**
 * Serves a handler with `Deno.serve`. It needs `--allow-net`, and `--allow-env=NODE_ENV` to show errors in development.
 * Closing the server ends WebSockets at once, regardless of `graceMs`: Deno ends them as soon as it stops listening.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export function serve(handler: Fetch, options?: ServeOptions): Promise<RunningServer> {
  return serveOn(listen, handler, options)
}

const listen: Listen = (handler, { port, hostname }, waitUntil) => {
  const stop = new AbortController()
  const sockets = new Set<StandardSocket>()
  const server = Deno.serve({ port, hostname, signal: stop.signal, onListen() {} }, (request, info) =>
    handler(request, new DenoPlatform(request, info, sockets, waitUntil)),
  )
  let isOver = false
  void server.finished.then(() => {
    isOver = true
  })
  return {
    port: server.addr.port,
    stop: () => server.shutdown(),
    async cut() {
      for (const socket of sockets) socket.close()
      // Deno throws if an ended server is stopped.
      if (!isOver) stop.abort()
      await server.finished
    },
  }
}
