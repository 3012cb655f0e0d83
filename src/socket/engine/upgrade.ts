/**
 * The two ways to a WebSocket: a session that begins on one, and a session on polling that moves to one
 * (Engine.IO, "Upgrade").
 *
 * @module
 */

import type { RawSocket, RawSocketHandlers } from '../../http/platform.ts'
import type { CloseReason } from './connection.ts'
import { type Frame, PROBE_FRAME, PROBED_FRAME } from './packet.ts'
import type { Session } from './session.ts'
import type { Attempt, SessionSnapshot } from './session-contracts.ts'

/**
 * Milliseconds that a poll which comes after the probe is held. The client may have completed the upgrade on its
 * WebSocket by then, which has overtaken this poll or not: so it is not answered at once.
 */
const HOLD = 100

const UPGRADE_FRAME = '5'

/** The WebSocket of a session that is made when it opens, or was there before. */
export class SessionSocket implements RawSocketHandlers {
  readonly maxPayload: number
  #opened: ((socket: RawSocket) => Session) | undefined
  #session: Session | undefined

  constructor(
    maxPayload: number,
    session: Session | undefined,
    opened: ((socket: RawSocket) => Session) | undefined,
  ) {
    this.maxPayload = maxPayload
    this.#session = session
    this.#opened = opened
  }

  open(socket: RawSocket): void {
    this.#session = this.#opened?.(socket)
    // It holds what the request needed.
    this.#opened = undefined
  }

  message(_socket: RawSocket, data: Frame): void {
    this.#session?.receive(data)
  }

  close(_socket: RawSocket, code: number): void {
    this.#session?.end(reasonOf(code))
  }

  snapshot(): SessionSnapshot | undefined {
    return this.#session?.snapshot()
  }
}

/** The WebSocket of a session that is on polling still. */
export class UpgradeSocket implements RawSocketHandlers, Attempt {
  readonly maxPayload: number
  isProbed = false
  readonly #session: Session
  readonly #until: number
  #holdUntil = Number.POSITIVE_INFINITY
  #socket: RawSocket | undefined
  readonly #isTextOnly: boolean
  #isOver = false
  #hasMoved = false

  /** `until`: when the client must have completed the upgrade. `isTextOnly`: it takes no binary frames. */
  constructor(maxPayload: number, session: Session, until: number, isTextOnly: boolean) {
    this.maxPayload = maxPayload
    this.#isTextOnly = isTextOnly
    this.#session = session
    this.#until = until
  }

  get dueAt(): number {
    return Math.min(this.#until, this.#holdUntil)
  }

  open(socket: RawSocket): void {
    this.#socket = socket
    if (this.#isOver) socket.close()
  }

  message(socket: RawSocket, data: Frame): void {
    if (this.#hasMoved) return this.#session.receive(data)
    if (this.#isOver) return
    if (data === PROBE_FRAME) return this.#answerProbe(socket)
    if (data !== UPGRADE_FRAME || !this.isProbed) return this.abort()
    this.#hasMoved = true
    this.#session.openSocket(socket, this.#isTextOnly)
  }

  close(_socket: RawSocket, code: number): void {
    if (this.#hasMoved) this.#session.end(reasonOf(code))
    else this.#leave()
  }

  snapshot(): SessionSnapshot | undefined {
    return this.#hasMoved ? this.#session.snapshot() : undefined
  }

  holdPoll(now: number): void {
    if (this.isProbed) this.#holdUntil = now + HOLD
  }

  tick(now: number): void {
    if (now >= this.#until) return this.abort()
    if (now < this.#holdUntil) return
    this.#holdUntil = Number.POSITIVE_INFINITY
    this.#session.releasePoll()
  }

  /** The session stays on polling. */
  abort(): void {
    this.#leave()
    this.#socket?.close(1002)
  }

  #answerProbe(socket: RawSocket): void {
    this.isProbed = true
    socket.send(PROBED_FRAME)
    // A poll that was there before is let go at once, so that the client can pause polling.
    this.#session.releasePoll()
  }

  #leave(): void {
    this.#isOver = true
    if (this.#session.attempt !== this) return
    this.#session.attempt = undefined
    this.#session.releasePoll()
  }
}

/** A runtime that bounds messages by itself has closed with this (RFC 6455, section 7.4.1). */
const TOO_LARGE = 1009

function reasonOf(code: number): CloseReason {
  return code === TOO_LARGE ? 'payload too large' : 'transport close'
}
