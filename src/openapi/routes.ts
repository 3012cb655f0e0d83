import { joinPath, type Route } from '../http/router.ts'
import { jsonResponse } from '../web/response.ts'
import { createDocument, type DocumentParts } from './document.ts'

/** `GET {specPath}`: the document as it is now. */
export function specRoute(parts: DocumentParts): Route {
  return {
    method: 'GET',
    path: joinPath(parts.prefix, parts.swagger.specPath),
    part: 'docs',
    endpoint: () => jsonResponse(createDocument(parts), { headers: { 'cache-control': 'no-cache' } }),
  }
}
