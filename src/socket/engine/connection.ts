/** What the handlers of an engine see of a client. */

import type { Identity } from '../../http/platform.ts'

/** Why a session ended, in the words of Socket.IO where it has one. */
export type CloseReason =
  | 'transport close'
  | 'client close'
  | 'server close'
  | 'ping timeout'
  | 'connect timeout'
  | 'parse error'
  | 'payload too large'
  | 'slow reader'

/** What the client's first request said. JSON, so that it can be kept with a session that sleeps. */
export interface Handshake {
  /** The absolute URL, with its query; without it after a sleep. */
  readonly url: string
  /** Of the headers those that the option `headers` names, in lower case. None after a sleep. */
  readonly headers: Readonly<Record<string, string>>
  /** The client's address, where the runtime or `trustProxy` vouches for it. */
  readonly ip?: string
  /** Who asks, where the platform object of the request says so. */
  readonly identity?: Identity
  /** The id of the request, where the platform object of the request has one. */
  readonly requestId?: string
}

/** One client, whatever transport it is on. */
export interface Connection {
  /** The session's id: whoever knows it can speak for the client. */
  readonly id: string
  readonly handshake: Handshake
  readonly transport: 'polling' | 'websocket'
  readonly isOpen: boolean
  /** It is a WebSocket that does not speak Engine.IO: every frame is a message. */
  readonly isPlain: boolean
  /** So much waits for the client that whoever can should wait before saying more. */
  readonly isCongested: boolean
  /** For the handlers' own use. */
  context: unknown
  /** Sends a message, in order. Does nothing on a connection that has ended. */
  send(data: string | Uint8Array): void
  /** The same for a frame that is encoded already: a message's with its type, `4`, before the text. */
  sendFrame(frame: string | Uint8Array): void
  /** The client has answered a ping, in the way of a plain connection. */
  pong(): void
  /** What `snapshot` gives has changed. */
  touch(): void
  /** Lifts the connect timeout. */
  admit(): void
  /** Ends the connection, by default with `server close`. The client may come back by itself. */
  close(reason?: CloseReason): void
}
