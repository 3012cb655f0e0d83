/**
 * An Engine.IO v4 server as a function from requests to responses. WebSockets come from the runtime.
 *
 * @module
 */

import {
  type Platform,
  platformOf,
  type RawSocket,
  type RawSocketHandlers,
} from '../../../../http/platform.ts'
import type { Handshake } from './connection.ts'
import { ConnectionSlots } from './connection-slots.ts'
import { createEndpoint, openFrame, wantsText } from './endpoint.ts'
import { type EngineHooks, type EngineOptions, type EngineSettings, resolveEngine } from './options.ts'
import { refuse } from './refusal.ts'
import { EngineSession } from './session.ts'
import type { SessionEvents, SessionSnapshot } from './session-contracts.ts'
import { SessionSocket } from './upgrade.ts'

/** "Service Restart" of the registry of close codes (RFC 6455, section 11.7): the client may connect again. */
export const RESTART = 1012

/** The server of an event socket, for Engine.IO or Socket.IO. */
export interface SocketEndpoint {
  /**
   * Answers polling and upgrade requests. The second argument is the platform object of the runtime's entry. Without it,
   * only polling is possible. You can pass this function to `serve` and `worker`.
   */
  readonly fetch: (request: Request, platform?: unknown) => Response | Promise<Response>
  /**
   * Advances the time, if the option `ticks` is `caller`. It also sends the pings that are due within `ahead` milliseconds.
   * Default: 0.
   */
  readonly tick: (ahead?: number) => void
  /** The time of the next necessary `tick`, on the engine's clock. Infinity if there is none. */
  readonly dueAt: () => number
  /** Whether all clients are on WebSockets. Only then can the server's memory be dropped and `restore` continue. */
  readonly isAtRest: () => boolean
  /** The number of clients. */
  readonly size: number
  /**
   * Continues with a WebSocket that outlived its server's memory. `snapshot` is the result of its handlers' `snapshot`.
   * Pass the socket's next messages to the returned handlers. Their `open` is not called. If the snapshot cannot be read,
   * it closes the socket with 1012, so that the client reconnects, and throws.
   */
  readonly restore: (snapshot: SessionSnapshot, socket: RawSocket) => RawSocketHandlers
  /** Ends all connections and stops the timer. New requests are refused. */
  readonly close: () => void
}

/**
 * Makes an engine. Throws `invalid_options` that names the wrong option.
 *
 * @example
 * const engine = createEngine({ onMessage: (connection, data) => connection.send(data) })
 * await serve(engine.fetch, { port: 3000 })
 */
export function createEngine(options: EngineOptions = {}): SocketEndpoint {
  return createEngineWith(options, { admission: 'packet' })
}

/** Makes an engine with hooks for a protocol on top of it. */
export function createEngineWith(options: EngineOptions, hooks: EngineHooks): SocketEndpoint {
  const settings = resolveEngine(options)
  const sessions = new Map<string, EngineSession>()
  const slots = new ConnectionSlots(settings)
  const ticker = createTicker(settings, sessions, hooks)
  const events = createEvents(options, settings, { sessions, slots }, hooks)
  const sessionSettings = { ...settings, admission: hooks.admission }
  let isClosed = false

  const open = (handshake: Handshake, socket?: RawSocket, isPlain = false): EngineSession => {
    const id = settings.generateId(handshake)
    const session = new EngineSession(id, handshake, sessionSettings, events, settings.now(), isPlain)
    sessions.set(session.id, session)
    slots.take(handshake)
    ticker.start()
    if (socket !== undefined) {
      if (!isPlain) socket.send(openFrame(session.id, [], settings))
      session.openSocket(socket, !isPlain && wantsText(handshake.url))
    }
    guard(settings, () => options.onOpen?.(session))
    return session
  }
  const endpoint = createEndpoint({
    settings,
    sessions,
    slots,
    open,
    isFull: handshake => isClosed || slots.isFull(handshake),
  })

  return {
    fetch: (request, argument) => {
      const platform = platformOf(argument)
      const answer = (isAllowed: boolean) => (isAllowed ? endpoint(request, platform) : refuse('forbidden'))
      const allowed = isAllowed(request, platform, settings)
      return typeof allowed === 'boolean' ? answer(allowed) : allowed.then(answer)
    },
    tick: ticker.tick,
    get size() {
      return sessions.size
    },
    isAtRest: () => [...sessions.values()].every(session => session.isAtRest),
    dueAt: () =>
      [...sessions.values()].reduce((at, { dueAt }) => Math.min(at, dueAt), Number.POSITIVE_INFINITY),
    close() {
      isClosed = true
      for (const session of sessions.values()) session.close()
      sessions.clear()
      ticker.stop()
    },
    restore(snapshot, socket) {
      let session: EngineSession | undefined
      try {
        session = EngineSession.restore(snapshot, socket, sessionSettings, events, settings.now())
        sessions.set(session.id, session)
        slots.take(session.handshake)
        ticker.start()
        hooks.restore?.(session, snapshot.layer)
      } catch (error) {
        // A partly restored client must not continue, because its identity may be missing.
        socket.close(RESTART)
        session?.socketClosed('transport close')
        throw error
      }
      return new SessionSocket(settings.maxPayload, session, undefined)
    },
  }
}

/** Whether `allow` lets the request through. If it throws, the request is refused. */
function isAllowed(
  request: Request,
  platform: Platform,
  { allow, onError }: EngineSettings,
): boolean | Promise<boolean> {
  const failed = (error: unknown) => {
    onError(error)
    return false
  }
  try {
    const allowed = allow(request, platform)
    return typeof allowed === 'boolean' ? allowed : allowed.catch(failed)
  } catch (error) {
    return failed(error)
  }
}

function createEvents(
  options: EngineOptions,
  settings: EngineSettings,
  { sessions, slots }: { sessions: Map<string, EngineSession>; slots: ConnectionSlots },
  hooks: EngineHooks,
): SessionEvents {
  const { onMessage, onClose } = options
  return {
    message(session, data) {
      try {
        onMessage?.(session, data)
      } catch (error) {
        settings.onError(error)
      }
    },
    pong: session => hooks.pong?.(session),
    snapshot: session => hooks.snapshot?.(session),
    close(session, reason) {
      if (session.isClosed) sessions.delete(session.id)
      guard(settings, () => onClose?.(session, reason))
    },
    gone(session) {
      sessions.delete(session.id)
      slots.give(session.handshake)
    },
  }
}

function guard({ onError }: EngineSettings, work: () => void): void {
  try {
    work()
  } catch (error) {
    onError(error)
  }
}

/** Most milliseconds between two ticks. They also limit how long a poll waits during an upgrade. */
const SLOWEST = 100
/** Least milliseconds between two ticks. */
const FASTEST = 5

/** Advances the time of all sessions of an engine. */
interface EngineTicker {
  readonly tick: (ahead?: number) => void
  /** Starts the timer if it is not running. It stops by itself when it is not needed. */
  readonly start: () => void
  readonly stop: () => void
}

/** Makes the ticker. All sessions share one timer. */
function createTicker(
  settings: EngineSettings,
  sessions: ReadonlyMap<string, EngineSession>,
  hooks: EngineHooks,
): EngineTicker {
  const { pingInterval, pingTimeout, now: clock, ticks } = settings
  const period = Math.min(SLOWEST, Math.max(FASTEST, Math.min(pingInterval, pingTimeout) / 50))
  let timer: ReturnType<typeof setInterval> | undefined

  const stop = () => {
    if (timer !== undefined) clearInterval(timer)
    timer = undefined
  }
  const tick = (ahead?: number) => {
    const now = clock()
    for (const session of sessions.values()) session.tick(now, ahead)
    const neededUntil = hooks.tick?.(now) ?? 0
    if (sessions.size === 0 && neededUntil <= now) stop()
  }
  return {
    tick,
    stop,
    start() {
      if (ticks === 'timer') timer ??= setInterval(() => tick(), period)
    },
  }
}
