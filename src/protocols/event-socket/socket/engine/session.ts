/**
 * One session of Engine.IO v4 as a state machine. It knows no runtime and no timer. Frames and ticks come in, and frames go
 * out through a sink. So a snapshot of it can be stored while it is idle, and it can continue elsewhere.
 *
 * @module
 */

import { ServableError } from '../../../../base/errors.ts'
import { isLonger } from '../../../../web/body.ts'
import { type CloseReason, type Connection, type Handshake, keptHandshake } from './connection.ts'
import { Heartbeat } from './heartbeat.ts'
import {
  BASE64,
  CLOSE,
  CLOSE_FRAME,
  encodePayload,
  type Frame,
  MESSAGE,
  messageFrame,
  NOOP,
  NOOP_FRAME,
  PING_FRAME,
  PONG,
  readTextFrame,
  textFrame,
} from './packet.ts'
import { SendQueue } from './send-queue.ts'
import type {
  EngineSessionSettings,
  PollSink,
  SessionEvents,
  SessionSnapshot,
  SocketSink,
  UpgradeAttempt,
} from './session-contracts.ts'

/** Milliseconds for which a session that the server closed waits for the poll that takes its last packets. */
const LINGER = 30_000

/** WebSocket close codes by reason (RFC 6455, section 7.4.1). */
const CLOSE_CODES: Readonly<Record<CloseReason, number>> = {
  'transport close': 1000,
  'client close': 1000,
  'server close': 1000,
  'ping timeout': 1000,
  'connect timeout': 1008,
  'parse error': 1002,
  'payload too large': 1009,
  'slow reader': 1008,
}

/** A session. The engine has one for each client. */
export class EngineSession implements Connection {
  readonly id: string
  readonly handshake: Handshake
  readonly isPlain: boolean
  context: unknown
  /** Whether a `POST` is being read. A second `POST` at the same time ends the session. */
  isPosting = false
  /** The upgrade in progress. There is at most one. */
  attempt: UpgradeAttempt | undefined
  /** Why the session ended. Undefined before. */
  endedBy: CloseReason | undefined
  readonly #settings: EngineSessionSettings
  readonly #events: SessionEvents
  readonly #heartbeat: Heartbeat
  /** Made when something has to wait for the first time. A session that begins on WebSocket needs none. */
  #queue: SendQueue | undefined
  #socket: SocketSink | undefined
  /** Whether the client accepts no binary frames. */
  #isTextOnly = false
  #poll: PollSink | undefined
  #isPollNotified = false
  #state: 'open' | 'lingering' | 'closed' = 'open'
  /** How much more may wait: the size of the last frame that was sent while the queue was within its limit. */
  #allowance = 0
  #admitBy: number
  #lingerUntil = Number.POSITIVE_INFINITY

  constructor(
    id: string,
    handshake: Handshake,
    settings: EngineSessionSettings,
    events: SessionEvents,
    now: number,
    isPlain = false,
  ) {
    this.id = id
    this.handshake = handshake
    this.isPlain = isPlain
    this.#settings = settings
    this.#events = events
    this.#heartbeat = new Heartbeat(settings, now)
    this.#admitBy = now + settings.connectTimeout
  }

  /** Restores a session on WebSocket from the result of `snapshot`. Throws `internal_error` if it is invalid. */
  static restore(
    snapshot: SessionSnapshot,
    socket: SocketSink,
    settings: EngineSessionSettings,
    events: SessionEvents,
    now: number,
  ): EngineSession {
    if (!isSessionSnapshot(snapshot)) throw unreadable('the session')
    const { sid, handshake, isPlain } = snapshot
    const session = new EngineSession(sid, handshake, settings, events, now, isPlain)
    session.#heartbeat.restore(snapshot.heartbeat)
    session.admit()
    session.#socket = socket
    session.#isTextOnly = snapshot.isTextOnly === true
    return session
  }

  /** Returns the state for {@link EngineSession.restore}. Undefined if the session is not on a WebSocket or not admitted. */
  snapshot(): SessionSnapshot | undefined {
    if (this.#state !== 'open' || this.#socket === undefined || Number.isFinite(this.#admitBy))
      return undefined
    return {
      sid: this.id,
      ...(this.isPlain && { isPlain: true }),
      ...(this.#isTextOnly && { isTextOnly: true }),
      handshake: keptHandshake(this.handshake),
      heartbeat: this.#heartbeat.snapshot(),
      layer: this.#events.snapshot?.(this),
    }
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get transport(): 'polling' | 'websocket' {
    return this.#socket === undefined ? 'polling' : 'websocket'
  }

  get hasPoll(): boolean {
    return this.#poll !== undefined
  }

  /** Whether the session is on a WebSocket. During an upgrade it is still on polling. */
  get isAtRest(): boolean {
    return this.#socket !== undefined
  }

  get isCongested(): boolean {
    const { maxBufferedBytes } = this.#settings
    return this.#backlog * 4 > maxBufferedBytes * 3
  }

  /** Bytes that wait for the client. If the runtime does not report them, those that no pong has confirmed. */
  get #backlog(): number {
    if (this.#socket === undefined) return this.#queue?.bytes ?? 0
    return this.#socket.bufferedAmount ?? this.#heartbeat.unread
  }

  touch(): void {
    this.#socket?.changed?.()
  }

  admit(): void {
    this.#admitBy = Number.POSITIVE_INFINITY
    this.touch()
  }

  pong(): void {
    this.#heartbeat.pong()
    this.touch()
    this.#events.pong(this)
  }

  send(data: string | Uint8Array): void {
    this.sendFrame(this.isPlain ? data : messageFrame(data))
  }

  sendFrame(frame: Frame): void {
    if (this.#state !== 'open') return
    // A single frame may be larger than the limit. It is sent, and the limit grows by its size for the next frames.
    const { maxBufferedBytes } = this.#settings
    if (this.#backlog > maxBufferedBytes + this.#allowance) return this.end('slow reader')
    if (this.#backlog <= maxBufferedBytes) this.#allowance = frame.length
    if (this.#socket !== undefined) return this.#write(this.#socket, frame)
    this.#queue ??= new SendQueue()
    this.#queue.push(frame)
    this.#notifyPoll()
  }

  close(reason: CloseReason = 'server close'): void {
    this.end(reason)
  }

  /** Handles a frame of the client from any transport. */
  receive(frame: Frame): void {
    if (this.#state !== 'open') return
    if (Number.isFinite(this.#admitBy) && this.#settings.admission === 'packet') this.admit()
    if (this.#isTooLong(frame)) return this.end('payload too large')
    if (typeof frame !== 'string' || this.isPlain) return this.#events.message(this, frame)
    switch (frame.charCodeAt(0)) {
      case MESSAGE:
        return this.#events.message(this, frame.slice(1))
      case PONG:
        return this.pong()
      case CLOSE:
        return this.end('client close')
      case NOOP:
        return
      case BASE64:
        return this.#receiveBase64(frame)
      default:
        // Only the server opens and pings, and an upgrade is requested on the new transport.
        return this.end('parse error')
    }
  }

  #isTooLong(frame: Frame): boolean {
    const { maxPayload } = this.#settings
    return typeof frame === 'string' ? isLonger(frame, maxPayload) : frame.length > maxPayload
  }

  /** Handles bytes of a client that sends no binary frames. */
  #receiveBase64(text: string): void {
    const bytes = readTextFrame(text)
    if (bytes === undefined) this.end('parse error')
    else this.#events.message(this, bytes)
  }

  /** The earliest time at which a tick is needed. */
  get dueAt(): number {
    const dueAt = Math.min(this.#heartbeat.dueAt, this.#admitBy, this.#lingerUntil)
    return this.attempt === undefined ? dueAt : Math.min(dueAt, this.attempt.dueAt)
  }

  /**
   * Advances the time: sends pings, and ends the session after a timeout. Also sends pings that are due within `ahead`
   * milliseconds, because the next tick would be too late for them.
   */
  tick(now: number, ahead = 0): void {
    if (now + ahead < this.dueAt) return
    if (now >= this.#lingerUntil) return this.#finish()
    if (this.#state !== 'open') return
    if (now >= this.#admitBy) return this.end('connect timeout')
    this.attempt?.tick(now)
    const beat = this.#heartbeat.tick(now, ahead)
    if (beat === 'dead') this.end('ping timeout')
    else if (beat === 'ping') this.#ping()
  }

  /**
   * Puts the session on a WebSocket, at its opening or at the end of an upgrade, and sends the waiting frames. With
   * `isTextOnly`, bytes are sent as base64.
   */
  openSocket(socket: SocketSink, isTextOnly: boolean): void {
    this.#socket = socket
    this.#isTextOnly = isTextOnly
    this.attempt = undefined
    this.touch()
    const poll = this.#takePoll()
    poll?.end(undefined)
    for (const frame of this.#queue?.take() ?? []) {
      if (this.#state === 'open') this.#write(socket, frame)
    }
  }

  /** Ends a waiting poll with a `noop` ("Upgrade"). */
  releasePoll(): void {
    this.#takePoll()?.end(NOOP_FRAME)
  }

  /** Returns the waiting frames as a payload. Undefined if there are none. */
  takePayload(): string | undefined {
    const isLast = this.#state === 'lingering'
    if (!isLast && this.#hasNothing) return undefined
    const frames = this.#queue?.take() ?? []
    if (isLast) frames.push(CLOSE_FRAME)
    const payload = encodePayload(frames)
    if (isLast) this.#finish()
    return payload
  }

  /** Sets the poll that gets the next frames. */
  waitWith(poll: PollSink): void {
    this.#poll = poll
    this.#isPollNotified = false
    this.attempt?.holdPoll(this.#heartbeat.now)
  }

  /** Ends the waiting poll with the frames that were sent. */
  drain(poll: PollSink): void {
    if (this.#poll !== poll) return
    const payload = this.takePayload()
    if (payload === undefined) return
    this.#poll = undefined
    poll.end(payload)
  }

  /** Ends the session, and sends the end to the client as its transport does. */
  end(reason: CloseReason): void {
    if (this.#state !== 'open') return
    const socket = this.#socket
    this.#state = 'closed'
    this.endedBy = reason
    this.attempt?.abort()
    this.attempt = undefined
    if (socket !== undefined) socket.close(CLOSE_CODES[reason], reason)
    else this.#endPolling(reason)
    this.#events.close(this, reason)
    if (socket === undefined && this.isClosed) this.#events.gone(this)
  }

  /** Ends the session, whose WebSocket has closed. */
  socketClosed(reason: CloseReason): void {
    this.end(reason)
    this.#events.gone(this)
  }

  /** Ends the session on polling. If the server ends it, its last packets wait for the next poll. */
  #endPolling(reason: CloseReason): void {
    const poll = this.#takePoll()
    if (reason === 'client close') poll?.end(NOOP_FRAME)
    else if (poll !== undefined) poll.end(encodePayload([...(this.#queue?.take() ?? []), CLOSE_FRAME]))
    else if (reason === 'server close' && !this.#hasNothing) {
      this.#state = 'lingering'
      this.#lingerUntil = this.#heartbeat.now + LINGER
      return
    }
    this.#queue = undefined
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  #finish(): void {
    this.#state = 'closed'
    this.#lingerUntil = Number.POSITIVE_INFINITY
    this.#queue = undefined
    this.#events.gone(this)
  }

  get #hasNothing(): boolean {
    return this.#queue === undefined || this.#queue.isEmpty
  }

  #takePoll(): PollSink | undefined {
    const poll = this.#poll
    this.#poll = undefined
    return poll
  }

  #notifyPoll(): void {
    if (this.#poll === undefined || this.#isPollNotified) return
    this.#isPollNotified = true
    this.#poll.ready()
  }

  #ping(): void {
    this.touch()
    this.sendFrame(this.isPlain ? this.#settings.plainPing : PING_FRAME)
  }

  #write(socket: SocketSink, given: Frame): void {
    const frame = this.#isTextOnly ? textFrame(given) : given
    socket.send(frame)
    if (socket.bufferedAmount !== undefined) return
    // The runtime does not report waiting bytes. A pong confirms everything before its ping, so an early ping measures
    // them.
    const unread = this.#heartbeat.count(frame.length)
    if (unread <= this.#settings.maxBufferedBytes / 2) return
    if (this.#heartbeat.pingNow(this.#settings.now()))
      socket.send(this.isPlain ? this.#settings.plainPing : PING_FRAME)
  }
}

/** Checks a snapshot, which may be of another version or damaged. */
function isSessionSnapshot(value: unknown): value is SessionSnapshot {
  const { sid, handshake, heartbeat } = Object(value) as Partial<SessionSnapshot>
  const { url, headers } = Object(handshake) as Partial<Handshake>
  const isTime = (time: unknown) => time === null || typeof time === 'number'
  return (
    typeof sid === 'string' &&
    typeof url === 'string' &&
    Object(headers) === headers &&
    Array.isArray(heartbeat) &&
    heartbeat.length === 2 &&
    heartbeat.every(isTime)
  )
}

/** The error for an invalid snapshot. It repeats nothing of the snapshot, which may contain a key. */
export function unreadable(what: string): ServableError {
  return new ServableError('internal_error', `A snapshot cannot be read: ${what} in it cannot be used`)
}
