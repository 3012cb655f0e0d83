/**
 * The built-in rate limiter (specification, "Limits"): it allows each client a number of requests in a window.
 *
 * @module
 */

import { withDefaults } from '../../base/defaults.ts'
import { ServableError } from '../../base/errors.ts'
import { sha256 } from '../../web/digest.ts'
import { addressKey } from '../../web/ip-address.ts'
import { type Context, isProbe, type Middleware } from '../context.ts'
import { OpenWindows } from './rate-windows.ts'

/** The options of the rate limit. */
export interface RateLimitOptions {
  /** Milliseconds of a window. It begins with a client's first request. Default: 60,000. */
  readonly windowMs?: number
  /** The most requests of one client in a window. More are answered 429. Default: 100. */
  readonly max?: number
  /**
   * Names the client of a request, for example by `context.identity?.id`. It runs after the middleware. When it returns
   * undefined, the request passes uncounted. Default: the client's address (of IPv6 its network of 64 bits), counted before the
   * middleware.
   */
  readonly key?: (request: Request, context: Context) => string | undefined
  /** Counts in the state, for all processes or isolates together. When false, each counts by itself. Default: false. */
  readonly shared?: boolean
}

/** The options with their defaults. */
export type RateLimitSettings = Required<Pick<RateLimitOptions, 'windowMs' | 'max' | 'shared'>> &
  Pick<RateLimitOptions, 'key'>

/** Fills in the defaults. */
export function resolveRateLimit(options: RateLimitOptions): RateLimitSettings {
  return withDefaults<RateLimitSettings>({ windowMs: 60_000, max: 100, shared: false }, options)
}

/** A client's window. */
export interface Window {
  /** The number of requests in it, including this one. */
  readonly count: number
  /** When it ends, in milliseconds since 1970. */
  readonly endsAt: number
}

/** Counts a request of a client, and returns its window. */
export type CountRequest = (key: string) => Window | Promise<Window>

/** Makes a count in this process. */
export function createLocalCount({ windowMs }: Pick<RateLimitSettings, 'windowMs'>): CountRequest {
  const windows = new OpenWindows<{ count: number; endsAt: number }>(windowMs)
  return key => {
    const now = Date.now()
    const window = windows.get(key, now) ?? windows.set(key, { count: 0, endsAt: now + windowMs })
    window.count++
    return window
  }
}

/** The most characters of a client's name. A proxy may pass an address of any length. */
const MAX_NAME = 200

/** The shared window of clients whose address is unknown. */
const NOBODY = 'unknown'

/** Makes the middleware. Health checks are not counted. `onNobody` is called if a request's address is unknown. */
export function createRateLimit(
  settings: RateLimitSettings,
  count: CountRequest,
  onNobody: () => void,
): Middleware {
  const clientOf = settings.key === undefined ? byAddress(onNobody) : byKey(settings.key)
  return async (request, context, next) => {
    const key = isProbe(request, context) ? undefined : await clientOf(request, context)
    if (key === undefined) return next()
    await countAgainst(settings, count, key.slice(0, MAX_NAME), context.responseHeaders)
    return next()
  }
}

/** Counts a request of a client, and sets the headers of its response. Throws `rate_limited`. */
export async function countAgainst(
  { max, windowMs }: Pick<RateLimitSettings, 'max' | 'windowMs'>,
  count: CountRequest,
  key: string,
  headers: Headers = new Headers(),
): Promise<void> {
  const { count: used, endsAt } = await count(key)
  const seconds = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000))
  headers.set('ratelimit', `"default";r=${Math.max(0, max - used)};t=${seconds}`)
  headers.set('ratelimit-policy', `"default";q=${max};w=${Math.ceil(windowMs / 1000)}`)
  if (used <= max) return
  headers.set('retry-after', String(seconds))
  throw new ServableError('rate_limited', `At most ${max} requests are allowed in ${windowMs} ms`)
}

/** Names the client of a request; undefined if it is not counted. */
type ClientOf = (request: Request, context: Context) => string | undefined | Promise<string | undefined>

function byAddress(onNobody: () => void): ClientOf {
  return (_, { ip }) => {
    if (ip !== undefined) return addressKey(ip)
    onNobody()
    return NOBODY
  }
}

/** Names the client by the digest of its key, which may be secret and long. */
function byKey(key: NonNullable<RateLimitOptions['key']>): ClientOf {
  return (request, context) => {
    const given: unknown = key(request, context)
    if (given === undefined) return undefined
    if (typeof given === 'string') return sha256(given)
    throw new ServableError(
      'internal_error',
      '`rateLimit.key` must return text or undefined, and not be async',
    )
  }
}
