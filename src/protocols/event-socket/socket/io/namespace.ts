/** The interface of a namespace and its sockets. */

import type { CloseReason, Handshake } from '../engine/connection.ts'

/** A client's request to join a namespace. */
export interface SocketHandshake extends Handshake {
  /** The name of the namespace, such as `/`. Empty for a plain WebSocket. */
  readonly nsp: string
  /**
   * The private id and the offset of a reconnecting client, if the namespace stores sockets itself (see `session` of
   * {@link Admission}). The values come from the client and are not checked.
   */
  readonly recovery?: { readonly pid: string; readonly offset: unknown }
  /** The payload of its CONNECT packet, `{}` if it has none. It comes from the client and is not checked. */
  readonly auth: Readonly<Record<string, unknown>>
}

/**
 * The answer to a client that asks to join. Without `error` the client joins. `data` becomes `Socket.data`; it must be
 * small JSON if snapshots are taken. With `error` the client is refused, and its `connect_error` event gets the `message`
 * and `data`.
 */
export type Admission =
  | {
      readonly data?: unknown
      /**
       * Lets the client reconnect to a socket that the namespace stores itself, if the server's `recovery` is off. `id` is
       * the public id of the socket. `pid` is its private id, which the client sends when it reconnects. Each event must
       * then have its offset, a string, as its last argument.
       */
      readonly session?: { readonly id: string; readonly pid: string }
      readonly error?: undefined
    }
  | { readonly error: { readonly message: string; readonly data?: unknown } }

/** Why a socket left its namespace for good. */
export type DisconnectReason = CloseReason | 'client disconnect' | 'server disconnect'

/** Reasons after which the client knows that it is disconnected, or must not reconnect. */
const FINAL: ReadonlySet<DisconnectReason> = new Set([
  'server close',
  'parse error',
  'payload too large',
  'client disconnect',
  'server disconnect',
])

/** Whether a client that was disconnected for this reason may reconnect. */
export function mayReconnect(reason: DisconnectReason): boolean {
  return !FINAL.has(reason)
}

/** Answers an event. Further answers are dropped. */
export type Ack = (...args: unknown[]) => void

/** One client in one namespace. With recovery on, a socket outlives its connection. */
export interface Socket {
  /** The public id. Unlike the session's id, it does not let anyone act as the client. */
  readonly id: string
  /** The namespace that the client has joined. */
  readonly nsp: string
  readonly handshake: Handshake
  /** The `data` of the admission. Handlers may replace it. */
  data: unknown
  /** False after the socket has left, and while it waits for its client to reconnect. */
  readonly isConnected: boolean
  /** Whether so many bytes wait for the client that the sender should pause. */
  readonly isCongested: boolean
  /** Call this after a change inside `data` if snapshots are taken. A new value of `data` is noticed without it. */
  touch(): void
  /**
   * Sends an event. Bytes in the arguments, at any depth, become attachments. With recovery on, the client gets the event
   * after it reconnects.
   */
  emit(event: string, ...args: unknown[]): void
  /**
   * Sends an event and waits for the client's answer, for `timeoutMs` milliseconds (default: 10,000). Returns undefined if
   * there was no answer in time or the client has left. The event is not sent again when the client reconnects.
   */
  ask(event: string, args: readonly unknown[], timeoutMs?: number): Promise<unknown[] | undefined>
  /** Makes the client leave the namespace. The stock client does not reconnect after that. */
  disconnect(): void
}

/** The handlers of a namespace. Their errors are passed to `onError`. Every handler is optional. */
export interface Namespace {
  /**
   * Decides whether the client may join. It is also called when a client reconnects. A throw or a value that is not an
   * object refuses. The client gets the text only of a `ServableError` that the client caused. Default: everyone may join.
   */
  readonly authenticate?: (handshake: SocketHandshake) => Admission | Promise<Admission>
  /** Is called after a client has joined. */
  readonly onConnect?: (socket: Socket, handshake: SocketHandshake) => void
  /** Is called after a socket was restored from a snapshot, with its `data`. A throw closes its connection. */
  readonly onRestore?: (socket: Socket) => void
  /** Handles an event. `ack` is given if the client wants an answer. */
  readonly onEvent?: (
    socket: Socket,
    event: string,
    args: unknown[],
    ack: Ack | undefined,
  ) => void | Promise<void>
  /** Is called when the client has answered a ping. */
  readonly onPong?: (socket: Socket) => void
  /** Whether the client with this `data` may continue as `socket`. Default: any client that knows its private id may. */
  readonly mayRecover?: (socket: Socket, data: unknown) => boolean
  /** Is called after the client has reconnected and was sent the missed events. */
  readonly onRecover?: (socket: Socket) => void
  /** Is called once, when the socket has left for good. */
  readonly onDisconnect?: (socket: Socket, reason: DisconnectReason) => void
}
