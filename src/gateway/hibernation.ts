/**
 * A socket server whose WebSockets hibernate: while nothing is said its object may leave memory, and a socket
 * goes on from its attachment. One alarm pings them all.
 *
 * @module
 */

import type { SleepingSocket, SocketKeeper, SocketSeat } from '../core/hosted.ts'
import { isWebSocket, platform, type RawSocket, type RawSocketHandlers } from '../http/platform.ts'
import { RESTART, type SocketEndpoint } from '../socket/engine/engine.ts'
import type { EngineLimits, EngineSettings } from '../socket/engine/options.ts'
import type { SessionSnapshot } from '../socket/engine/session-contracts.ts'
import { readForwarded } from './forwarded.ts'

/** Milliseconds between looks at clients that are on polling, or move from it. */
const POLLING_TICK_MS = 100

/** The options with which the server of an object is to be made. */
export const HIBERNATING: Pick<EngineLimits, 'now' | 'ticks'> = { ticks: 'caller', now: () => Date.now() }

/** How sockets hibernate. */
export interface HibernationOptions extends Pick<EngineSettings, 'pingInterval'> {
  /** Told of a socket that cannot be kept, and is closed. */
  readonly onError: (error: unknown) => void
}

/** What an object does with its server. */
export class Hibernation implements SocketKeeper {
  readonly #seat: SocketSeat
  readonly #server: SocketEndpoint
  readonly #pingInterval: number
  readonly #onError: (error: unknown) => void
  readonly #sockets = new Map<SleepingSocket, HibernatingEnd>()
  #alarmAt = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined

  /** Goes on with the sockets that are there. */
  constructor(seat: SocketSeat, server: SocketEndpoint, { pingInterval, onError }: HibernationOptions) {
    this.#seat = seat
    this.#server = server
    this.#pingInterval = pingInterval
    this.#onError = onError
    for (const socket of seat.sockets()) this.#wake(socket)
  }

  async fetch(request: Request): Promise<Response> {
    const response = await this.#server.fetch(
      request,
      platform({
        ...readForwarded(request.headers),
        waitUntil: promise => this.#seat.waitUntil(promise),
        upgrade: handlers => this.#upgrade(request, handlers),
      }),
    )
    this.#schedule()
    return response
  }

  message(socket: SleepingSocket, message: string | ArrayBuffer): void {
    this.#sockets.get(socket)?.message(message)
  }

  close(socket: SleepingSocket, code: number, reason: string): void {
    const end = this.#sockets.get(socket)
    this.#sockets.delete(socket)
    // The closing handshake is not answered by itself (RFC 6455, section 7.1.1).
    end?.close()
    end?.closed(code, reason)
  }

  /** Pings go out to all at once, those too that would be due before the next alarm. */
  alarm(): void {
    this.#alarmAt = Number.POSITIVE_INFINITY
    this.#server.tick(this.#pingInterval / 2)
    this.#schedule()
  }

  #upgrade(request: Request, handlers: RawSocketHandlers): Response | undefined {
    if (!isWebSocket(request.headers.get('upgrade'))) return undefined
    const { response, socket } = this.#seat.accept()
    this.#connect(socket, handlers).open()
    return response
  }

  /** A socket goes on from its attachment. One that has none, or one that cannot be read, is nobody: it is closed. */
  #wake(socket: SleepingSocket): void {
    const end = this.#connect(socket, undefined)
    try {
      const snapshot = socket.deserializeAttachment()
      // It never said who it is.
      if (snapshot === null) return end.close(RESTART)
      end.handlers = this.#server.restore(snapshot as SessionSnapshot, end)
    } catch (error) {
      this.#onError(error)
      end.close(RESTART)
    }
  }

  #connect(socket: SleepingSocket, handlers: RawSocketHandlers | undefined): HibernatingEnd {
    const end = new HibernatingEnd(socket, handlers, this.#onError)
    this.#sockets.set(socket, end)
    return end
  }

  /** Sees to it that time passes: by an alarm, and by a timer while a client that polls keeps the object awake. */
  #schedule(): void {
    if (!this.#server.isAtRest()) this.#timer ??= setInterval(() => this.#tick(), POLLING_TICK_MS)
    const dueAt = this.#server.dueAt()
    if (dueAt >= this.#alarmAt) return
    this.#alarmAt = dueAt
    this.#seat.wakeAt(Math.max(dueAt, Date.now() + 1))
  }

  #tick(): void {
    this.#server.tick()
    if (!this.#server.isAtRest()) return
    if (this.#timer !== undefined) clearInterval(this.#timer)
    this.#timer = undefined
    this.#schedule()
  }
}

/** The server's end of a WebSocket that may outlive the object's memory. */
class HibernatingEnd implements RawSocket {
  handlers: RawSocketHandlers | undefined
  readonly #socket: SleepingSocket
  readonly #onError: (error: unknown) => void
  #isChanged = false

  constructor(
    socket: SleepingSocket,
    handlers: RawSocketHandlers | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#socket = socket
    this.#onError = onError
    this.handlers = handlers
  }

  open(): void {
    this.handlers?.open(this)
  }

  message(message: string | ArrayBuffer): void {
    this.handlers?.message(this, typeof message === 'string' ? message : new Uint8Array(message))
  }

  closed(code: number, reason: string): void {
    this.handlers?.close(this, code, reason)
  }

  /** Whoever changed it may have more to change in this turn; the object cannot sleep before that is over. */
  changed(): void {
    if (this.#isChanged) return
    this.#isChanged = true
    queueMicrotask(() => this.#save())
  }

  /** Keeps what the socket needs to go on, where that has changed. */
  #save(): void {
    if (!this.#isChanged) return
    this.#isChanged = false
    try {
      const snapshot = this.handlers?.snapshot?.()
      if (snapshot !== undefined) this.#socket.serializeAttachment(snapshot)
    } catch (error) {
      // More than an attachment holds: it could not go on after a sleep.
      this.#onError(error)
      this.close(1009, 'too large')
    }
  }

  send(data: string | Uint8Array): void {
    // What the client is told may rest on what is to be kept.
    this.#save()
    try {
      this.#socket.send(data)
    } catch {
      // It is closed; that is told to `closed`.
    }
  }

  close(code?: number, reason?: string): void {
    try {
      this.#socket.close(code, reason)
    } catch {
      // It was closed before.
    }
  }
}
