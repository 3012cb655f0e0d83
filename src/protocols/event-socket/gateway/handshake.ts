/**
 * Ready-made authentication at the handshake of a socket. A page cannot send headers with a WebSocket. So its requests pass
 * the middleware without a credential, and the same middleware checks `auth.token` here.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import {
  compose,
  type Middleware,
  RequestState,
  type RequestTools,
  type RouteMatch,
} from '../../../http/context.ts'
import { platform } from '../../../http/platform.ts'
import { askedAtHandshake, credentialOf } from '../../../http/security/credential.ts'
import type { SocketHandshake } from '../socket/io/namespace.ts'
import type { AuthenticateSocket } from './options.ts'

/** Most characters of a token. HTTP servers have a similar limit for headers. */
const MAX_TOKEN = 16_384

/** The route that the middleware sees. It has no later handshake, so the middleware has to decide now. */
const MATCH: RouteMatch = {
  found: 'route',
  route: { method: 'GET', path: '', part: 'socket', endpoint: () => new Response(null) },
  params: {},
}

/**
 * Returns a function that asks the middleware who a client is. Returns undefined if there is no ready-made authentication;
 * the middleware has then decided already, on the connection's requests.
 */
export function authenticateBy(
  middleware: readonly Middleware[],
  tools: Pick<RequestTools, 'log' | 'readKeys' | 'roles' | 'handler'>,
): AuthenticateSocket | undefined {
  const asked = askedAtHandshake(middleware)
  if (asked.length === 0) return undefined
  return async handshake => {
    // The middleware has already identified the client by its headers.
    if (handshake.identity !== undefined) return handshake.identity
    const request = requestOf(handshake, asked)
    // The client's address was already determined on the connection's request.
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

/** The first request of the connection, with the credential from `auth` in place of its headers. Throws `unauthorized`. */
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
