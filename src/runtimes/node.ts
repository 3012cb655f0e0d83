/**
 * Node.js.
 *
 * @module
 */

import { serve as listen } from 'srvx/node'
import type { Handler } from '../handler.ts'
import { platform } from '../http/platform.ts'
import { type RunningServer, resolveAddress, type ServeOptions, urlOf } from './server.ts'

export type { RunningServer, ServeOptions }

/**
 * Serves a handler with `node:http`, by way of srvx.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export async function serve(handler: Handler, options?: ServeOptions): Promise<RunningServer> {
  const { port, hostname } = resolveAddress(options)
  const server = listen({
    port,
    hostname,
    silent: true,
    gracefulShutdown: false,
    fetch: request =>
      handler(
        request,
        platform({
          get ip() {
            return request.ip
          },
          waitUntil: request.waitUntil,
        }),
      ),
  })
  await server.ready()
  const bound = Number(new URL(server.url ?? '').port)
  return { url: urlOf(hostname, bound), port: bound, close: () => server.close(true) }
}
