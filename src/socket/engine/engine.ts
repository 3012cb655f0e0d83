/**
 * An Engine.IO v4 server as a function from requests to responses, with the WebSockets that the runtime offers.
 *
 * @module
 */

import { Counter } from '../../counter.ts'
import { type Platform, platformOf, type RawSocket, type RawSocketHandlers } from '../../http/platform.ts'
import { addressKey } from '../../web/ip-address.ts'
import type { Handshake } from './connection.ts'
import { createEndpoint, openFrame, wantsText } from './endpoint.ts'
import { type EngineHooks, type EngineOptions, type EngineSettings, resolveEngine } from './options.ts'
import { refuse } from './refusal.ts'
import { Session } from './session.ts'
import type { SessionEvents, SessionSnapshot } from './session-contracts.ts'
import { createTicker } from './ticker.ts'
import { SessionSocket } from './upgrade.ts'

/** "Service Restart" of the registry of close codes (RFC 6455, section 11.7): the client may connect again. */
export const RESTART = 1012

/** A server for the event socket, of either protocol. */
export interface SocketEndpoint {
  /**
   * Answers polling and upgrade requests. The second argument is the platform object of the runtime's entry, without
   * which there is polling alone. Can be given to `serve` and `worker` as it is.
   */
  readonly fetch: (request: Request, platform?: unknown) => Response | Promise<Response>
  /**
   * Lets time pass, where the option `ticks` is `caller`. Pings that are due within `ahead` milliseconds (default 0) go
   * out now.
   */
  readonly tick: (ahead?: number) => void
  /** When `tick` has something to do next, on the engine's clock; infinite where there is nothing. */
  readonly dueAt: () => number
  /** Whether all clients are on WebSockets: only then may the server's memory go, and `restore` bring it back. */
  readonly isAtRest: () => boolean
  /** How many clients there are. */
  readonly size: number
  /**
   * Goes on with a WebSocket that outlived its server's memory, from what `snapshot` of its handlers gave. Its next
   * messages go to the handlers that this gives; `open` of them is not called. A snapshot that cannot be read closes the
   * socket with 1012, so that its client connects again, and throws.
   */
  readonly restore: (snapshot: SessionSnapshot, socket: RawSocket) => RawSocketHandlers
  /** Ends all connections and stops the timer. New requests are refused. */
  readonly close: () => void
}

/**
 * Makes an engine. Throws `invalid_options` that names what is wrong.
 *
 * @example
 * const engine = createEngine({ onMessage: (connection, data) => connection.send(data) })
 * await serve(engine.fetch, { port: 3000 })
 */
export function createEngine(options: EngineOptions = {}): SocketEndpoint {
  return createEngineWith(options, { admission: 'packet' })
}

/** The same, for a protocol on top of it. */
export function createEngineWith(options: EngineOptions, hooks: EngineHooks): SocketEndpoint {
  const settings = resolveEngine(options)
  const sessions = new Map<string, Session>()
  const addresses = new Counter()
  const ticker = createTicker(settings, sessions, hooks)
  const events = createEvents(options, settings, { sessions, addresses }, hooks)
  const sessionSettings = { ...settings, admission: hooks.admission }
  let isClosed = false

  const open = (handshake: Handshake, socket?: RawSocket, isPlain = false): Session => {
    const id = settings.generateId(handshake)
    const session = new Session(id, handshake, sessionSettings, events, settings.now(), isPlain)
    sessions.set(session.id, session)
    addresses.add(keyOf(handshake))
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
    open,
    isFull: handshake =>
      isClosed ||
      sessions.size >= settings.maxSessions ||
      addresses.count(keyOf(handshake)) >= settings.maxSessionsPerIp,
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
      let session: Session | undefined
      try {
        session = Session.restore(snapshot, socket, sessionSettings, events, settings.now())
        sessions.set(session.id, session)
        addresses.add(keyOf(session.handshake))
        ticker.start()
        hooks.restore?.(session, snapshot.layer)
      } catch (error) {
        // Half a client is none, least of all one without its identity.
        socket.close(RESTART)
        session?.end('transport close')
        throw error
      }
      return new SessionSocket(settings.maxPayload, session, undefined)
    },
  }
}

function keyOf({ ip }: Handshake): string | undefined {
  return ip === undefined ? undefined : addressKey(ip)
}

/** A check that throws allows nothing. */
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
  { sessions, addresses }: { sessions: Map<string, Session>; addresses: Counter },
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
      addresses.remove(keyOf(session.handshake))
      guard(settings, () => onClose?.(session, reason))
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
