/**
 * Passes facts about the client to the object of the event socket, in headers of the request. Each of these headers is set or
 * removed, so a client cannot forge one.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import type { Identity, Platform } from '../../../http/platform.ts'

const IP_HEADER = 'x-servable-ip'
const IDENTITY_HEADER = 'x-servable-identity'
const REQUEST_HEADER = 'x-servable-request'
/** The header with the name of the object, which the object itself does not know. */
export const SHARD_HEADER = 'x-servable-shard'

/** Most characters of an identity with all its members, as the URI-encoded JSON that the object gets. */
const MAX_IDENTITY = 8192

/** Makes the request for the object. Throws `internal_error` for an identity that is too large. */
export function forwarded(request: Request, { ip, identity, requestId }: Platform, shard: string): Request {
  const copy = new Request(request)
  const set = (name: string, value: string | undefined) =>
    value === undefined ? copy.headers.delete(name) : copy.headers.set(name, value)
  set(IP_HEADER, ip)
  set(IDENTITY_HEADER, identity && encoded(identity))
  set(REQUEST_HEADER, requestId)
  set(SHARD_HEADER, shard)
  return copy
}

/** Headers cannot contain all characters, so the JSON is encoded. */
function encoded(identity: Identity): string {
  const text = encodeURIComponent(JSON.stringify(identity))
  if (text.length <= MAX_IDENTITY) return text
  throw new ServableError(
    'internal_error',
    `An identity of a socket may have ${MAX_IDENTITY} characters: give it fewer members`,
  )
}

/** Reads the headers of {@link forwarded}. */
export function readForwarded(headers: Headers): Pick<Platform, 'ip' | 'identity' | 'requestId'> {
  const identity = headers.get(IDENTITY_HEADER)
  return {
    ip: headers.get(IP_HEADER) ?? undefined,
    requestId: headers.get(REQUEST_HEADER) ?? undefined,
    identity: identity === null ? undefined : (JSON.parse(decodeURIComponent(identity)) as Identity),
  }
}
