/**
 * Deno.
 *
 * @module
 */

import type { Handler } from '../handler.ts'
import { platform } from '../http/platform.ts'
import { createPending, type RunningServer, resolveAddress, type ServeOptions, urlOf } from './server.ts'

export type { RunningServer, ServeOptions }

/** The part of Deno that is used. Restated, so that the declarations need no types package that a user may not have. */
interface DenoAddress {
  readonly hostname: string
  readonly port: number
}

declare const Deno: {
  serve(
    options: { port: number; hostname: string; signal: AbortSignal; onListen(): void },
    handler: (request: Request, info: { readonly remoteAddr: DenoAddress }) => Promise<Response>,
  ): { readonly addr: DenoAddress; readonly finished: Promise<void> }
}

/**
 * Serves a handler with `Deno.serve`. Needs `--allow-net`; `--allow-env=NODE_ENV` as well where errors are to be
 * shown in development.
 *
 * @example
 * const server = await serve(createHandler({ agents }), { port: 3000 })
 */
export async function serve(handler: Handler, options?: ServeOptions): Promise<RunningServer> {
  const { port, hostname } = resolveAddress(options)
  const pending = createPending()
  const stop = new AbortController()
  const server = Deno.serve({ port, hostname, signal: stop.signal, onListen() {} }, (request, info) =>
    handler(request, platform({ ip: info.remoteAddr.hostname, waitUntil: pending.add })),
  )
  return {
    url: urlOf(hostname, server.addr.port),
    port: server.addr.port,
    async close() {
      stop.abort()
      await server.finished
      await pending.settled()
    },
  }
}
