/**
 * A socket server whose WebSockets hibernate. While there is no traffic, the runtime may drop the object from memory. A
 * socket then continues from its attachment. A single alarm pings all sockets.
 *
 * @module
 */

import type { SleepingSocket, SocketObjectContext, SocketService } from '../../../core/hosted.ts'
import { isWebSocket, platform, type RawSocket, type RawSocketHandlers } from '../../../http/platform.ts'
import { RESTART, type SocketEndpoint } from '../socket/engine/engine.ts'
import type { EngineLimits, EngineSettings } from '../socket/engine/options.ts'
import type { SessionSnapshot } from '../socket/engine/session-contracts.ts'
import { readForwarded } from './forwarded.ts'

/** Milliseconds between ticks while clients use polling, or upgrade from it. */
const POLLING_TICK_MS = 100

/** Engine settings for the server of an object. */
export const HIBERNATING: Pick<EngineLimits, 'now' | 'ticks'> = { ticks: 'caller', now: () => Date.now() }

/** Options of hibernation. */
export interface HibernationOptions extends Pick<EngineSettings, 'pingInterval'> {
  /** Is called when a socket is closed because its state cannot be saved or restored. */
  readonly onError: (error: unknown) => void
}

/** Runs the server of an object. */
export class Hibernation implements SocketService {
  readonly #context: SocketObjectContext
  readonly #server: SocketEndpoint
  readonly #pingInterval: number
  readonly #onError: (error: unknown) => void
  readonly #sockets = new Map<SleepingSocket, HibernatingEnd>()
  #alarmAt = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined

  /** Restores the sockets that the object has. */
  constructor(
    context: SocketObjectContext,
    server: SocketEndpoint,
    { pingInterval, onError }: HibernationOptions,
  ) {
    this.#context = context
    this.#server = server
    this.#pingInterval = pingInterval
    this.#onError = onError
    for (const socket of context.sockets()) this.#wake(socket)
  }

  async fetch(request: Request): Promise<Response> {
    const response = await this.#server.fetch(
      request,
      platform({
        ...readForwarded(request.headers),
        waitUntil: promise => this.#context.waitUntil(promise),
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
    // The runtime does not answer the closing handshake (RFC 6455, section 7.1.1).
    end?.close()
    end?.closed(code, reason)
  }

  /** Pings all sockets together, including those that would be due before the next alarm. */
  alarm(): void {
    this.#alarmAt = Number.POSITIVE_INFINITY
    this.#server.tick(this.#pingInterval / 2)
    this.#schedule()
  }

  #upgrade(request: Request, handlers: RawSocketHandlers): Response | undefined {
    if (!isWebSocket(request.headers.get('upgrade'))) return undefined
    const { response, socket } = this.#context.accept()
    this.#connect(socket, handlers).open()
    return response
  }

  /**
   * Restores a socket from its attachment. Closes a socket whose attachment is missing or cannot be read, because its
   * client is unknown.
   */
  #wake(socket: SleepingSocket): void {
    const end = this.#connect(socket, undefined)
    try {
      const snapshot = socket.deserializeAttachment()
      // The client was not admitted yet.
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

  /** Schedules the next tick: by the alarm, and by a timer while a polling client keeps the object awake. */
  #schedule(): void {
    if (!this.#server.isAtRest()) this.#timer ??= setInterval(() => this.#tick(), POLLING_TICK_MS)
    const dueAt = this.#server.dueAt()
    if (dueAt >= this.#alarmAt) return
    this.#alarmAt = dueAt
    this.#context.wakeAt(Math.max(dueAt, Date.now() + 1))
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

  /** Saves the state at the end of this turn, after all changes of the turn. The object cannot sleep before that. */
  changed(): void {
    if (this.#isChanged) return
    this.#isChanged = true
    queueMicrotask(() => this.#save())
  }

  /** Saves the state of the socket if it has changed. */
  #save(): void {
    if (!this.#isChanged) return
    this.#isChanged = false
    try {
      const snapshot = this.handlers?.snapshot?.()
      if (snapshot !== undefined) this.#socket.serializeAttachment(snapshot)
    } catch (error) {
      // The state is larger than an attachment may be, so the socket could not continue after a sleep.
      this.#onError(error)
      this.close(1009, 'too large')
    }
  }

  send(data: string | Uint8Array): void {
    // The state must be saved before the client sees the result of the change.
    this.#save()
    try {
      this.#socket.send(data)
    } catch {
      // The socket is closed. `closed` is called for that.
    }
  }

  close(code?: number, reason?: string): void {
    try {
      this.#socket.close(code, reason)
    } catch {
      // The socket was closed before.
    }
  }
}
