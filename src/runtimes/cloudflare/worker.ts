/**
 * The `fetch` of a Worker.
 *
 * @module
 */

import type { Handler } from '../../handler.ts'
import { platform } from '../../http/platform.ts'

/**
 * The part of Workers' `ExecutionContext` that is used. Restated, so that the declarations need no types package
 * that a user may not have.
 */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void
}

/** The `fetch` member of a Worker. */
export type WorkerFetch = (request: Request, env: unknown, context: WorkerContext) => Promise<Response>

/**
 * Makes the `fetch` of a Worker: tells the handler the client's address (`cf-connecting-ip`, which Cloudflare sets)
 * and gives it `waitUntil`. `wrangler.toml` needs the compatibility flag `enable_request_signal`, so that a client
 * that leaves stops its run.
 *
 * @example
 * export default { fetch: worker(createHandler({ agents })) } satisfies ExportedHandler
 */
export function worker(handler: Handler): WorkerFetch {
  return (request, _env, context) =>
    handler(
      request,
      platform({
        ip: request.headers.get('cf-connecting-ip') ?? undefined,
        isIsolated: true,
        waitUntil: promise => context.waitUntil(promise),
      }),
    )
}
