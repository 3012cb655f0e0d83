import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { HandlerOptions } from 'servable'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** The page, as `vite build` makes it. Its paths have no `..`, since a URL has none. */
async function page({ url }: Request): Promise<Response> {
  const { pathname } = new URL(url)
  const file = pathname === '/' ? '/index.html' : pathname
  const type = TYPES[extname(file)]
  const body = type && (await readFile(join(import.meta.dirname, 'dist', file)).catch(() => undefined))
  if (!type || !body) return new Response('Not found', { status: 404 })
  return new Response(body, { headers: { 'content-type': type } })
}

// The page has the path `/`, where A2A would be.
export default { fallback: page, a2a: { basePath: '/api/a2a' } } satisfies HandlerOptions
