/**
 * The interactive documentation: Swagger UI with the document. The page sends no request to another host.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import { isNavigation } from '../../http/security/cross-site.ts'
import { asksFirst, asksOf, type PageCredential } from '../../http/security/page-credentials.ts'
import type { SecuritySettings } from '../../http/security/security.ts'
import { escapeHtml } from '../../web/html.ts'
import { PAGE_SCRIPT } from './page-script.ts'

/** The files of Swagger UI that the page needs. */
export const DOCS_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'] as const

/** The name of a file of Swagger UI. */
export type DocsFile = (typeof DOCS_FILES)[number]

/** Returns a file of Swagger UI: `swaggerUi()`, or on Workers `workerAssets()`. */
export type DocsAssets = (file: DocsFile) => Response | Promise<Response>

/** Path of the page, below the prefix. */
export const DOCS_PATH = '/docs'

/** Options of the page. */
export interface DocsPageOptions {
  readonly prefix: string
  /** The prefix that clients see, if a proxy changes it. */
  readonly publicPrefix: string
  readonly specPath: string
  readonly security: SecuritySettings
  readonly assets: DocsAssets | undefined
}

/** The content security policy. It allows only what the service itself serves. Swagger UI needs inline styles. */
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

/** The name of the page's own script. */
const START = 'start.js'

/** Returns the routes of the page and its files. Only paths and header names differ between deployments. */
export function pageRoutes(options: DocsPageOptions): Route[] {
  const path = joinPath(options.prefix, DOCS_PATH)
  const asks = asksOf(options.security)
  return [
    {
      method: 'GET',
      path,
      part: 'docs',
      isOpenTo: isNavigation,
      endpoint: request => answerPage(request, options, asks),
    },
    {
      method: 'GET',
      path: joinPath(path, 'assets/:file'),
      part: 'docs',
      isOpenTo: () => true,
      endpoint: (_, state) => answerFile(state, options),
    },
  ]
}

function answerPage(request: Request, options: DocsPageOptions, asks: readonly PageCredential[]): Response {
  const { assets, publicPrefix, specPath, security } = options
  if (assets === undefined) throw new ServableError('not_found', NO_ASSETS)
  const own = joinPath(publicPrefix, DOCS_PATH, 'assets')
  const ask = asksFirst(asks, security, request) ? ' data-ask="first"' : ''
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API documentation</title>
<link rel="icon" href="${own}/favicon-32x32.png">
<link rel="stylesheet" href="${own}/swagger-ui.css">
<style>${STYLE}</style>
${asks.length === 0 ? '' : formOf(asks)}
<p id="note" role="alert" hidden></p>
<div id="docs" data-spec="${joinPath(publicPrefix, specPath)}"${ask}></div>
<noscript><p>This page needs JavaScript.</p></noscript>
<script src="${own}/swagger-ui-bundle.js"></script>
<script src="${own}/${START}"></script>
</html>
`
  return new Response(html, { headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8' } })
}

const STYLE = `
:root { color-scheme: light dark }
body { margin: 0 }
#ask, #note, noscript p { margin: 2rem auto; max-width: 40rem; padding: 0 1rem; font-family: sans-serif }
#ask label, #ask input { display: block; box-sizing: border-box; width: 100%; margin: 0.5rem 0 }
#ask input, #ask button { font: inherit; padding: 0.5rem }
`

/**
 * The form for credentials. Its fields have no names. So even if the form is submitted without the script, the address
 * contains no credential.
 */
function formOf(asks: readonly PageCredential[]): string {
  const fields = asks.map(({ header, prefix, label }) => {
    const data = `data-header="${escapeHtml(header)}" data-prefix="${escapeHtml(prefix)}"`
    return `<label>${escapeHtml(label)}<input type="password" autocomplete="off" ${data}></label>`
  })
  return `<form id="ask" hidden>
<p>This documentation is for users of the service.</p>
${fields.join('\n')}
<button>Show it</button>
</form>`
}

const NO_ASSETS =
  'The page needs the files of Swagger UI: give `swagger.assets`, such as `swaggerUi()` of `servable/swagger-ui`'

async function answerFile({ params }: RequestState, options: DocsPageOptions): Promise<Response> {
  const { file = '' } = params
  if (file === START) {
    const headers = { ...HEADERS, 'content-type': 'text/javascript; charset=utf-8' }
    return new Response(PAGE_SCRIPT, { headers })
  }
  const known = DOCS_FILES.find(each => each === file)
  if (known === undefined || options.assets === undefined) {
    throw new ServableError('not_found', 'There is no such file of the documentation')
  }
  return options.assets(known)
}
