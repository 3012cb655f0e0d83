/**
 * The page of the console without any data. Its addresses are relative, so it works below any prefix and behind any proxy.
 *
 * @module
 */

import type { PageCredential } from '../../http/security/page-credentials.ts'
import { escapeHtml } from '../../web/html.ts'
import { BUILT } from './built.ts'

/** The settings of a deployment. */
export interface ConsolePageOptions {
  readonly title: string
  readonly asks: readonly PageCredential[]
  /** Whether the page requests credentials before its first request. */
  readonly asksFirst: boolean
  /** Whether users log in with a provider. */
  readonly hasLogin: boolean
}

/** The content security policy: only resources of the service itself, no script from text, and no HTML from text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "connect-src 'self'",
  // The page itself narrows it to the frame of pages, whose address only the browser knows.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'cache-control': 'no-cache',
}

/** Most services use it, and a part with its own `authenticate` may. */
const BEARER: PageCredential = { header: 'authorization', prefix: 'Bearer ', label: 'Bearer token' }

/** Answers with the page. */
export function pageOf({ title, asks, asksFirst, hasLogin }: ConsolePageOptions): Response {
  const { script, imports, style, icon } = BUILT
  const preloads = imports.map(name => `<link rel="modulepreload" href="console/assets/${name}">\n`).join('')
  const asked = escapeHtml(JSON.stringify(asks.length > 0 ? asks : [BEARER]))
  const marks = `${asksFirst ? ' data-asks-first' : ''}${hasLogin ? ' data-has-login' : ''}`
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="console/assets/${icon}">
<link rel="stylesheet" href="console/assets/${style}">
${preloads}<div id="console" data-title="${escapeHtml(title)}" data-asks="${asked}"${marks}></div>
<noscript><p>This page needs JavaScript.</p></noscript>
<script type="module" src="console/assets/${script}"></script>
</html>
`
  return new Response(html, { headers: HEADERS })
}
