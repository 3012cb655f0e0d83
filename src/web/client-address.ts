/**
 * The address of a client behind proxies.
 *
 * @module
 */

import { type AddressReader, addressIn, peerAddress } from './ip-address.ts'
import { entriesOf, forwardedFor } from './proxy-headers.ts'

/**
 * Where a client's address comes from:
 *
 * - A number from 1 to 32: the number of proxies before the service. Each adds the address of its own client to the end of
 *   `X-Forwarded-For`. `1` takes the last address in it.
 * - The name of a header that the nearest proxy sets, such as `cf-connecting-ip` or `x-real-ip`. The last address of a list
 *   counts. In `forwarded` it is the last `for` (RFC 7239).
 * - A function that returns whether an address is a proxy's. It is called for the connection's own address first (undefined if
 *   the runtime does not know it), then for the addresses of `X-Forwarded-For` from its end. The first address for which it does
 *   not return `true` is the client's.
 *
 * A number and a name trust everyone who connects: use them only if clients reach the service through the proxy alone.
 */
export type TrustProxy = number | string | ((peer: string | undefined) => boolean)

/** Most proxies between a client and the service. */
const MAX_HOPS = 32

/** The rule for a {@link TrustProxy}, for an error text. */
export const TRUST_PROXY: string = `must be a number of proxies from 1 to ${MAX_HOPS}, the name of a header, or a function`

/** The name of a header (RFC 9110, section 5.1). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Whether an unknown value is a {@link TrustProxy}. */
export function isTrustProxy(value: unknown): value is TrustProxy {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 1 && value <= MAX_HOPS
  return typeof value === 'function' || (typeof value === 'string' && HEADER_NAME.test(value))
}

/**
 * Creates a reader of client addresses. It returns the IP address in the trusted header. Without a valid one there it returns the
 * connection's own address. If a function of `trust` throws, `onError` is called and the connection's own address counts.
 */
export function createAddressReader(
  trust: TrustProxy | undefined,
  onError: (error: unknown) => void,
): AddressReader {
  const find = finderOf(trust, onError)
  return (headers, peer) => {
    const own = peerAddress(headers, peer)
    return find(headers, own) ?? own
  }
}

function finderOf(trust: TrustProxy | undefined, onError: (error: unknown) => void): AddressReader {
  if (trust === undefined) return () => undefined
  if (typeof trust === 'number') return headers => atHop(headers, trust)
  if (typeof trust === 'function') return (headers, own) => beforeProxies(headers, own, trust, onError)
  if (trust.toLowerCase() === 'forwarded') return headers => forwardedFor(headers.get(trust))
  return headers => lastIn(headers.get(trust))
}

/** With fewer addresses than proxies, the first address was written by a proxy for its own client. */
function atHop(headers: Headers, hops: number): string | undefined {
  let found = ''
  let hop = 0
  for (const entry of entriesOf(headers.get('x-forwarded-for'))) {
    found = entry
    if (++hop === hops) break
  }
  return addressIn(found)
}

function lastIn(field: string | null): string | undefined {
  const [last = ''] = entriesOf(field)
  return addressIn(last)
}

/** Undefined if the headers are not trusted: then the connection's own address counts. */
function beforeProxies(
  headers: Headers,
  own: string | undefined,
  isProxy: (peer: string | undefined) => unknown,
  onError: (error: unknown) => void,
): string | undefined {
  try {
    // Only `true` counts: a promise would trust every client.
    if (isProxy(own) !== true) return undefined
    let client: string | undefined
    let hops = 0
    for (const entry of entriesOf(headers.get('x-forwarded-for'))) {
      client = addressIn(entry)
      if (client === undefined || ++hops > MAX_HOPS) return undefined
      if (isProxy(client) !== true) break
    }
    return client
  } catch (error) {
    onError(error)
    return undefined
  }
}
