/**
 * Node.js.
 *
 * @module
 */

import { serve as listen } from 'srvx/node'
import { isWebSocket, platform } from '../http/platform.ts'
import { acceptSockets } from './node/sockets.ts'
import {
  createPending,
  type Fetch,
  type RunningServer,
  resolveAddress,
  type ServeOptions,
  urlOf,
} from './server.ts'

export type { Fetch, RunningServer, ServeOptions }

/**
 * Serves a handler with `node:http`, by way of srvx, and WebSockets by way of ws.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export async function serve(handler: Fetch, options?: ServeOptions): Promise<RunningServer> {
  const { port, hostname } = resolveAddress(options)
  const pending = createPending()
  const server = listen({
    port,
    hostname,
    silent: true,
    gracefulShutdown: false,
    // Other upgrades, such as to HTTP/2, are declined by answering as if nobody had asked (RFC 9110, section 7.8).
    node: { shouldUpgradeCallback: ({ headers }) => isWebSocket(headers.upgrade) },
    fetch: request =>
      handler(
        request,
        platform({
          get ip() {
            return request.ip
          },
          waitUntil: request.waitUntil,
          // The requests that can be upgraded come another way.
          upgrade: () => undefined,
        }),
      ),
  })
  const sockets = acceptSockets(server.node?.server, handler, pending.add)
  await server.ready()
  const bound = Number(new URL(server.url ?? '').port)
  return {
    url: urlOf(hostname, bound),
    port: bound,
    async close() {
      sockets.close()
      await server.close(true)
      await pending.settled()
    },
  }
}
