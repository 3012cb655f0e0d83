/**
 * The interfaces around a session: the sinks of its frames, its events and settings, and its snapshot.
 *
 * @module
 */

import type { CloseReason, Connection, Handshake } from './connection.ts'
import type { Frame } from './packet.ts'

/** Takes the frames for a WebSocket. */
export interface SocketSink {
  send(frame: Frame): void
  close(code?: number, reason?: string): void
  readonly bufferedAmount?: number | undefined
  /** Is called when the result of the session's `snapshot` has changed. */
  changed?(): void
}

/** A `GET` that waits for packets. */
export interface PollSink {
  /** Is called at most once for a poll, when a packet is ready. Call `Session.drain` soon. */
  ready(): void
  /** Ends the poll with a payload. Undefined refuses the poll, because the session has left polling. */
  end(payload: string | undefined): void
}

/** A WebSocket that asks to become the session's transport ("Upgrade"). */
export interface UpgradeAttempt {
  /** Whether the client's probe has been answered. The client then waits for its last poll to end. */
  readonly isProbed: boolean
  readonly dueAt: number
  tick(now: number): void
  /** Is called for a poll after the probe. The poll may wait a moment for the upgrade. */
  holdPoll(now: number): void
  abort(): void
}

/** A session that has ended. It is closed once a last poll has taken its packets, or at once if there are none. */
type Ended = Connection & { readonly isClosed: boolean }

/** The events of a session. */
export interface SessionEvents {
  message(session: Connection, data: string | Uint8Array): void
  /** The client has received everything that was sent before the last ping. */
  pong(session: Connection): void
  close(session: Ended, reason: CloseReason): void
  /** Is called when the session is closed and its connection has ended. It may come before `close`. */
  gone(session: Connection): void
  /** Returns the data that the layer above stores with the session, as JSON. */
  snapshot?(session: Connection): unknown
}

/** The settings of a session. Times are milliseconds, and sizes are bytes. */
export interface EngineSessionSettings {
  readonly pingInterval: number
  readonly pingTimeout: number
  readonly connectTimeout: number
  readonly maxPayload: number
  readonly maxBufferedBytes: number
  readonly plainPing: string
  readonly now: () => number
  /** What admits a client: its first packet, or a call of `admit`. */
  readonly admission: 'packet' | 'caller'
}

/**
 * The state from which a session on WebSocket can continue elsewhere: a few hundred bytes of JSON. Times are of the
 * engine's clock.
 */
export interface SessionSnapshot {
  readonly sid: string
  readonly isPlain?: boolean
  /** Whether the client accepts no binary frames. */
  readonly isTextOnly?: boolean
  /** The handshake without headers and query, which may contain credentials. */
  readonly handshake: Handshake
  readonly heartbeat: readonly [pingAt: number | null, pongBy: number | null]
  /** The data of the layer above. */
  readonly layer?: unknown
}
