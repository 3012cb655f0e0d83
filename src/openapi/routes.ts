import type { Route } from '../http/context.ts'
import { joinPath } from '../http/router.ts'
import type { SecuritySettings } from '../http/security.ts'
import { jsonReply } from '../web/reply.ts'
import { createDocument, type DocumentParts } from './document.ts'
import type { SwaggerSettings } from './options.ts'
import { pageRoutes } from './page.ts'

/** What the routes need. */
export interface DocsRoutesOptions {
  readonly prefix: string
  readonly swagger: SwaggerSettings
  readonly security: SecuritySettings
  /** What the document tells of, complete once the handler is made. */
  readonly parts: () => DocumentParts
}

/** `GET {specPath}`, the document as it is now, and `GET {docsPath}`, the page that shows it. */
export function docsRoutes({ prefix, swagger, security, parts }: DocsRoutesOptions): Route[] {
  const { docsPath, specPath, assets, routePrefix: publicPrefix = prefix } = swagger
  return [
    {
      method: 'GET',
      path: joinPath(prefix, specPath),
      part: 'docs',
      endpoint: () => jsonReply(createDocument(parts()), { headers: { 'cache-control': 'no-cache' } }),
    },
    ...pageRoutes({ prefix, publicPrefix, docsPath, specPath, security, assets }),
  ]
}
