/**
 * Reads the card of a remote agent, and caches it as long as the service allows.
 *
 * @module
 */

import { messageOf } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { type ChosenInterface, chooseInterface } from './choose.ts'
import { failed, unfit } from './failure.ts'
import type { RemoteFetch } from './fetch.ts'
import type { RemoteCard, RemoteSettings } from './options.ts'

/** The cached card of one service. */
export interface CardCache {
  /** Returns the chosen interface of the card. Reads the card again if it is no longer fresh. */
  read(fetch: RemoteFetch, signal: AbortSignal): Promise<ChosenInterface>
}

/** What is cached of a card. */
interface CachedCard {
  readonly chosen: ChosenInterface
  /** The address where it was found. */
  readonly url: URL
  readonly etag: string | null
  /** Milliseconds since 1970. */
  readonly freshUntil: number
}

/** Milliseconds that a card is used if its service gives no lifetime. */
const DEFAULT_FRESH_MS = 5 * 60_000

/** Most milliseconds that a card is used. */
const MAX_FRESH_MS = 24 * 60 * 60_000

const WELL_KNOWN = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const

/** Makes the cache of a service's card. */
export function createCardCache(settings: RemoteSettings): CardCache {
  let cached: CachedCard | undefined
  return {
    async read(fetch, signal) {
      if (cached !== undefined && cached.freshUntil > performance.now()) return cached.chosen
      const { response, url } = await find(cached, settings, fetch, signal)
      const freshMs = freshFor(response.headers)
      if (response.status === 304 && cached !== undefined) {
        cached = { ...cached, freshUntil: performance.now() + (freshMs ?? 0) }
        return cached.chosen
      }
      const card = await verified(cardIn(await response.text()), settings)
      const chosen = chooseInterface(card, url, settings.origins)
      const etag = response.headers.get('etag')
      // A card that must not be stored is used for this run alone.
      cached =
        freshMs === undefined ? undefined : { chosen, url, etag, freshUntil: performance.now() + freshMs }
      return chosen
    },
  }
}

/** The addresses where the card of a service may be. */
export function addressesOf(url: URL): readonly URL[] {
  if (url.pathname.endsWith('.json')) return [url]
  const base = `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`
  return WELL_KNOWN.map(path => new URL(`${base}${path}${url.search}`))
}

async function find(
  cached: CachedCard | undefined,
  { url: given }: RemoteSettings,
  fetch: RemoteFetch,
  signal: AbortSignal,
): Promise<{ response: Response; url: URL }> {
  // The header makes servers of several generations send the card of 1.0 (section 3.6.1).
  const headers = { accept: 'application/json', 'a2a-version': '1.0' }
  const addresses = addressesOf(given)
  if (cached !== undefined && cached.etag !== null) {
    const response = await fetch(cached.url, {
      headers: { ...headers, 'if-none-match': cached.etag },
      signal,
    })
    if (response.ok || response.status === 304) return { response, url: cached.url }
  }
  for (const url of addresses) {
    const response = await fetch(url, { headers, signal })
    if (response.ok) return { response, url }
    if (response.status !== 404 && response.status !== 405) {
      throw failed(`The remote agent answered ${response.status} when its card was read at ${url.href}`)
    }
  }
  throw failed(`The remote agent has no card at ${addresses.map(({ href }) => href).join(' or ')}`)
}

/** The object of a card. Throws `invalid_agent_response` for anything else. */
function cardIn(text: string): RemoteCard {
  try {
    const card: unknown = JSON.parse(text)
    if (isObject(card)) return card
  } catch {
    // The error is thrown below.
  }
  throw unfit('has a card that is no JSON object')
}

async function verified(card: RemoteCard, { verify }: RemoteSettings): Promise<RemoteCard> {
  if (verify === undefined) return card
  let used: unknown
  try {
    used = await verify(card)
  } catch (cause) {
    throw failed(`The card of the remote agent is refused: ${messageOf(cause)}`, cause)
  }
  if (used === true) return card
  if (isObject(used)) return used
  throw failed('The card of the remote agent is refused: `verify` does not accept it')
}

/**
 * Milliseconds that a card is fresh (RFC 9111, section 5.2.2). Zero for a card that must be read again each time, and undefined
 * for one that must not be stored. A `private` card may differ for each caller.
 */
export function freshFor(headers: Headers): number | undefined {
  const control = headers.get('cache-control')?.toLowerCase() ?? ''
  if (/\bno-store\b/.test(control)) return undefined
  if (/\b(no-cache|private)\b/.test(control)) return 0
  const [, seconds] = /\bs-maxage="?(\d+)/.exec(control) ?? /\bmax-age="?(\d+)/.exec(control) ?? []
  if (seconds === undefined) return DEFAULT_FRESH_MS
  const age = Number(headers.get('age') ?? 0) || 0
  return Math.min(MAX_FRESH_MS, Math.max(0, Number(seconds) - age) * 1000)
}
