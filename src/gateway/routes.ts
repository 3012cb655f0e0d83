/**
 * Mounts the event socket.
 *
 * @module
 */

import type { Middleware, RequestState, Route } from '../http/context.ts'
import type { Platform } from '../http/platform.ts'
import { joinPath } from '../http/router.ts'

/** Where requests for the socket go. */
export type GatewayFetch = (request: Request, platform: Platform) => Response | Promise<Response>

/** What mounting needs. */
export interface GatewayRoutesOptions {
  /** The name of the socket's options, for errors. */
  readonly option: string
  readonly path: string
  /** The gateway has an `authenticate` of its own. */
  readonly decidesItself: boolean
  /** The middleware that is asked again at the handshake. */
  readonly askedAtHandshake: readonly Middleware[]
  readonly fetch: GatewayFetch
  /** Throws `unsupported_operation` where nobody can be served. */
  readonly checkServed: (state: RequestState) => void
  /** Told where the address of a client is not known. */
  readonly onNoAddress: () => void
}

/** The routes: polling by GET and POST, upgrades by GET. */
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
