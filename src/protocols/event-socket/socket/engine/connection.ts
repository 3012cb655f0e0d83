/** The interface of a client's connection, for the handlers of an engine. */

import { type Identity, keptOf } from '../../../../http/platform.ts'

/** Why a session ended. The names are those of Socket.IO where it has one. */
export type CloseReason =
  | 'transport close'
  | 'client close'
  | 'server close'
  | 'ping timeout'
  | 'connect timeout'
  | 'parse error'
  | 'payload too large'
  | 'slow reader'

/** The client's first request. It is JSON, so that it can be stored with a sleeping session. */
export interface Handshake {
  /** The absolute URL with its query. After a sleep it has no query. */
  readonly url: string
  /** The headers that the option `headers` names, in lower case. Empty after a sleep. */
  readonly headers: Readonly<Record<string, string>>
  /** The client's address, if the runtime or `trustProxy` provides it. */
  readonly ip?: string
  /** The authenticated user, if the platform object of the request has one. */
  readonly identity?: Identity
  /** The id of the request, if the platform object of the request has one. */
  readonly requestId?: string
}

/** The handshake of a sleeping session: without headers, and with the necessary members of the identity. */
export function keptHandshake({ identity, ...rest }: Handshake): Handshake {
  return {
    ...rest,
    url: withoutQuery(rest.url),
    headers: {},
    ...(identity && { identity: keptOf(identity) }),
  }
}

/** Removes the query, which may contain credentials. */
function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** One client on any transport. */
export interface Connection {
  /** The session's id. It is a secret: anyone who knows it can act as the client. */
  readonly id: string
  readonly handshake: Handshake
  readonly transport: 'polling' | 'websocket'
  readonly isOpen: boolean
  /** Whether this is a WebSocket without Engine.IO. Then every frame is a message. */
  readonly isPlain: boolean
  /** Whether so many bytes wait for the client that the sender should pause. */
  readonly isCongested: boolean
  /** Free for the handlers to use. */
  context: unknown
  /** Sends a message. Messages arrive in order. Does nothing after the connection has ended. */
  send(data: string | Uint8Array): void
  /** Sends an encoded frame. The text of a message has its type, `4`, in front. */
  sendFrame(frame: string | Uint8Array): void
  /** Call this when the client of a plain connection has answered a ping. */
  pong(): void
  /** Call this when the result of `snapshot` has changed. */
  touch(): void
  /** Ends the connect timeout. */
  admit(): void
  /** Ends the connection. Default: `server close`. The client may reconnect. */
  close(reason?: CloseReason): void
}
