/** The server of the runtime that this process is: Node, Bun or Deno. */

import type { Fetch, RunningServer, ServeOptions } from './server.ts'

/** Serves a handler, as `serve` of `servable/node`, `servable/bun` or `servable/deno`. */
export async function serveHere(handler: Fetch, options: ServeOptions): Promise<RunningServer> {
  const { serve } = await ('Deno' in globalThis
    ? import('./deno.ts')
    : 'Bun' in globalThis
      ? import('./bun.ts')
      : import('./node.ts'))
  return serve(handler, options)
}
