/**
 * The files of Swagger UI on Node, Bun and Deno. They come from the package `swagger-ui-dist`, which the application
 * installs.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { ServableError } from '../base/errors.ts'
import type { DocsAssets, DocsFile } from '../protocols/openapi/page.ts'

const TYPES: Readonly<Record<DocsFile, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

/**
 * Gives the documentation page its files. Throws `invalid_options` if `swagger-ui-dist` is not installed.
 *
 * @example
 * createHandler({ swagger: { enabled: true, assets: swaggerUi() } })
 */
export function swaggerUi(): DocsAssets {
  const require = createRequire(import.meta.url)
  const files = new Map<DocsFile, Promise<Uint8Array<ArrayBuffer>>>()
  // Without these comments, `next build` takes the whole package, or the whole project, into the app.
  const pathOf = (file: string) => {
    try {
      return require.resolve(/* turbopackIgnore: true */ `swagger-ui-dist/${file}`)
    } catch (cause) {
      const text = '`swaggerUi()` needs the package `swagger-ui-dist`: install it beside servable'
      throw new ServableError('invalid_options', text, { cause })
    }
  }
  pathOf('swagger-ui-bundle.js')
  return async file => {
    let bytes = files.get(file)
    if (bytes === undefined) {
      bytes = readFile(/* turbopackIgnore: true */ pathOf(file)).then(buffer => new Uint8Array(buffer))
      files.set(file, bytes)
    }
    const headers = { 'content-type': TYPES[file], 'cache-control': 'public, max-age=86400' }
    return new Response(await bytes, { headers })
  }
}
