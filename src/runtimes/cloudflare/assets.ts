import { env } from 'cloudflare:workers'
import { ServableError } from '../../base/errors.ts'

/**
 * Takes the files of the documentation page from a Worker's static assets. `wrangler.toml` needs `[assets] directory =
 * "node_modules/swagger-ui-dist"`, `binding = "ASSETS"` and `run_worker_first = true`. A Worker that does not use this
 * contains no part of Swagger UI.
 *
 * @example
 * const options = { swagger: { enabled: true, assets: workerAssets() } }
 */
export function workerAssets(binding = 'ASSETS'): (file: string) => Promise<Response> {
  return async file => {
    const assets = (env as Record<string, { fetch?(url: string): Promise<Response> } | undefined>)[binding]
    if (assets?.fetch === undefined) {
      throw new ServableError('not_found', `The page needs static assets with the binding \`${binding}\``)
    }
    // The host of an asset's address has no meaning.
    return assets.fetch(`https://assets/${file}`)
  }
}
