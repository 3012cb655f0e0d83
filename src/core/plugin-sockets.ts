/**
 * WebSockets of plugins, on every runtime: the handshake is a route.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Route } from '../http/context.ts'
import type { RawSocket, RawSocketHandlers } from '../http/platform.ts'
import { isLonger } from '../web/body.ts'
import type { Core } from './built-in.ts'
import type { PluginConnection, PluginSocket, SocketHandlers } from './plugin.ts'

/** Most bytes that wait for a slow reader, where the runtime reports them. */
const MAX_BUFFERED = 1024 * 1024

/** Most messages that wait for the one before them. */
const MAX_WAITING = 1000

const MAX_SOCKETS = 1000

/** The route at which the sockets open. */
export function socketRoute(
  { path, scope = 'run', toError, maxBytes, maxSockets = MAX_SOCKETS, open }: PluginSocket,
  core: Core,
  part: string,
): Route {
  let count = 0
  return {
    part,
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
        const handlers = await open(new Request(request, { signal: closed.signal }), state)
        const limit = maxBytes ?? core.maxBodyBytes
        const report = (error: unknown) => state.logThrown('socket.failed', error, request)
        const response = upgrade(handlersOf(handlers, limit, { report, end }))
        if (response !== undefined) return response
        throw new ServableError('invalid_request', 'This path takes WebSockets: ask for an upgrade')
      } catch (error) {
        end()
        throw error
      }
    },
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
