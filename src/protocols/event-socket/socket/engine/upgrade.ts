/**
 * The two ways to a WebSocket. A session begins on one, or a session on polling moves to one (Engine.IO, "Upgrade").
 *
 * @module
 */

import type { RawSocket, RawSocketHandlers } from '../../../../http/platform.ts'
import type { CloseReason } from './connection.ts'
import { type Frame, PROBE_FRAME, PROBED_FRAME } from './packet.ts'
import type { Places } from './places.ts'
import type { Session } from './session.ts'
import type { Attempt, SessionSnapshot } from './session-contracts.ts'

/**
 * Milliseconds for which a poll after the probe is held. The client may already have completed the upgrade, and that frame
 * may still be on its way. So the poll is not answered at once.
 */
const HOLD = 100

const UPGRADE_FRAME = '5'

/** The WebSocket of a session that begins on it or is restored. */
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
    // The closure holds parts of the request, which are no longer needed.
    this.#opened = undefined
  }

  message(_socket: RawSocket, data: Frame): void {
    this.#session?.receive(data)
  }

  close(_socket: RawSocket, code: number): void {
    this.#session?.socketClosed(reasonOf(code))
  }

  snapshot(): SessionSnapshot | undefined {
    return this.#session?.snapshot()
  }
}

/** The WebSocket of a session that is still on polling. */
export class UpgradeSocket implements RawSocketHandlers, Attempt {
  readonly maxPayload: number
  isProbed = false
  readonly #session: Session
  readonly #places: Places
  readonly #until: number
  #holdUntil = Number.POSITIVE_INFINITY
  #socket: RawSocket | undefined
  readonly #isTextOnly: boolean
  #isOver = false
  #hasMoved = false
  /** Whether the WebSocket was told to close, and holds a place until it has. */
  #isClosing = false

  /**
   * `until` is the time by which the client must complete the upgrade. With `isTextOnly`, the client accepts no binary
   * frames.
   */
  constructor(
    { maxPayload }: { readonly maxPayload: number },
    session: Session,
    places: Places,
    until: number,
    isTextOnly: boolean,
  ) {
    this.maxPayload = maxPayload
    this.#isTextOnly = isTextOnly
    this.#session = session
    this.#places = places
    this.#until = until
  }

  get dueAt(): number {
    return Math.min(this.#until, this.#holdUntil)
  }

  open(socket: RawSocket): void {
    this.#socket = socket
    if (this.#isOver) this.#close(socket)
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
    if (this.#hasMoved) return this.#session.socketClosed(reasonOf(code))
    if (this.#isClosing) this.#places.give(this.#session.handshake)
    this.#leave()
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

  /** Gives up the upgrade. The session stays on polling. */
  abort(): void {
    this.#leave()
    if (this.#socket !== undefined) this.#close(this.#socket)
  }

  #close(socket: RawSocket): void {
    if (!this.#isClosing) this.#places.take(this.#session.handshake)
    this.#isClosing = true
    socket.close(PROTOCOL_ERROR)
  }

  #answerProbe(socket: RawSocket): void {
    this.isProbed = true
    socket.send(PROBED_FRAME)
    // A poll that is already waiting ends at once, so that the client can pause polling.
    this.#session.releasePoll()
  }

  #leave(): void {
    this.#isOver = true
    if (this.#session.attempt !== this) return
    this.#session.attempt = undefined
    this.#session.releasePoll()
  }
}

/** The close code for what the protocol does not allow (RFC 6455, section 7.4.1). */
const PROTOCOL_ERROR = 1002

/** The WebSocket of a session that has one already. It is closed ("WebSocket"). */
export function surplusSocket({ handshake }: Session, places: Places): RawSocketHandlers {
  return {
    open(socket) {
      places.take(handshake)
      socket.close(PROTOCOL_ERROR)
    },
    message() {},
    close: () => places.give(handshake),
  }
}

/** The close code of a runtime that limits messages by itself (RFC 6455, section 7.4.1). */
const TOO_LARGE = 1009

function reasonOf(code: number): CloseReason {
  return code === TOO_LARGE ? 'payload too large' : 'transport close'
}
