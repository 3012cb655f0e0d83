/**
 * The event socket: a Socket.IO namespace, and JSON frames on a plain WebSocket beside it. Clients start runs with events.
 *
 * @module
 */

import type { EngineLimits } from '../socket/engine/options.ts'
import { type Admission, mayReconnect, type Namespace, type Socket } from '../socket/io/namespace.ts'
import { createSocketServerWith, type SocketServer } from '../socket/io/server.ts'
import type { Peer } from './context.ts'
import { createPlainProtocol, PLAIN_PING } from './plain.ts'
import { type ClientReception, createReception, type Missed, type ReceptionParts } from './reception.ts'
import type { GatewaySession } from './session.ts'
import { readSessionData, type SessionData } from './session-data.ts'

/** Most namespaces of one connection. */
const MAX_NAMESPACES = 4

/** What a gateway needs. */
export interface GatewayParts extends ReceptionParts {
  /** Engine settings of a runtime whose sockets outlive the server's memory. */
  readonly engine?: Pick<EngineLimits, 'now' | 'ticks' | 'generateId' | 'headers'>
}

/** Makes the server of a gateway. If the host gave a server of its own, the namespace is added to that one. */
export function createGateway(parts: GatewayParts): SocketServer {
  const { settings, engine, onError } = parts
  const { namespace, limits, server } = settings
  const reception = createReception(parts)
  const handlers = namespaceOf(reception)
  if (server !== undefined) {
    server.attach(namespace, handlers)
    return server
  }
  const { maxSockets, maxSocketsPerIp, maxEventsPerSecond: _e, maxSocketsPerIdentity: _i, ...rest } = limits
  const { maxRunsPerSocket: _r, ...bounds } = rest
  return createSocketServerWith(
    {
      ...bounds,
      ...engine,
      maxNamespaces: MAX_NAMESPACES,
      maxSessions: maxSockets,
      maxSessionsPerIp: maxSocketsPerIp,
      path: settings.path,
      plainPing: PLAIN_PING,
      namespaces: { [namespace]: handlers },
      onError,
    },
    createPlainProtocol(reception, onError),
  )
}

/**
 * The handlers of the namespace. Each socket has a session. From admission on, `data` of the socket is the session's data,
 * because the socket may sleep before the next event.
 */
function namespaceOf(reception: ClientReception): Namespace {
  const sessions = new WeakMap<Socket, GatewaySession>()
  const returns = new WeakMap<object, Missed>()
  const open = (socket: Socket, data: SessionData) => {
    const session = reception.open(peerOf(socket), data, socket.handshake)
    sessions.set(socket, session)
    return session
  }
  return {
    async authenticate(handshake): Promise<Admission> {
      try {
        const { data, missed } = await reception.admit(handshake)
        if (missed !== undefined) returns.set(data, missed)
        const { private: session } = data
        return { data, ...(session && { session }) }
      } catch (thrown) {
        return { error: reception.refusal(thrown, handshake) }
      }
    },
    onConnect(socket) {
      const data = socket.data as SessionData
      // Others of the same identity may have connected during the admission.
      if (reception.isFull(data)) return socket.disconnect()
      const session = open(socket, data)
      const missed = returns.get(data)
      if (missed !== undefined) void session.resume(missed.record, missed.seen)
    },
    onRestore: socket => void open(socket, readSessionData(socket.data)),
    mayRecover: (socket, data) => (data as SessionData).identity?.id === sessions.get(socket)?.identity?.id,
    onRecover(socket) {
      socket.data = sessions.get(socket)?.renew(socket.data as SessionData)
    },
    onPong: socket => void sessions.get(socket)?.checkKey(() => socket.disconnect()),
    onEvent: (socket, event, [payload], ack) => sessions.get(socket)?.take(event, payload, ack),
    onDisconnect(socket, reason) {
      const session = sessions.get(socket)
      if (session !== undefined) reception.close(session, mayReconnect(reason))
    },
  }
}

function peerOf(socket: Socket): Peer {
  return {
    send(event, payload, position) {
      if (position === undefined) socket.emit(event, payload)
      else socket.emit(event, payload, position)
    },
    get isCongested() {
      return socket.isCongested
    },
    touch: () => socket.touch(),
  }
}
