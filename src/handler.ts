/**
 * The `createHandler` of `servable`, which only maps options to plugins.
 *
 * @module
 */

import type { Servable } from './agents/contract.ts'
import type { Nothing } from './agents/served.ts'
import { createCore } from './core/core.ts'
import { type Handler, type NamedOptions, type ServedBy, serve } from './core/handler.ts'
import { resolveSecurity } from './http/security/security.ts'
import { type HandlerOptions, toCoreOptions } from './options.ts'
import { createDocument, type OpenApiDocument } from './protocols/openapi/document.ts'
import { resolveSwagger, type SwaggerOptions } from './protocols/openapi/options.ts'

/**
 * Makes the handler that serves agents, teams and workflows. Throws a `ServableError` with code `invalid_options` that names
 * every wrong option. The handler itself never rejects: every failure is a response.
 *
 * @example
 * export default { fetch: createHandler({ agents: { echo } }) }
 */
export function createHandler<
  const Agents extends HandlerOptions['agents'] = Nothing,
  const Teams extends HandlerOptions['teams'] = Nothing,
  const Workflows extends HandlerOptions['workflows'] = Nothing,
  const List extends readonly Servable[] = readonly [],
>(
  options: HandlerOptions & NamedOptions<Agents, Teams, Workflows, List> = {},
): Handler<ServedBy<Agents, Teams, Workflows, List>> {
  const core = createCore(toCoreOptions(options))
  // Check them even if no document shows them.
  resolveSecurity(options, core.settings)
  return serve(core)
}

/**
 * The OpenAPI 3.0.3 document of what a handler with these options serves now, without a server. Throws `invalid_options`.
 *
 * @example
 * const document = openapi(options, { title: 'My agents' })
 */
export function openapi(options: HandlerOptions, swagger: Partial<SwaggerOptions> = {}): OpenApiDocument {
  const core = createCore(toCoreOptions(options))
  const resolved = resolveSwagger({ ...options.swagger, ...swagger })
  return createDocument(core, resolved, resolveSecurity(options, core.settings))
}
