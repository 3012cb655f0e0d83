/**
 * What a session has to do with: where its frames go, what it tells and needs to know, and what is kept of it.
 *
 * @module
 */

import type { CloseReason, Connection, Handshake } from './connection.ts'
import type { Frame } from './packet.ts'

/** Where the frames of a WebSocket go. */
export interface SocketSink {
  send(frame: Frame): void
  close(code?: number, reason?: string): void
  readonly bufferedAmount?: number | undefined
  /** What `snapshot` of the session gives has changed. */
  changed?(): void
}

/** A `GET` that waits for packets. */
export interface PollSink {
  /** There is something to take: call `Session.drain` soon. At most once a poll. */
  ready(): void
  /** Ends the poll with a payload, or refuses it where it came to a session that has left polling. */
  end(payload: string | undefined): void
}

/** A WebSocket that asks to become the session's transport ("Upgrade"). */
export interface Attempt {
  /** The client has been answered its probe, and waits for its last poll to end. */
  readonly isProbed: boolean
  readonly dueAt: number
  tick(now: number): void
  /** A poll came after the probe: it may wait a moment for the upgrade. */
  holdPoll(now: number): void
  abort(): void
}

/** A session that has ended: nothing of it is left once it is closed, but a poll may still take its last packets. */
type Ended = Connection & { readonly isClosed: boolean }

/** What the session tells of itself. */
export interface SessionEvents {
  message(session: Connection, data: string | Uint8Array): void
  /** The client has seen everything that was sent before the last ping. */
  pong(session: Connection): void
  close(session: Ended, reason: CloseReason): void
  /** What the layer above keeps for the session, as JSON. */
  snapshot?(session: Connection): unknown
}

/** What the session needs to know. Times are milliseconds, sizes bytes. */
export interface SessionSettings {
  readonly pingInterval: number
  readonly pingTimeout: number
  readonly connectTimeout: number
  readonly maxPayload: number
  readonly maxBufferedBytes: number
  readonly plainPing: string
  readonly now: () => number
  /** Whether any packet of the client admits it, or the caller only, with `admit`. */
  readonly admission: 'packet' | 'caller'
}

/** What a session on WebSocket needs to go on elsewhere: a few hundred bytes of JSON. Times are of the engine's clock. */
export interface SessionSnapshot {
  readonly sid: string
  readonly isPlain?: boolean
  /** The client takes no binary frames. */
  readonly isTextOnly?: boolean
  /** Without headers and query, which may hold credentials. */
  readonly handshake: Handshake
  readonly heartbeat: readonly [pingAt: number | null, pongBy: number | null]
  /** What the layer above keeps. */
  readonly layer?: unknown
}
