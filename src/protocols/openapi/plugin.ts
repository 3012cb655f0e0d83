/**
 * The OpenAPI document and its page as a plugin: the entry `servable/openapi`.
 *
 * Begin with `document.ts`, which joins what the core and the plugins describe. May import `core` and what is below it.
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, flag, func, path } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import {
  checkSecurity,
  resolveSecurity,
  type SecurityOptions,
  type SecuritySettings,
} from '../../http/security/security.ts'
import { jsonReply } from '../../web/reply.ts'
import { createDocument, type OpenApiDocument } from './document.ts'
import { resolveSwagger, SPEC_PATH, type SwaggerOptions, type SwaggerSettings } from './options.ts'
import { DOCS_PATH, pageRoutes } from './page.ts'

/** Options of the OpenAPI document: how the API is documented, and which security schemes the document contains. */
export interface OpenApiOptions extends Omit<SwaggerOptions, 'enabled'>, SecurityOptions {}

const OptionsSchema: v.GenericSchema<unknown> = v.pipe(
  v.strictObject({
    enabled: v.optional(flag),
    title: v.optional(v.string()),
    description: v.optional(v.string()),
    version: v.optional(v.string()),
    routePrefix: v.optional(path),
    servers: v.optional(v.array(v.strictObject({ url: v.string(), description: v.optional(v.string()) }))),
    assets: v.optional(func),
    specPath: v.optional(path),
  }),
  v.check(
    ({ specPath = SPEC_PATH }) => specPath !== DOCS_PATH,
    `must have a \`specPath\` other than ${DOCS_PATH}, where the page is`,
  ),
)

/** Serves an OpenAPI document, and a page for it if `assets` are given. Throws `invalid_options`. */
export function openapi(options: OpenApiOptions = {}): Plugin {
  return openapiAs('openapi', options)
}

/** Checks the `swagger` option, whose `enabled` turns it on. Throws `invalid_options`. */
export function checkSwagger(option: string, options: unknown): void {
  checkOptions(option, v.looseObject({ enabled: flag }), options)
  checkOptions(option, OptionsSchema, options)
}

/** The same plugin, with the name of an option for errors. */
export function openapiAs(option: string, { securitySchemes, security, ...options }: OpenApiOptions): Plugin {
  checkOptions(option, OptionsSchema, options)
  checkSecurity({ securitySchemes, security })
  const settings = resolveSwagger(options)
  return asPlugin({
    name: 'openapi',
    mount(core) {
      const { specPath, assets } = settings
      const resolved = resolveSecurity({ securitySchemes, security }, core.settings)
      // The document is made later, so it includes what other plugins mount after this one.
      const make = () => createDocument(core, settings, resolved)
      return {
        routes: docsRoutes({ prefix: core.prefix, swagger: settings, security: resolved, make }),
        links: {
          ...(assets && { docs: joinPath(core.prefix, DOCS_PATH) }),
          spec: joinPath(core.prefix, specPath),
        },
      }
    },
  })
}

/** The parts of the routes. */
interface DocsRoutesOptions {
  readonly prefix: string
  readonly swagger: SwaggerSettings
  readonly security: SecuritySettings
  /** Makes the document. It must only be called once the handler is complete. */
  readonly make: () => OpenApiDocument
}

/** Returns the routes: `GET {specPath}`, the current document, and `GET /docs`, the page that shows it. */
function docsRoutes({ prefix, swagger, security, make }: DocsRoutesOptions): Route[] {
  const { specPath, assets, routePrefix: publicPrefix = prefix } = swagger
  return [
    {
      method: 'GET',
      path: joinPath(prefix, specPath),
      part: 'docs',
      endpoint: () => jsonReply(make(), { headers: { 'cache-control': 'no-cache' } }),
    },
    ...pageRoutes({ prefix, publicPrefix, specPath, security, assets }),
  ]
}
