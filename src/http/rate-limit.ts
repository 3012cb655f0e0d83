/**
 * The built-in rate limiter (specification, "Limits"): so many requests of one client in a window.
 *
 * @module
 */

import { withDefaults } from '../defaults.ts'
import { ServableError } from '../errors.ts'
import type { Transaction } from '../state/store.ts'
import { sha256 } from '../web/digest.ts'
import { type Context, isProbe, type Middleware } from './context.ts'

/** How requests are limited. */
export interface RateLimitOptions {
  /** Milliseconds of a window, which begins with a client's first request. Default 60,000. */
  readonly windowMs?: number
  /** Requests of one client in a window; more are answered 429. Default 100. */
  readonly max?: number
  /**
   * Who the client is, such as `context.identity?.id`: then it is asked after the middleware. Undefined lets the request
   * pass uncounted. Default: its address, of IPv6 the network of 64 bits, asked before the middleware.
   */
  readonly key?: (request: Request, context: Context) => string | undefined
  /**
   * A header that a proxy of yours sets to the client's address (the last one in it counts), such as `x-forwarded-for`.
   * Anybody can send it where no proxy does. Default: none, but what the runtime vouches for.
   */
  readonly trustedHeader?: string
  /** Counts in the state, for all processes or isolates together. Default false: each by itself. */
  readonly shared?: boolean
}

/** The options with their defaults. */
export type RateLimitSettings = Required<Pick<RateLimitOptions, 'windowMs' | 'max' | 'shared'>> &
  Pick<RateLimitOptions, 'key' | 'trustedHeader'>

/** Fills in the defaults. */
export function resolveRateLimit(options: RateLimitOptions): RateLimitSettings {
  return withDefaults<RateLimitSettings>({ windowMs: 60_000, max: 100, shared: false }, options)
}

/** A client's window. */
export interface Window {
  /** Requests in it, this one too. */
  readonly count: number
  /** When it ends, in milliseconds since 1970. */
  readonly endsAt: number
}

/** Counts a request of a client, and gives its window. */
export type CountRequest = (key: string) => Window | Promise<Window>

/** Clients that are counted in one process; past it the ones that came first are forgotten. */
const MAX_CLIENTS = 100_000

/** Milliseconds between two sweeps at the least; a sweep happens with a request, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/** Counts in this process. */
export function createLocalCount({ windowMs }: Pick<RateLimitSettings, 'windowMs'>): CountRequest {
  const windows = new Map<string, { count: number; endsAt: number }>()
  let sweptAt = 0
  const sweep = (now: number) => {
    if (now - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key)
  }
  const begin = (key: string, now: number) => {
    const window = { count: 0, endsAt: now + windowMs }
    // In the order of their beginnings, so that the first is the oldest.
    windows.delete(key)
    windows.set(key, window)
    const [oldest] = windows.keys()
    if (windows.size > MAX_CLIENTS && oldest !== undefined) windows.delete(oldest)
    return window
  }
  return key => {
    const now = Date.now()
    sweep(now)
    const known = windows.get(key)
    const window = known !== undefined && known.endsAt > now ? known : begin(key, now)
    window.count++
    return window
  }
}

/** The collection of windows. */
export const WINDOWS = 'rate-window'

/** Counts in a store. Past windows are swept as new ones begin. */
export function countInStore(tx: Transaction, key: string, windowMs: number): Window {
  const now = Date.now()
  const before = tx.get<number>(WINDOWS, key)
  const isOpen = before !== undefined && (before.expiresAt ?? 0) > now
  if (!isOpen) for (const { id } of tx.expired(WINDOWS, now, 100)) tx.delete(WINDOWS, id)
  const count = isOpen ? before.value + 1 : 1
  const endsAt = isOpen ? (before.expiresAt ?? now) : now + windowMs
  tx.put(WINDOWS, { id: key, partition: '', at: now, tags: {}, value: count, expiresAt: endsAt })
  return { count, endsAt }
}

/** Clients whose address nobody knows share one window. */
const NOBODY = 'unknown'

/** Makes the middleware. Health is not counted. */
export function createRateLimit(settings: RateLimitSettings, count: CountRequest): Middleware {
  const { windowMs, max } = settings
  const policy = `"default";q=${max};w=${Math.ceil(windowMs / 1000)}`
  return async (request, context, next) => {
    const key = isProbe(request, context) ? undefined : await clientOf(request, context, settings)
    if (key === undefined) return next()
    const { count: used, endsAt } = await count(key)
    const seconds = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000))
    const { responseHeaders } = context
    responseHeaders.set('ratelimit', `"default";r=${Math.max(0, max - used)};t=${seconds}`)
    responseHeaders.set('ratelimit-policy', policy)
    if (used <= max) return next()
    responseHeaders.set('retry-after', String(seconds))
    throw new ServableError('rate_limited', `There may be ${max} requests in ${windowMs} ms`)
  }
}

/** Whose request it is. A key may be a secret, and long: it is counted by its digest. */
async function clientOf(
  request: Request,
  context: Context,
  { key, trustedHeader }: RateLimitSettings,
): Promise<string | undefined> {
  if (key === undefined) {
    const said = trustedHeader === undefined ? null : request.headers.get(trustedHeader)
    return networkOf(said?.split(',').at(-1)?.trim() || context.ip || NOBODY)
  }
  const given: unknown = key(request, context)
  if (given === undefined) return undefined
  if (typeof given === 'string') return sha256(given)
  throw new ServableError('internal_error', '`rateLimit.key` must give text or undefined, at once')
}

/** The address without a port; of IPv6 the network of 64 bits, since a client has all of it. */
export function networkOf(address: string): string {
  const [, bracketed, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? []
  const bare = (bracketed ?? v4 ?? address).toLowerCase()
  const [, mapped] = /^::ffff:([\d.]+)$/.exec(bare) ?? []
  if (mapped !== undefined) return mapped
  if (!bare.includes(':')) return bare
  const [head = '', tail] = bare.replace(/%.*$/, '').split('::')
  const before = head.split(':').filter(group => group !== '')
  const after = (tail ?? '').split(':').filter(group => group !== '')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after]
  return `${groups
    .slice(0, 4)
    .map(group => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
