/**
 * A Socket.IO v5 server on an engine, with namespaces, acknowledgements, attachments and recovery.
 *
 * @module
 */

import { ServableError } from '../../../../base/errors.ts'
import type { CloseReason, Connection } from '../engine/connection.ts'
import { createEngineWith, type SocketEndpoint } from '../engine/engine.ts'
import { type EngineHandlers, type EngineLimits, resolveEngine } from '../engine/options.ts'
import { type SharedClientParts, SocketClient } from './client.ts'
import { mayReconnect, type Namespace } from './namespace.ts'
import type { SocketSnapshot } from './namespace-socket.ts'
import { type RecoveryLimits, SocketRecovery } from './recovery.ts'

/** The options of {@link createSocketServer}. The default of `path` is `/socket.io/`. */
export interface SocketServerOptions extends EngineLimits {
  /** The namespaces by name. `/` is the main one. A client that asks for another one gets the error `Invalid namespace`. */
  readonly namespaces: Readonly<Record<string, Namespace>>
  /**
   * Holds the events that a client misses while its connection is lost, and sends them when it reconnects. Every event then
   * has one more argument, which the client's listeners see. `true` uses the default limits. Default: off.
   */
  readonly recovery?: boolean | RecoveryLimits
  /** Most namespaces that one connection may join. Default: 16. */
  readonly maxNamespaces?: number
  /** Most attachments of one event, 10 or less. Default: 10. */
  readonly maxAttachments?: number
  /** Most bytes of JSON of a socket's `data` in a snapshot. Default: 4,096. */
  readonly maxDataBytes?: number
}

/** A Socket.IO server. */
export interface SocketServer extends SocketEndpoint {
  /** Adds a namespace. Throws `invalid_options` if the name is invalid or taken. */
  readonly attach: (name: string, namespace: Namespace) => void
}

/** Handlers of WebSockets without Engine.IO and Socket.IO. */
export interface PlainHandlers extends EngineHandlers {
  readonly snapshot: (connection: Connection) => unknown
  readonly restore: (connection: Connection, layer: unknown) => void
}

/**
 * Makes a server for the stock `socket.io-client`. Throws `invalid_options` that names the wrong option.
 *
 * @example
 * const server = createSocketServer({
 *   namespaces: { '/': { onEvent: (socket, event, args, ack) => ack?.(...args) } },
 * })
 * await serve(server.fetch, { port: 3000 })
 */
export function createSocketServer(options: SocketServerOptions): SocketServer {
  return createSocketServerWith(options)
}

/** Makes a server that can also serve a protocol of JSON frames. */
export function createSocketServerWith(options: SocketServerOptions, plain?: PlainHandlers): SocketServer {
  const {
    namespaces: given,
    recovery: wanted,
    maxNamespaces = 16,
    maxAttachments = 10,
    maxDataBytes = 4096,
    ...limits
  } = options
  const settings = { ...resolveEngine(limits, '/socket.io/'), plain: plain !== undefined }
  const { namespaces, attach } = namespacesOf(given)
  const { now, onError } = settings
  const recovery = wanted ? new SocketRecovery(wanted === true ? {} : wanted) : undefined
  const shared: SharedClientParts = {
    now,
    onError,
    recovery,
    maxNamespaces,
    maxAttachments,
    namespaces,
    maxLogBytes: recovery?.limits.maxBytes,
    asking: new Set(),
    left(socket) {
      const context = socket.connection?.context
      if (context instanceof SocketClient) context.forget(socket)
      recovery?.remove(socket)
    },
  }
  const engine = createEngineWith(
    { ...settings, ...handlersOf(shared, plain) },
    {
      admission: 'caller',
      pong(connection) {
        if (!connection.isPlain) clientOf(connection).pong()
      },
      tick(at) {
        for (const socket of shared.asking) socket.tick(at)
        return recovery?.tick(at) ?? 0
      },
      snapshot: connection =>
        connection.isPlain
          ? plain?.snapshot(connection)
          : bounded(clientOf(connection).snapshot(), maxDataBytes),
      restore(connection, layer) {
        if (connection.isPlain) return plain?.restore(connection, layer)
        const client = new SocketClient(shared, connection)
        connection.context = client
        client.restore(layer)
      },
    },
  )
  return {
    ...engine,
    attach,
    get size() {
      return engine.size
    },
    close() {
      engine.close()
      recovery?.close()
    },
  }
}

/** Checks the given namespaces, and adds further ones. */
function namespacesOf(given: SocketServerOptions['namespaces']): {
  readonly namespaces: Map<string, Namespace>
  readonly attach: SocketServer['attach']
} {
  const namespaces = new Map<string, Namespace>()
  const attach = (name: string, namespace: Namespace) => {
    checkName(name)
    if (namespaces.has(name)) {
      throw new ServableError('invalid_options', `\`namespaces\`: there are two named \`${name}\``)
    }
    namespaces.set(name, namespace)
  }
  for (const [name, namespace] of Object.entries(given)) attach(name, namespace)
  return { namespaces, attach }
}

function clientOf(connection: Connection): SocketClient {
  return connection.context as SocketClient
}

/** What the engine calls with connections and messages. */
function handlersOf(shared: SharedClientParts, plain: PlainHandlers | undefined): Required<EngineHandlers> {
  return {
    onOpen(connection) {
      if (connection.isPlain) plain?.onOpen?.(connection)
      else connection.context = new SocketClient(shared, connection)
    },
    onMessage(connection, message) {
      if (connection.isPlain) plain?.onMessage?.(connection, message)
      else clientOf(connection).receive(message)
    },
    onClose(connection, reason) {
      if (connection.isPlain) plain?.onClose?.(connection, reason)
      else loseAll(clientOf(connection), reason, shared)
    },
  }
}

/** Handles the end of a connection. Its sockets wait for their client, or leave. */
function loseAll(client: SocketClient, reason: CloseReason, { recovery, now }: SharedClientParts): void {
  for (const socket of client.takeAll()) {
    if (recovery === undefined || !mayReconnect(reason)) socket.leave(reason)
    else recovery.suspend(socket, now())
  }
}

function checkName(name: string): void {
  if (/^\/[^,]*$/.test(name)) return
  throw new ServableError(
    'invalid_options',
    `\`namespaces\`: \`${name}\` must begin with a slash and have no comma`,
  )
}

/** Checks the size of `data`, because a snapshot must fit where it is stored. */
function bounded(snapshots: SocketSnapshot[], maxDataBytes: number): SocketSnapshot[] {
  for (const { nsp, data } of snapshots) {
    if (data === undefined || JSON.stringify(data).length <= maxDataBytes) continue
    throw new ServableError(
      'internal_error',
      `The \`data\` of a socket in \`${nsp}\` must be at most ${maxDataBytes} bytes of JSON`,
    )
  }
  return snapshots
}
