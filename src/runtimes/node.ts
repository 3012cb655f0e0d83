/**
 * Node.js.
 *
 * @module
 */

import type { Server } from 'node:http'
import type { ServerRequest } from 'srvx'
import { serve as listen } from 'srvx/node'
import { BrandedPlatform, isWebSocket, type Platform } from '../http/platform.ts'
import type { Reply } from '../web/reply.ts'
import { withHost } from './node/host.ts'
import { LeavingResponse } from './node/left-body.ts'
import { respond } from './node/respond.ts'
import { acceptSockets } from './node/sockets.ts'
import { checkNode } from './node/version.ts'
import { type Fetch, type Listen, type RunningServer, type ServeOptions, serveOn } from './server.ts'

export { directory } from './directory.ts'
export type { CloseOptions, Fetch, RunningServer, ServeOptions } from './server.ts'

/**
 * Serves a handler with `node:http` (through srvx), and WebSockets (through ws). Node must be 22.13 or newer.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export async function serve(handler: Fetch, options?: ServeOptions): Promise<RunningServer> {
  checkNode()
  return serveOn(listenTo, handler, options)
}

/**
 * Milliseconds after which an idle connection is closed. Proxies keep theirs for a minute: if the server closed first, while a
 * request is on its way, the proxy would answer 502.
 */
const KEEP_ALIVE_MS = 75_000

const listenTo: Listen = async (handler, { port, hostname }, waitUntil) => {
  // A handler may give another one a new request that follows this one's signal. On Node, the signal of a request that is
  // garbage collected never fires.
  const kept = new WeakMap<object, Request>()
  const server = listen({
    port,
    hostname,
    silent: true,
    gracefulShutdown: false,
    node: {
      keepAliveTimeout: KEEP_ALIVE_MS,
      ServerResponse: LeavingResponse,
      // Other upgrades, such as to HTTP/2, and those by a method that opens no WebSocket (RFC 6455, section 4.1) are ignored: the
      // request is answered normally (RFC 9110, section 7.8).
      shouldUpgradeCallback: ({ method, headers }) => method === 'GET' && isWebSocket(headers.upgrade),
    },
    fetch(request) {
      const response = request.runtime?.node?.res
      if (response !== undefined) kept.set(response, request)
      return handler(withHost(request), new NodePlatform(request))
    },
  })
  const sockets = acceptSockets(server.node?.server, handler, waitUntil)
  await server.ready()
  return {
    port: Number(new URL(server.url ?? '').port),
    stop: () => stop(server.node?.server as Server),
    async cut() {
      sockets.close()
      await server.close(true)
    },
  }
}

/** The platform of a request that is no upgrade. Upgrade requests do not pass here. */
class NodePlatform extends BrandedPlatform implements Platform {
  readonly #request: ServerRequest
  readonly waitUntil: Platform['waitUntil']

  constructor(request: ServerRequest) {
    super()
    this.#request = request
    this.waitUntil = request.waitUntil
  }

  get ip(): string | undefined {
    return this.#request.ip
  }

  upgrade(): undefined {}

  respond(reply: Reply): Response {
    return respond(reply)
  }
}

/** While a server closes: milliseconds between searches for idle connections. */
const IDLE_MS = 20

/** Stops the server. Each connection ends after its current answer. */
async function stop(server: Server): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve))
  const timer = setInterval(() => server.closeIdleConnections(), IDLE_MS)
  await closed
  clearInterval(timer)
}
