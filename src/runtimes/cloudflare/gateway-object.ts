/**
 * The Durable Object of the event socket. Its WebSockets hibernate: while nothing is said the object may leave memory,
 * and a socket goes on from its attachment. One alarm pings them all.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { isWebSocket, platform, type RawSocket, type RawSocketHandlers } from '../../http/platform.ts'
import { createGatewayOf, type Service } from '../../service.ts'
import type { SessionSnapshot } from '../../socket/engine/session.ts'
import type { SocketServer } from '../../socket/io/server.ts'
import { findBindings } from './bindings.ts'
import { createDurableHost } from './durable-host.ts'
import { createDurableRecords } from './durable-records.ts'
import { readForwarded, SHARD_HEADER } from './forwarded.ts'
import type { HibernatingSocket, ObjectClass, ObjectState, SocketPair } from './platform.ts'

declare const WebSocketPair: new () => SocketPair

/** Milliseconds between looks at clients that are on polling, or move from it. */
const POLLING_TICK_MS = 100

/** Makes the class, which serves what `service` gives. */
export function gatewayObjectClass(service: () => Service): ObjectClass {
  return class ServableGateway extends DurableObject {
    readonly #state: ObjectState
    readonly #server: SocketServer
    readonly #sockets = new Map<HibernatingSocket, HibernatingEnd>()
    readonly #pingInterval: number
    #alarmAt = Number.POSITIVE_INFINITY
    #timer: ReturnType<typeof setInterval> | undefined

    constructor(state: ObjectState, env: unknown) {
      // The base class is typed by the runtime's own types where a user has them.
      super(state as never, env as never)
      this.#state = state
      const { settings, runs } = service()
      if (settings.gateway === undefined)
        throw new Error('`gateway` is off in the options of `durableObjects`')
      this.#pingInterval = settings.gateway.limits.pingInterval
      this.#server = createGatewayOf(service(), settings.gateway, {
        host: createDurableHost(findBindings(), runs),
        records: createDurableRecords(settings.gateway.recoveryMs),
        engine: {
          ticks: 'caller',
          now: () => Date.now(),
          // Whoever polls says by the id where its session is.
          generateId: ({ headers }) => `${headers[SHARD_HEADER] ?? ''}.${crypto.randomUUID()}`,
          headers: ['authorization', 'cookie', 'origin', 'user-agent', SHARD_HEADER],
        },
      })
      for (const socket of state.getWebSockets()) this.#wake(socket)
    }

    override async fetch(request: Request): Promise<Response> {
      const response = await this.#server.fetch(
        request,
        platform({
          ...readForwarded(request.headers),
          waitUntil: promise => this.#state.waitUntil(promise),
          upgrade: handlers => this.#upgrade(request, handlers),
        }),
      )
      this.#schedule()
      return response
    }

    override async webSocketMessage(socket: HibernatingSocket, message: string | ArrayBuffer): Promise<void> {
      this.#sockets.get(socket)?.message(message)
    }

    override async webSocketClose(socket: HibernatingSocket, code: number, reason: string): Promise<void> {
      this.#close(socket, code, reason)
    }

    override async webSocketError(socket: HibernatingSocket): Promise<void> {
      this.#close(socket, 1006, '')
    }

    /** Pings go out to all at once, those too that would be due before the next alarm. */
    override async alarm(): Promise<void> {
      this.#alarmAt = Number.POSITIVE_INFINITY
      this.#server.tick(this.#pingInterval / 2)
      for (const end of this.#sockets.values()) end.save()
      this.#schedule()
    }

    #upgrade(request: Request, handlers: RawSocketHandlers): Response | undefined {
      if (!isWebSocket(request.headers.get('upgrade'))) return undefined
      const { 0: client, 1: socket } = new WebSocketPair()
      this.#state.acceptWebSocket(socket)
      this.#connect(socket, handlers).open()
      // A member of Workers' own; other runtimes know no status 101 here.
      const init: object = { status: 101, webSocket: client }
      return new Response(null, init)
    }

    /** A socket goes on from its attachment; one that never said who it is has none. */
    #wake(socket: HibernatingSocket): void {
      const snapshot = socket.deserializeAttachment() as SessionSnapshot | null
      if (snapshot === null) return void socket.close(1012)
      const end = this.#connect(socket, undefined)
      end.handlers = this.#server.restore(snapshot, end)
    }

    #connect(socket: HibernatingSocket, handlers: RawSocketHandlers | undefined): HibernatingEnd {
      const end = new HibernatingEnd(socket, handlers)
      this.#sockets.set(socket, end)
      return end
    }

    #close(socket: HibernatingSocket, code: number, reason: string): void {
      const end = this.#sockets.get(socket)
      this.#sockets.delete(socket)
      // The closing handshake is not answered by itself (RFC 6455, section 7.1.1).
      end?.close()
      end?.closed(code, reason)
    }

    /** Sees to it that time passes: by an alarm, and by a timer while a client that polls keeps the object awake. */
    #schedule(): void {
      if (!this.#server.isAtRest()) this.#timer ??= setInterval(() => this.#tick(), POLLING_TICK_MS)
      const dueAt = this.#server.dueAt()
      if (dueAt >= this.#alarmAt) return
      this.#alarmAt = dueAt
      this.#state.waitUntil(this.#state.storage.setAlarm(Math.max(dueAt, Date.now() + 1)))
    }

    #tick(): void {
      this.#server.tick()
      if (!this.#server.isAtRest()) return
      if (this.#timer !== undefined) clearInterval(this.#timer)
      this.#timer = undefined
      this.#schedule()
    }
  }
}

/** The server's end of a WebSocket that may outlive the object's memory. */
class HibernatingEnd implements RawSocket {
  handlers: RawSocketHandlers | undefined
  readonly #socket: HibernatingSocket
  #savedVersion: number | undefined

  constructor(socket: HibernatingSocket, handlers: RawSocketHandlers | undefined) {
    this.#socket = socket
    this.handlers = handlers
  }

  open(): void {
    this.handlers?.open(this)
  }

  message(message: string | ArrayBuffer): void {
    this.handlers?.message(this, typeof message === 'string' ? message : new Uint8Array(message))
    this.save()
  }

  closed(code: number, reason: string): void {
    this.handlers?.close(this, code, reason)
  }

  /** Keeps what the socket needs to go on, where that has changed. */
  save(): void {
    const version = this.handlers?.version
    if (version === this.#savedVersion) return
    this.#savedVersion = version
    try {
      const snapshot = this.handlers?.snapshot?.()
      if (snapshot !== undefined) this.#socket.serializeAttachment(snapshot)
    } catch {
      // More than an attachment holds: it could not go on after a sleep.
      this.close(1009, 'too large')
    }
  }

  send(data: string | Uint8Array): void {
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
