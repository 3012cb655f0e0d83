/**
 * WebSockets of plugins, on every runtime: the handshake is a route.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Context, Route } from '../http/context.ts'
import type { RawSocket, RawSocketHandlers } from '../http/platform.ts'
import { isLonger } from '../web/body.ts'
import type { PluginCore, PluginRoute, ToError } from './plugin.ts'

/** A path at which clients open WebSockets (RFC 6455). Pages of other origins cannot, unless `cors` allows their origin. */
export interface PluginSocket {
  /** As for a route. */
  readonly path: string
  /** The scope that a key needs. Default: `run`. */
  readonly scope?: 'read' | 'run' | 'all'
  readonly toError?: ToError
  /** Most bytes of a message. A longer one closes the socket with 1009. Default: `core.maxBodyBytes`. */
  readonly maxBytes?: number
  /** Most open sockets in this process. More are refused with `rate_limited`. Default: 1000. */
  readonly maxSockets?: number
  /**
   * Called for a handshake, before the socket opens. What it throws is the response. The signal of this `request` fires when the socket
   * has closed, so plain runs that `callerOf` starts for it end then.
   */
  readonly open: (request: Request, context: Context) => SocketHandlers | Promise<SocketHandlers>
}

/** What happens on a WebSocket. An error that a handler throws is logged, and closes the socket with 1011. */
export interface SocketHandlers {
  /** Called once, before all others. */
  open?(socket: PluginConnection): void | Promise<void>
  /** Called for each message, in order. */
  message(data: string | Uint8Array, socket: PluginConnection): void | Promise<void>
  /** Called once, as the last. `code` is 1006 if the connection broke. */
  close?(code: number, reason: string): void
}

/** An open WebSocket. */
export interface PluginConnection {
  /** Sends a message. Never throws. A client that leaves 1 MiB unread is cut off with 1008. */
  send(data: string | Uint8Array): void
  /** Closes it (RFC 6455, section 7.4). Default: 1000. Never throws. */
  close(code?: number, reason?: string): void
}

/** Most bytes that wait for a slow reader, where the runtime reports them. */
const MAX_BUFFERED = 1024 * 1024

/** Most messages that wait for the one before them. */
const MAX_WAITING = 1000

/** Milliseconds in which a handshake is decided. */
const OPEN_MS = 30_000

const MAX_SOCKETS = 1000

/**
 * The route at which a plugin's WebSockets open, on every runtime but Next.js. On Workers they are open in the Worker, and keep it in
 * memory.
 *
 * @example
 * mount: core => ({ routes: [socketRoute(core, { path: '/echo', open: () => ({ message: (data, socket) => socket.send(data) }) })] })
 */
export function socketRoute(
  core: PluginCore,
  { path, scope = 'run', toError, maxBytes, maxSockets = MAX_SOCKETS, open }: PluginSocket,
): PluginRoute {
  let count = 0
  const route: Omit<Route, 'part'> = {
    method: 'GET',
    path,
    scope,
    ...(toError && { toError }),
    // Pages of other origins are refused, as with requests that change something.
    opensConnection: true,
    async endpoint(request, state) {
      const { upgrade } = state.platform
      if (upgrade === undefined)
        throw new ServableError('unsupported_operation', 'This runtime opens no WebSockets')
      if (count >= maxSockets)
        throw new ServableError('rate_limited', 'Too many sockets are open: try again later')
      count++
      const closed = new AbortController()
      const end = () => {
        count--
        closed.abort()
      }
      try {
        // Deno's own request cannot be read once the socket is open, and Node's is not one that the runtime copies. It has no body.
        const kept = new Request(request.url, { headers: request.headers, signal: closed.signal })
        const handlers = await inTime(open(kept, state))
        const limit = maxBytes ?? core.maxBodyBytes
        const report = (error: unknown) => state.logThrown('socket.failed', error, kept)
        const response = upgrade(handlersOf(handlers, limit, { report, end }))
        if (response !== undefined) return response
        throw new ServableError('invalid_request', 'This path takes WebSockets: ask for an upgrade')
      } catch (error) {
        end()
        throw error
      }
    },
  }
  // The endpoint gets what the handler makes of the context.
  return route as PluginRoute
}

/** Rejects if a handshake is not decided in time. */
async function inTime<T>(work: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new ServableError('internal_error', `\`open\` took longer than ${OPEN_MS} ms`)
    timer = setTimeout(() => reject(error), OPEN_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    if (timer !== undefined) clearTimeout(timer)
  }
}

/** The handlers of one socket, whose messages are handled one after the other. */
function handlersOf(
  handlers: SocketHandlers,
  maxPayload: number,
  { report, end }: { readonly report: (error: unknown) => void; readonly end: () => void },
): RawSocketHandlers {
  let socket: RawSocket | undefined
  let line = Promise.resolve()
  let waiting = 0
  const connection: PluginConnection = {
    send(data) {
      socket?.send(data)
      if ((socket?.bufferedAmount ?? 0) > MAX_BUFFERED) socket?.close(1008, 'slow reader')
    },
    close: (code = 1000, reason) => socket?.close(code, reason),
  }
  const next = (work: () => void | Promise<void>) => {
    waiting++
    line = line.then(async () => {
      try {
        if (socket !== undefined) await work()
      } catch (error) {
        report(error)
        socket?.close(1011, 'The service failed')
      }
      waiting--
    })
  }
  return {
    maxPayload,
    open(opened) {
      socket = opened
      next(() => handlers.open?.(connection))
    },
    message(from, data) {
      // Some runtimes cannot refuse a long message while it arrives.
      const isLong = typeof data === 'string' ? isLonger(data, maxPayload) : data.length > maxPayload
      if (isLong) from.close(1009, 'The message is too long')
      else if (waiting >= MAX_WAITING) from.close(1008, 'Too many messages wait')
      else next(() => handlers.message(data, connection))
    },
    close(_, code, reason) {
      socket = undefined
      end()
      try {
        handlers.close?.(code, reason)
      } catch (error) {
        report(error)
      }
    },
  }
}
