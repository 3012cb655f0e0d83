/** Marks ready-made authentication among the middleware. */

import { ServableError } from '../../base/errors.ts'
import type { Middleware } from '../context.ts'
import type { SecurityScheme } from './security-scheme.ts'

/** How a credential is sent, and how documents describe that. */
export interface Credential {
  /** The challenge of a refusal for `WWW-Authenticate`. */
  readonly challenge: string
  /** The name of its security scheme. */
  readonly name: string
  readonly scheme: SecurityScheme
  readonly read: (headers: Headers) => string | undefined
  /** Throws for a value that no header can hold. */
  readonly write: (headers: Headers, credential: string) => void
  /** Throws `invalid_options` if a handler lacks what it needs. */
  readonly check?: ((plugins: readonly object[]) => void) | undefined
}

const CREDENTIAL = Symbol.for('servable.credential')

/** Marks a middleware with its credential. */
export function withCredential(middleware: Middleware, credential: Credential): Middleware {
  return Object.assign(middleware, { [CREDENTIAL]: credential })
}

/** The credential of a ready-made middleware; undefined for others. */
export function credentialOf(middleware: Middleware): Credential | undefined {
  return (middleware as { readonly [CREDENTIAL]?: Credential })[CREDENTIAL]
}

/**
 * The middleware that runs again at the handshake of a socket, with the client's credential: ready-made authentication, and all
 * later middleware, which may depend on the identity.
 */
export function askedAtHandshake(middleware: readonly Middleware[]): readonly Middleware[] {
  const first = middleware.findIndex(each => credentialOf(each) !== undefined)
  return first === -1 ? [] : middleware.slice(first)
}

/**
 * Throws `invalid_options` if a credential is sent in the header of a provider's key, because agents would get the secret of the
 * service as that key; and if the handler lacks what a credential needs.
 */
export function checkCredentials(
  middleware: readonly Middleware[],
  keyHeaders: readonly string[],
  plugins: readonly object[],
): void {
  for (const { scheme, check } of middleware.map(credentialOf).filter(each => each !== undefined)) {
    check?.(plugins)
    if (scheme.type !== 'apiKey' || !keyHeaders.includes(scheme.name.toLowerCase())) continue
    throw new ServableError(
      'invalid_options',
      `\`apiKeyAuth\`: \`providers\` has \`${scheme.name}\` for the key of a model provider: choose another \`header\``,
    )
  }
}

/** The name of the security scheme of a header. */
export function schemeNameOf(header: string): string {
  // Headers ignore case, but names of schemes may not.
  return header.toLowerCase().replace(/[^\w.-]/g, '_')
}
