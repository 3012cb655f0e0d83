/** What an engine can be told. */

import { withDefaults } from '../../defaults.ts'
import { ServableError } from '../../errors.ts'
import type { Platform } from '../../http/platform.ts'
import { isTrustProxy, TRUST_PROXY, type TrustProxy } from '../../web/client-address.ts'
import type { CloseReason, Connection, Handshake } from './connection.ts'
import type { SessionSettings } from './session-contracts.ts'

/** The limits and times of an engine. Times are milliseconds. */
export interface EngineLimits {
  /** Where it answers. Default `/engine.io/`; a slash at the end makes no difference. */
  readonly path?: string
  /** How often the server pings. Default 25,000. */
  readonly pingInterval?: number
  /** How long it waits for the pong. Default 20,000. With `pingInterval` less than 2^31. */
  readonly pingTimeout?: number
  /** How long a client may be connected without saying what it wants. Default 10,000. */
  readonly connectTimeout?: number
  /** How long a client may take to move from polling to WebSocket. Default 10,000. */
  readonly upgradeTimeout?: number
  /** Bytes of a message as it is sent (text as UTF-8), and of a polling payload. Default 1,000,000. */
  readonly maxPayload?: number
  /** Bytes that may wait for one client before it is sent more; one that reads no faster is closed. Default 4 MiB. */
  readonly maxBufferedBytes?: number
  /** Clients at once; more are refused with HTTP 503. Default 10,000. */
  readonly maxSessions?: number
  /** The same, of one address where the runtime or `trustProxy` vouches for it; of IPv6 a network of 64 bits. Default 1,000. */
  readonly maxSessionsPerIp?: number
  /** Who is believed about a client's address. Default: nobody, so that behind a proxy all clients have the proxy's. */
  readonly trustProxy?: TrustProxy
  /** Takes WebSockets without an `EIO` in their query: every frame of theirs is a message. Default false. */
  readonly plain?: boolean
  /** The frame that a plain connection is pinged with; its client's answer is for the handlers to tell. */
  readonly plainPing?: string
  /** Makes the ids of sessions: whoever knows one can speak for its client. Default: random UUIDs. */
  readonly generateId?: (handshake: Handshake) => string
  /** The headers of the first request that the handshake keeps, in lower case. Each costs memory in every session. */
  readonly headers?: readonly string[]
  /** Whether a request may speak with the engine at all; asked at each. Otherwise it gets error 4, HTTP 403. */
  readonly allow?: (request: Request, platform: Platform) => boolean | Promise<boolean>
  /** Milliseconds of any clock that does not go back. Where snapshots are restored elsewhere it must be one for all. */
  readonly now?: () => number
  /** Who makes time pass: a timer while there are sessions, or whoever calls `tick`. Default `timer`. */
  readonly ticks?: 'timer' | 'caller'
  /** Told what a handler throws; the connection goes on. Default `console.error`. */
  readonly onError?: (error: unknown) => void
}

/** What is made of a client's messages. */
export interface EngineHandlers {
  readonly onOpen?: (connection: Connection) => void
  readonly onMessage?: (connection: Connection, data: string | Uint8Array) => void
  /** Once, when the connection has ended for whatever reason. */
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

/** Fills in the defaults; `path` is that of the protocol on top. Throws `invalid_options` for what cannot be. */
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
  // Clients wait so long with one timer, which can wait no longer.
  if (settings.pingInterval + settings.pingTimeout >= 2 ** 31) {
    throw new ServableError(
      'invalid_options',
      '`pingInterval` and `pingTimeout` must be less than 2^31 together',
    )
  }
  return settings
}

/** What a protocol on top of an engine needs beside its handlers. */
export interface EngineHooks {
  readonly admission: SessionSettings['admission']
  /** Called with every tick; says until when ticks are needed even without sessions. */
  readonly tick?: (now: number) => number
  readonly pong?: (connection: Connection) => void
  /** What is to be kept beside the session, and putting it back. */
  readonly snapshot?: (connection: Connection) => unknown
  readonly restore?: (connection: Connection, layer: unknown) => void
}
