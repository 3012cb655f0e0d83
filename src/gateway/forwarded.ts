/**
 * What a handler tells the object of the event socket beside the request: as headers, which a client's own cannot be
 * mistaken for, since each is set or taken away.
 *
 * @module
 */

import type { Identity, Platform } from '../http/platform.ts'

const IP_HEADER = 'x-servable-ip'
const IDENTITY_HEADER = 'x-servable-identity'
const REQUEST_HEADER = 'x-servable-request'
/** Names the object itself, which does not know how it was found. */
export const SHARD_HEADER = 'x-servable-shard'

/** The request as the object gets it. */
export function forwarded(request: Request, { ip, identity, requestId }: Platform, shard: string): Request {
  const copy = new Request(request)
  const set = (name: string, value: string | undefined) =>
    value === undefined ? copy.headers.delete(name) : copy.headers.set(name, value)
  set(IP_HEADER, ip)
  // A header holds bytes only.
  set(IDENTITY_HEADER, identity && encodeURIComponent(JSON.stringify(identity)))
  set(REQUEST_HEADER, requestId)
  set(SHARD_HEADER, shard)
  return copy
}

/** What {@link forwarded} has written. */
export function readForwarded(headers: Headers): Pick<Platform, 'ip' | 'identity' | 'requestId'> {
  const identity = headers.get(IDENTITY_HEADER)
  return {
    ip: headers.get(IP_HEADER) ?? undefined,
    requestId: headers.get(REQUEST_HEADER) ?? undefined,
    identity: identity === null ? undefined : (JSON.parse(decodeURIComponent(identity)) as Identity),
  }
}
