/**
 * The one place of the core that asks what it runs in.
 *
 * @module
 */

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/**
 * Whether this is production: everything but `NODE_ENV` `development` and `test`, so that a deployment that says
 * nothing is masked. Written so that bundlers can put the value in; Deno without the permission to read it counts
 * as production.
 */
export function isProduction(): boolean {
  try {
    const env = process.env.NODE_ENV
    return env !== 'development' && env !== 'test'
  } catch {
    return true
  }
}
