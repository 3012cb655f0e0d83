/** The options of an engine. */

import { withDefaults } from '../../../../base/defaults.ts'
import { ServableError } from '../../../../base/errors.ts'
import type { Platform } from '../../../../http/platform.ts'
import { isTrustProxy, TRUST_PROXY, type TrustProxy } from '../../../../web/client-address.ts'
import type { CloseReason, Connection, Handshake } from './connection.ts'
import type { EngineSessionSettings } from './session-contracts.ts'

/** The limits and times of an engine. Times are milliseconds. */
export interface EngineLimits {
  /** The path of the server. A slash at its end makes no difference. Default: `/engine.io/`. */
  readonly path?: string
  /** Milliseconds between two pings. Default: 25,000. */
  readonly pingInterval?: number
  /** Milliseconds to wait for the pong. Together with `pingInterval` less than 2^31. Default: 20,000. */
  readonly pingTimeout?: number
  /** Milliseconds that a client may be connected before it is admitted. Default: 10,000. */
  readonly connectTimeout?: number
  /** Milliseconds that a client may take to move from polling to WebSocket. Default: 10,000. */
  readonly upgradeTimeout?: number
  /** Most bytes of a message as it is sent (text as UTF-8), and of a polling payload. Default: 1,000,000. */
  readonly maxPayload?: number
  /** Most bytes that may wait for one client. A client that reads more slowly is disconnected. Default: 4 MiB. */
  readonly maxBufferedBytes?: number
  /**
   * Most clients at a time. A client whose WebSocket was closed counts until its connection has ended. More are refused with HTTP
   * 503. Default: 10,000.
   */
  readonly maxSessions?: number
  /**
   * Most clients of one address at a time, if the runtime or `trustProxy` provides the address. An IPv6 network of 64 bits
   * counts as one address. Default: 1,000.
   */
  readonly maxSessionsPerIp?: number
  /**
   * How to find the client's address behind a proxy. Default: no proxy is trusted, so behind one all clients have the proxy's
   * address.
   */
  readonly trustProxy?: TrustProxy
  /** Accepts WebSockets without `EIO` in their query: every frame is a message. Default: false. */
  readonly plain?: boolean
  /** The frame of a ping on a plain connection. The handlers recognize the client's answer. */
  readonly plainPing?: string
  /**
   * Makes the ids of sessions. An id must be secret, because anyone who knows it can act as the client. Default: random
   * UUIDs.
   */
  readonly generateId?: (handshake: Handshake) => string
  /** Headers of the first request that the handshake keeps, in lower case. Each takes memory in every session. */
  readonly headers?: readonly string[]
  /**
   * Decides for each request whether it may use the server. A refused request gets error 4 with HTTP 403. Default: every
   * request may.
   */
  readonly allow?: (request: Request, platform: Platform) => boolean | Promise<boolean>
  /** A monotonic clock, in milliseconds. If snapshots are restored in another process, all processes need the same clock. */
  readonly now?: () => number
  /** What advances the time: a timer while there are sessions, or your calls of `tick`. Default: `timer`. */
  readonly ticks?: 'timer' | 'caller'
  /** Receives the errors of handlers. The connection continues. Default: `console.error`. */
  readonly onError?: (error: unknown) => void
}

/** Handlers for the connections and messages of clients. */
export interface EngineHandlers {
  readonly onOpen?: (connection: Connection) => void
  readonly onMessage?: (connection: Connection, data: string | Uint8Array) => void
  /** Is called once, when the connection has ended for any reason. */
  readonly onClose?: (connection: Connection, reason: CloseReason) => void
}

/** The options of `createEngine`. */
export interface EngineOptions extends EngineLimits, EngineHandlers {}

/** The limits with their defaults. */
export type EngineSettings = Required<Omit<EngineLimits, 'trustProxy'>> & Pick<EngineLimits, 'trustProxy'>

const DEFAULTS: EngineSettings = {
  path: '/engine.io/',
  pingInterval: 25_000,
  pingTimeout: 20_000,
  connectTimeout: 10_000,
  upgradeTimeout: 10_000,
  maxPayload: 1_000_000,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxSessions: 10_000,
  maxSessionsPerIp: 1000,
  plain: false,
  plainPing: 'ping',
  generateId: () => crypto.randomUUID(),
  headers: ['authorization', 'cookie', 'origin', 'user-agent'],
  allow: () => true,
  now: () => performance.now(),
  ticks: 'timer',
  onError: error => console.error(error),
}

const NUMBERS = [
  'pingInterval',
  'pingTimeout',
  'connectTimeout',
  'upgradeTimeout',
  'maxPayload',
  'maxBufferedBytes',
  'maxSessions',
  'maxSessionsPerIp',
] as const

/**
 * Fills in the defaults. `path` is the default path of the protocol on top. Throws `invalid_options` for an invalid value.
 */
export function resolveEngine(options: EngineLimits, path: string = DEFAULTS.path): EngineSettings {
  const settings = withDefaults({ ...DEFAULTS, path }, options)
  if (settings.trustProxy !== undefined && !isTrustProxy(settings.trustProxy)) {
    throw new ServableError('invalid_options', `\`trustProxy\` ${TRUST_PROXY}`)
  }
  for (const name of NUMBERS) {
    const value: unknown = settings[name]
    if (!Number.isSafeInteger(value) || Number(value) < 1) {
      throw new ServableError('invalid_options', `\`${name}\` must be a whole number above 0`)
    }
  }
  // Clients use one timer for this sum, and its longest delay has 31 bits.
  if (settings.pingInterval + settings.pingTimeout >= 2 ** 31) {
    throw new ServableError(
      'invalid_options',
      '`pingInterval` and `pingTimeout` must be less than 2^31 together',
    )
  }
  return settings
}

/** The hooks of a protocol on top of an engine, besides its handlers. */
export interface EngineHooks {
  readonly admission: EngineSessionSettings['admission']
  /** Is called at every tick. Returns the time until which ticks are needed even without sessions. */
  readonly tick?: (now: number) => number
  readonly pong?: (connection: Connection) => void
  /** Returns data to store with the session. `restore` gets it back. */
  readonly snapshot?: (connection: Connection) => unknown
  readonly restore?: (connection: Connection, layer: unknown) => void
}
