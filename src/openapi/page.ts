/**
 * The interactive documentation: Swagger UI over the document, with no request to another host.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import type { RequestState } from '../http/context.ts'
import { joinPath, type Route } from '../http/router.ts'

/** The files of Swagger UI that the page needs. */
export const DOCS_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'] as const

/** The name of such a file. */
export type DocsFile = (typeof DOCS_FILES)[number]

/** Where the files of Swagger UI come from: `swaggerUi()`, or on Workers `workerAssets()`. */
export type DocsAssets = (file: DocsFile) => Response | Promise<Response>

/** What the page needs. */
export interface PageOptions {
  readonly prefix: string
  /** The prefix as clients see it, where a proxy changes it. */
  readonly publicPrefix: string
  readonly docsPath: string
  readonly specPath: string
  readonly title: string
  readonly assets: DocsAssets | undefined
}

/** Nothing but what the service itself serves. Swagger UI sets styles of elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** The script that starts it, which is no file of Swagger UI's. */
const START = 'start.js'

/** The page, and what it loads. */
export function pageRoutes(options: PageOptions): Route[] {
  const path = joinPath(options.prefix, options.docsPath)
  return [
    { method: 'GET', path, part: 'docs', endpoint: () => answerPage(options) },
    {
      method: 'GET',
      path: joinPath(path, 'assets/:file'),
      part: 'docs',
      endpoint: (_, state) => answerFile(state, options),
    },
  ]
}

function answerPage({ title, assets, publicPrefix, docsPath }: PageOptions): Response {
  if (assets === undefined) throw new ServableError('not_found', NO_ASSETS)
  const own = joinPath(publicPrefix, docsPath, 'assets')
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${own}/favicon-32x32.png">
<link rel="stylesheet" href="${own}/swagger-ui.css">
<div id="docs"></div>
<script src="${own}/swagger-ui-bundle.js"></script>
<script src="${own}/${START}"></script>
</html>
`
  return new Response(html, { headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8' } })
}

const NO_ASSETS =
  'The page needs the files of Swagger UI: give `swagger.assets`, such as `swaggerUi()` of `servable/swagger-ui`'

async function answerFile({ params }: RequestState, options: PageOptions): Promise<Response> {
  const { file = '' } = params
  if (file === START) {
    const headers = { ...HEADERS, 'content-type': 'text/javascript; charset=utf-8' }
    return new Response(startScript(joinPath(options.publicPrefix, options.specPath)), { headers })
  }
  const known = DOCS_FILES.find(each => each === file)
  if (known === undefined || options.assets === undefined) {
    throw new ServableError('not_found', 'There is no such file of the documentation')
  }
  return options.assets(known)
}

/** Keys are not kept in the browser: a page that is opened again knows none. */
function startScript(url: string): string {
  const settings = {
    url,
    dom_id: '#docs',
    tryItOutEnabled: true,
    persistAuthorization: false,
    deepLinking: true,
  }
  return `SwaggerUIBundle(${JSON.stringify(settings)})\n`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
