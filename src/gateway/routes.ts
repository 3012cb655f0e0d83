/**
 * Mounts the event socket.
 *
 * @module
 */

import type { RequestState } from '../http/context.ts'
import type { Platform } from '../http/platform.ts'
import { joinPath, type Route } from '../http/router.ts'
import { refuse } from '../socket/engine/refusal.ts'
import type { Cors } from '../web/cors.ts'

/** Where requests for the socket go. */
export type GatewayFetch = (request: Request, platform: Platform) => Response | Promise<Response>

/** What mounting needs. */
export interface GatewayRoutesOptions {
  readonly path: string
  /** The gateway has an `authenticate` of its own. */
  readonly decidesItself: boolean
  readonly fetch: GatewayFetch
  /** Which origins may call beside the own one. */
  readonly cors: Cors | undefined
  readonly publicUrl: string | undefined
  /** Throws `unsupported_operation` where nobody can be served. */
  readonly checkServed: (state: RequestState) => void
}

/** The routes: polling by GET and POST, upgrades by GET. */
export function gatewayRoutes(options: GatewayRoutesOptions): Route[] {
  const endpoint = (request: Request, state: RequestState) => answer(request, state, options)
  const { decidesItself } = options
  const path = joinPath(options.path)
  return [
    { method: 'GET', path, part: 'socket', decidesItself, endpoint },
    { method: 'POST', path, part: 'socket', decidesItself, endpoint },
  ]
}

function answer(
  request: Request,
  state: RequestState,
  { fetch, cors, publicUrl, checkServed }: GatewayRoutesOptions,
): Response | Promise<Response> {
  checkServed(state)
  const origin = request.headers.get('origin')
  // A browser lets any page open a WebSocket, and sends its cookies along (RFC 6455, section 10.2).
  const isForeign = origin !== null && !isOwnOrigin(origin, request, publicUrl)
  if (isForeign && !mayCall(origin, request, cors)) return refuse('forbidden')
  return fetch(request, state.platform)
}

/** Any page may call where origins are open, but without credentials: a browser adds its cookies to a WebSocket. */
function mayCall(origin: string, request: Request, cors: Cors | undefined): boolean {
  if (cors === undefined || !cors.allows(origin)) return false
  return !cors.isOpen || !request.headers.has('cookie')
}

function isOwnOrigin(origin: string, request: Request, publicUrl: string | undefined): boolean {
  if (origin === publicUrl) return true
  // Behind a proxy that ends TLS the scheme is not the request's.
  return URL.canParse(origin) && new URL(origin).host === new URL(request.url).host
}
