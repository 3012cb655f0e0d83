/**
 * The two ways to a WebSocket. A session begins on one, or a session on polling moves to one (Engine.IO, "Upgrade").
 *
 * @module
 */

import type { RawSocket, RawSocketHandlers } from '../../../../http/platform.ts'
import type { CloseReason } from './connection.ts'
import type { ConnectionSlots } from './connection-slots.ts'
import { type Frame, PROBE_FRAME, PROBED_FRAME } from './packet.ts'
import type { EngineSession } from './session.ts'
import type { SessionSnapshot, UpgradeAttempt } from './session-contracts.ts'

/**
 * Milliseconds for which a poll after the probe is held. The client may already have completed the upgrade, and that frame
 * may still be on its way. So the poll is not answered at once.
 */
const HOLD = 100

const UPGRADE_FRAME = '5'

/** The WebSocket of a session that begins on it or is restored. */
export class SessionSocket implements RawSocketHandlers {
  readonly maxPayload: number
  #opened: ((socket: RawSocket) => EngineSession) | undefined
  #session: EngineSession | undefined

  constructor(
    maxPayload: number,
    session: EngineSession | undefined,
    opened: ((socket: RawSocket) => EngineSession) | undefined,
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
export class UpgradeSocket implements RawSocketHandlers, UpgradeAttempt {
  readonly maxPayload: number
  isProbed = false
  readonly #session: EngineSession
  readonly #slots: ConnectionSlots
  readonly #until: number
  #holdUntil = Number.POSITIVE_INFINITY
  #socket: RawSocket | undefined
  readonly #isTextOnly: boolean
  #isOver = false
  #hasMoved = false
  /** Whether the server has closed the WebSocket, which holds a slot until the client has closed it too. */
  #isClosing = false

  /**
   * `until` is the time by which the client must complete the upgrade. With `isTextOnly`, the client accepts no binary
   * frames.
   */
  constructor(
    { maxPayload }: { readonly maxPayload: number },
    session: EngineSession,
    slots: ConnectionSlots,
    until: number,
    isTextOnly: boolean,
  ) {
    this.maxPayload = maxPayload
    this.#isTextOnly = isTextOnly
    this.#session = session
    this.#slots = slots
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
    if (this.#isClosing) this.#slots.give(this.#session.handshake)
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
    if (!this.#isClosing) this.#slots.take(this.#session.handshake)
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

/** The close code for a violation of the protocol (RFC 6455, section 7.4.1). */
const PROTOCOL_ERROR = 1002

/** The WebSocket of a session that has one already. It is closed ("WebSocket"). */
export function surplusSocket({ handshake }: EngineSession, slots: ConnectionSlots): RawSocketHandlers {
  return {
    open(socket) {
      slots.take(handshake)
      socket.close(PROTOCOL_ERROR)
    },
    message() {},
    close: () => slots.give(handshake),
  }
}

/** The close code of a runtime that limits messages by itself (RFC 6455, section 7.4.1). */
const TOO_LARGE = 1009

function reasonOf(code: number): CloseReason {
  return code === TOO_LARGE ? 'payload too large' : 'transport close'
}
