/**
 * Ready-made authentication at the handshake of a socket. A page cannot send headers with a WebSocket, so its requests come
 * through the middleware without a credential, and what the client says in `auth.token` is checked here by the same middleware.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import {
  compose,
  type Middleware,
  RequestState,
  type RequestTools,
  type RouteMatch,
} from '../http/context.ts'
import { askedAtHandshake, credentialOf } from '../http/credential.ts'
import { platform } from '../http/platform.ts'
import type { SocketHandshake } from '../socket/io/namespace.ts'
import type { AuthenticateSocket } from './options.ts'

/** Most characters of a token: as many as HTTP servers take in a header. */
const MAX_TOKEN = 16_384

/** Says to the middleware what it is asked for. Nothing waits for a later handshake. */
const MATCH: RouteMatch = {
  found: 'route',
  route: { method: 'GET', path: '', part: 'socket', endpoint: () => new Response(null) },
  params: {},
}

/**
 * Asks the middleware who a client is, where there is ready-made authentication among it. Undefined where there is none: then
 * it has said so with the connection's requests.
 */
export function authenticateBy(
  middleware: readonly Middleware[],
  tools: Pick<RequestTools, 'log' | 'readKeys'>,
): AuthenticateSocket | undefined {
  const asked = askedAtHandshake(middleware)
  if (asked.length === 0) return undefined
  return async handshake => {
    // All of it has been asked, with headers.
    if (handshake.identity !== undefined) return handshake.identity
    const request = requestOf(handshake, asked)
    // The address is the one that the connection's request was found to come from.
    const state = new RequestState(request, platform({ ip: handshake.ip }), {
      ...tools,
      addressOf: (_, ip) => ip,
    })
    state.match = MATCH
    let isThrough = false
    const ask = compose(asked, () => {
      isThrough = true
      return new Response(null, { status: 204 })
    })
    const answer = await ask(request, state)
    if (answer instanceof Response && !answer.ok) return answer
    return isThrough ? state.identity : undefined
  }
}

/** The first request of the connection, with what the client says instead of its headers. Throws `unauthorized`. */
function requestOf(
  { url, headers: kept, auth, requestId }: SocketHandshake,
  asked: readonly Middleware[],
): Request {
  const headers = new Headers(kept)
  if (requestId !== undefined) headers.set('x-request-id', requestId)
  const { token } = auth
  if (typeof token === 'string' && token.length <= MAX_TOKEN) {
    for (const credential of asked.map(credentialOf)) {
      if (credential === undefined || credential.read(headers) !== undefined) continue
      try {
        credential.write(headers, token)
      } catch (cause) {
        throw new ServableError('unauthorized', 'Not authorized', { cause })
      }
    }
  }
  return new Request(url, { headers })
}
