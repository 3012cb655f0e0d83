/**
 * Passes facts about the client to the object of the event socket, in headers of the request. Each of these headers is set or
 * removed, so a client cannot forge one.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import type { HostedState } from '../../../core/hosted.ts'
import type { Identity, Platform } from '../../../http/platform.ts'
import { queryOf } from '../../../http/router.ts'
import type { GatewayFetch } from './routes.ts'

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

/**
 * Sends requests of the event socket to a fixed number of objects. New clients go to any object, others to the object with
 * their session. Throws `invalid_options` if there are no such objects.
 */
export function forwardToObjects(state: Pick<HostedState, 'countOf' | 'forward'>): GatewayFetch {
  const send = state.forward('gateway')
  const shards = state.countOf('gateway')
  return (request, platform) => {
    const shard = shardOf(request, shards)
    return send(`gateway:${shard}`, forwarded(request, platform, shard))
  }
}

/** The number of the object is before the first dot of a session's id. An invalid id goes to any object. */
function shardOf(request: Request, shards: number): string {
  const query = queryOf(request.url)
  const sid = (query.has('EIO') && query.get('sid')) || ''
  const [, named] = /^(\d{1,4})\./.exec(sid) ?? []
  if (named !== undefined && Number(named) < shards) return String(Number(named))
  return String(Math.floor(Math.random() * shards))
}
