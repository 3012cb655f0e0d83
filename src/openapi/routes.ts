import type { Route } from '../http/context.ts'
import { joinPath } from '../http/router.ts'
import { jsonReply } from '../web/reply.ts'
import { createDocument, type DocumentParts } from './document.ts'
import { pageRoutes } from './page.ts'

/** `GET {specPath}`, the document as it is now, and `GET {docsPath}`, the page that shows it. */
export function docsRoutes(parts: DocumentParts): Route[] {
  const { prefix, swagger, security } = parts
  const { docsPath, specPath, assets, routePrefix: publicPrefix = prefix } = swagger
  return [specRoute(parts), ...pageRoutes({ prefix, publicPrefix, docsPath, specPath, security, assets })]
}

function specRoute(parts: DocumentParts): Route {
  return {
    method: 'GET',
    path: joinPath(parts.prefix, parts.swagger.specPath),
    part: 'docs',
    endpoint: () => jsonReply(createDocument(parts), { headers: { 'cache-control': 'no-cache' } }),
  }
}
