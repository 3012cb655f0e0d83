/**
 * Mounts the event socket.
 *
 * @module
 */

import type { Middleware, RequestState, Route } from '../../../http/context.ts'
import type { Platform } from '../../../http/platform.ts'
import { joinPath } from '../../../http/router.ts'

/** Handles the socket's requests. */
export type GatewayFetch = (request: Request, platform: Platform) => Response | Promise<Response>

/** What the routes need. */
export interface GatewayRoutesOptions {
  /** The name of the socket's option, for errors. */
  readonly option: string
  readonly path: string
  /** Whether the gateway has an `authenticate` of its own. */
  readonly decidesItself: boolean
  /** The middleware that runs again at the handshake. */
  readonly askedAtHandshake: readonly Middleware[]
  readonly fetch: GatewayFetch
  /** Throws `unsupported_operation` if this request cannot be served. */
  readonly checkServed: (state: RequestState) => void
  /** Is called when a client's address is not known. */
  readonly onNoAddress: () => void
}

/** Returns the routes: polling by GET and POST, WebSocket upgrades by GET. */
export function gatewayRoutes(options: GatewayRoutesOptions): Route[] {
  const endpoint = (request: Request, state: RequestState) => answer(request, state, options)
  const { decidesItself, askedAtHandshake } = options
  const path = joinPath(options.path)
  const route = {
    path,
    part: 'socket',
    opensConnection: true,
    corsOption: `\`${options.option}.origins\` (by default \`cors\`)`,
    decidesItself,
    askedAtHandshake,
    endpoint,
  } as const
  return [
    { ...route, method: 'GET' },
    { ...route, method: 'POST' },
  ]
}

function answer(
  request: Request,
  state: RequestState,
  { fetch, checkServed, onNoAddress }: GatewayRoutesOptions,
): Response | Promise<Response> {
  checkServed(state)
  if (state.ip === undefined) onNoAddress()
  return fetch(request, state.platform)
}
