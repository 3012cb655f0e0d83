/** What the handlers of a namespace see, and what they may say. */

import type { CloseReason, Handshake } from '../engine/connection.ts'

/** How a client asks to join a namespace. */
export interface SocketHandshake extends Handshake {
  readonly nsp: string
  /** What a client that was here before says of that, where the namespace itself lets clients come back. */
  readonly recovery?: { readonly pid: string; readonly offset: unknown }
  /** The payload of its CONNECT packet, `{}` if it has none. Not checked: it is whatever the client says. */
  readonly auth: Readonly<Record<string, unknown>>
}

/**
 * Whether a client may join. `data` goes to `Socket.data`; it must be small JSON where snapshots are taken. `error` is
 * what the client's `connect_error` gets.
 */
export type Admission =
  | {
      readonly data?: unknown
      /**
       * Lets the client come back by what the namespace itself keeps, where the server has `recovery` off: the public id
       * of the socket, and a private one that the client will name. Each event must then end with an argument that
       * is text, the place in it.
       */
      readonly session?: { readonly id: string; readonly pid: string }
      readonly error?: undefined
    }
  | { readonly error: { readonly message: string; readonly data?: unknown } }

/** Why a socket left its namespace for good. */
export type DisconnectReason = CloseReason | 'client disconnect' | 'server disconnect'

/** After these the client knows that it is gone, or is not to come back. */
const FINAL: ReadonlySet<DisconnectReason> = new Set([
  'server close',
  'parse error',
  'payload too large',
  'client disconnect',
  'server disconnect',
])

/** Whether a client that is gone for this reason may come back by itself. */
export function mayComeBack(reason: DisconnectReason): boolean {
  return !FINAL.has(reason)
}

/** Answers an event, once; a second answer is dropped. */
export type Ack = (...args: unknown[]) => void

/** One client in one namespace. With recovery on it outlives its connection. */
export interface Socket {
  /** Public: other than the session's id it gives no power over the client. */
  readonly id: string
  readonly nsp: string
  readonly handshake: Handshake
  /** What `authenticate` gave, or anything that the handlers put there. */
  data: unknown
  /** False once it has left, and while recovery waits for its client to come back. */
  readonly isConnected: boolean
  /** So much waits for the client that whoever can should wait before saying more. */
  readonly isCongested: boolean
  /** To be called after something inside `data` has changed, where snapshots are taken. Giving it anew is noticed. */
  touch(): void
  /** Sends an event. Bytes among the arguments, at any depth, go as attachments. With recovery on nothing is lost. */
  emit(event: string, ...args: unknown[]): void
  /**
   * Sends an event and gives the client's answer; undefined where none came in time, or the client left. Such an event
   * is not sent again when the client comes back.
   */
  ask(event: string, args: readonly unknown[], timeoutMs?: number): Promise<unknown[] | undefined>
  /** Makes the client leave the namespace; the stock client does not come back by itself. */
  disconnect(): void
}

/** The handlers of a namespace. What they throw is told to `onError`. */
export interface Namespace {
  /**
   * Whether the client may join. A throw refuses with its text where it is a `ServableError` of the caller's making,
   * and anything that is no object refuses. Default: everyone may. Asked again when a client comes back.
   */
  readonly authenticate?: (handshake: SocketHandshake) => Admission | Promise<Admission>
  readonly onConnect?: (socket: Socket, handshake: SocketHandshake) => void
  /** The socket goes on from a snapshot, with the `data` that it had. A throw closes its connection. */
  readonly onRestore?: (socket: Socket) => void
  /** `ack` is there where the client wants an answer. */
  readonly onEvent?: (
    socket: Socket,
    event: string,
    args: unknown[],
    ack: Ack | undefined,
  ) => void | Promise<void>
  /** Whether the client that `data` describes may go on as `socket`. Default: whoever knows its private id may. */
  readonly mayRecover?: (socket: Socket, data: unknown) => boolean
  /** The client is back, and has got what it missed. */
  readonly onRecover?: (socket: Socket) => void
  /** Once, when the socket has left for good. */
  readonly onDisconnect?: (socket: Socket, reason: DisconnectReason) => void
}
