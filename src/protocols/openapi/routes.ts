import type { Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import type { SecuritySettings } from '../../http/security/security.ts'
import { jsonReply } from '../../web/reply.ts'
import type { OpenApiDocument } from './document.ts'
import type { SwaggerSettings } from './options.ts'
import { pageRoutes } from './page.ts'

/** The parts of the routes. */
export interface DocsRoutesOptions {
  readonly prefix: string
  readonly swagger: SwaggerSettings
  readonly security: SecuritySettings
  /** Makes the document. It must only be called once the handler is complete. */
  readonly make: () => OpenApiDocument
}

/** Returns the routes: `GET {specPath}`, the current document, and `GET {docsPath}`, the page that shows it. */
export function docsRoutes({ prefix, swagger, security, make }: DocsRoutesOptions): Route[] {
  const { docsPath, specPath, assets, routePrefix: publicPrefix = prefix } = swagger
  return [
    {
      method: 'GET',
      path: joinPath(prefix, specPath),
      part: 'docs',
      endpoint: () => jsonReply(make(), { headers: { 'cache-control': 'no-cache' } }),
    },
    ...pageRoutes({ prefix, publicPrefix, docsPath, specPath, security, assets }),
  ]
}
