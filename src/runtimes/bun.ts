/**
 * Bun.
 *
 * @module
 */

import type { Handler } from '../handler.ts'
import { platform } from '../http/platform.ts'
import { createPending, type RunningServer, resolveAddress, type ServeOptions, urlOf } from './server.ts'

export type { RunningServer, ServeOptions }

/** The part of Bun that is used. Restated, so that the declarations need no types package that a user may not have. */
interface BunServer {
  readonly port: number
  requestIP(request: Request): { readonly address: string } | null
  stop(closeActive: boolean): Promise<void>
}

declare const Bun: {
  serve(options: {
    port: number
    hostname: string
    idleTimeout: number
    fetch(request: Request, server: BunServer): Promise<Response>
  }): BunServer
}

/**
 * Serves a handler with `Bun.serve`. `idleTimeout` is off: Bun would cut an answer that is silent for ten seconds.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export async function serve(handler: Handler, options?: ServeOptions): Promise<RunningServer> {
  const { port, hostname } = resolveAddress(options)
  const pending = createPending()
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: 0,
    fetch: (request, self) =>
      handler(
        request,
        platform({
          get ip() {
            return self.requestIP(request)?.address
          },
          waitUntil: pending.add,
        }),
      ),
  })
  return {
    url: urlOf(hostname, server.port),
    port: server.port,
    async close() {
      await server.stop(true)
      await pending.settled()
    },
  }
}
