/**
 * Bun.
 *
 * @module
 */

import { BrandedPlatform, type Platform, type RawSocket, type RawSocketHandlers } from '../http/platform.ts'
import { type Fetch, type Listen, type RunningServer, type ServeOptions, serveOn } from './server.ts'

export { directory } from './directory.ts'
export type { CloseOptions, Fetch, RunningServer, ServeOptions } from './server.ts'

/**
 * The part of Bun that this file uses. It is restated here, so that the declarations need no types package that a user may
 * not have.
 */
interface BunServer {
  readonly port: number
  requestIP(request: Request): { readonly address: string } | null
  upgrade(request: Request, options: { data: Peer }): boolean
  stop(closeActive: boolean): Promise<void>
}

interface BunSocket {
  readonly data: Peer
  readonly readyState: number
  /** Returns the number of bytes sent, -1 if the message waits, 0 if it was dropped. */
  send(data: string | Uint8Array): number
  close(code?: number, reason?: string): void
  getBufferedAmount(): number
}

declare const Bun: {
  serve(options: {
    port: number
    hostname: string
    idleTimeout: number
    maxRequestBodySize: number
    fetch(request: Request, server: BunServer): Promise<Response | undefined>
    websocket: {
      idleTimeout: number
      sendPings: boolean
      open(socket: BunSocket): void
      message(socket: BunSocket, data: string | Uint8Array): void
      drain(socket: BunSocket): void
      close(socket: BunSocket, code: number, reason: string): void
    }
  }): BunServer
}

/** One WebSocket and its handlers. */
class Peer implements RawSocket {
  readonly handlers: RawSocketHandlers
  bufferedAmount = 0
  #socket: BunSocket | undefined
  /** Whether the server has closed the socket. */
  #isLeft = false

  constructor(handlers: RawSocketHandlers) {
    this.handlers = handlers
  }

  open(socket: BunSocket): void {
    this.#socket = socket
    this.handlers.open(this)
  }

  drain(): void {
    this.bufferedAmount = this.#socket?.getBufferedAmount() ?? 0
  }

  send(data: string | Uint8Array): void {
    const socket = this.#socket
    if (socket === undefined || socket.readyState !== 1) return
    const sent = socket.send(data)
    if (sent > 0) return
    if (sent === -1) this.bufferedAmount = socket.getBufferedAmount()
    // If Bun drops a message, the client would miss it without notice. So the connection closes. An empty message has no bytes
    // to drop.
    else if (data.length > 0) this.close(1008, 'slow reader')
  }

  close(code?: number, reason?: string): void {
    this.#isLeft = true
    this.#socket?.close(code, reason)
  }

  /**
   * Bun has closed the socket. If the server wanted it, Bun says so at once. It drops what still comes, and ends the connection of a
   * client that does not after about 4 s.
   */
  closed(code: number, reason: string): void {
    const close = () => this.handlers.close(this, code, reason)
    if (this.#isLeft) setTimeout(close, GONE_MS).unref()
    else close()
  }
}

/** Milliseconds after which a connection is gone that the server has closed. */
const GONE_MS = 4000

/** The platform of a request. It looks the address up on demand. */
class BunPlatform extends BrandedPlatform implements Platform {
  readonly #request: Request
  readonly #server: BunServer
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** True after an upgrade to a WebSocket. Bun has then answered by itself. */
  isUpgraded = false

  constructor(request: Request, server: BunServer, waitUntil: (promise: Promise<unknown>) => void) {
    super()
    this.#request = request
    this.#server = server
    this.waitUntil = waitUntil
  }

  get ip(): string | undefined {
    return this.#server.requestIP(this.#request)?.address
  }

  upgrade(handlers: RawSocketHandlers): Response | undefined {
    this.isUpgraded = this.#server.upgrade(this.#request, { data: new Peer(handlers) })
    return this.isUpgraded ? new Response(null) : undefined
  }
}

/** The request with an absolute address. Bun gives only a path if the request has no `Host`, which HTTP/1.0 allows. */
function absolute(request: Request, port: number): Request {
  if (!request.url.startsWith('/') || request.headers.get('host')) return request
  return new Request(`http://localhost:${port}${request.url}`, request)
}

/**
 * Serves a handler with `Bun.serve`. Two limits of Bun are off. `idleTimeout` would cut an answer that is silent for ten
 * seconds. The handler has its own limit for bodies, in place of Bun's 128 MiB.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export function serve(handler: Fetch, options?: ServeOptions): Promise<RunningServer> {
  return serveOn(listen, handler, options)
}

const listen: Listen = (handler, { port, hostname }, waitUntil) => {
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request, self) {
      const platform = new BunPlatform(request, self, waitUntil)
      const response = await handler(absolute(request, self.port), platform)
      return platform.isUpgraded ? undefined : response
    },
    websocket: {
      // The code that opens a socket has its own pings and time-outs.
      idleTimeout: 0,
      sendPings: false,
      open: socket => socket.data.open(socket),
      message: (socket, data) => socket.data.handlers.message(socket.data, data),
      drain: socket => socket.data.drain(),
      close: (socket, code, reason) => socket.data.closed(code, reason),
    },
  })
  return {
    port: server.port,
    stop: () => server.stop(false),
    cut: () => server.stop(true),
  }
}
