/**
 * Puts the parts together: one pure `(Request) => Promise<Response>`.
 *
 * @module
 */

import { createCatalog } from './http/catalog.ts'
import type { Log } from './http/context.ts'
import { createDispatch } from './http/dispatch.ts'
import { createKeyReader, keyHeaders } from './http/key-headers.ts'
import { createMatcher } from './http/router.ts'
import { listRoutes } from './http/routes/list-routes.ts'
import { runRoutes } from './http/routes/run-routes.ts'
import { type HandlerOptions, resolveOptions } from './options.ts'
import type { RunFailure } from './runs/run.ts'
import { createCors } from './web/cors.ts'

/**
 * Answers a request. The second argument is for the entries of the runtimes; anything else in its place, such as
 * what Bun, Deno, Workers and Next pass there, is ignored, so the handler itself can be given to each of them.
 */
export type Handler = (request: Request, platform?: unknown) => Promise<Response>

/**
 * Makes the handler that serves agents, teams and workflows. Throws a `ServableError` with code `invalid_options`
 * that names what is wrong. The handler itself never rejects: every failure is a response.
 *
 * @example
 * export default { fetch: createHandler({ agents: { echo } }) }
 */
export function createHandler(options: HandlerOptions = {}): Handler {
  const settings = resolveOptions(options)
  const { prefix, production, log, middleware, fallback } = settings
  const catalog = createCatalog(settings)
  const readKeys = createKeyReader(settings.providers)
  const runs = { ...settings.runs, production, onFailure: (failure: RunFailure) => logFailure(log, failure) }

  const routes = [
    ...runRoutes({ prefix, catalog, readKeys, runs, maxBodyBytes: settings.limits.maxBodyBytes }),
    ...(settings.registry === undefined ? [] : listRoutes(prefix, catalog)),
  ]

  const find = createMatcher(routes)
  const cors = createCors(settings.cors, keyHeaders(settings.providers))
  return createDispatch({ find, middleware, cors, fallback, production, log, readKeys })
}

/** A run's id is a capability, so a log line shows the start of it only. */
function logFailure(log: Log, { runId, ...failure }: RunFailure): void {
  log({ level: 'error', event: 'run.failed', ...failure, runId: runId.slice(0, 8) })
}
