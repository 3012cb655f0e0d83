/** What marks ready-made authentication among the middleware. */

import { ServableError } from '../../base/errors.ts'
import type { Middleware } from '../context.ts'
import type { SecurityScheme } from './security-scheme.ts'

/** How a credential travels, and how that is told. */
export interface Credential {
  /** What a refusal asks for, as `WWW-Authenticate` has it. */
  readonly challenge: string
  /** The name of its security scheme. */
  readonly name: string
  readonly scheme: SecurityScheme
  readonly read: (headers: Headers) => string | undefined
  /** Throws for what no header can hold. */
  readonly write: (headers: Headers, credential: string) => void
  /** Throws `invalid_options` for a handler that lacks what it needs. */
  readonly check?: ((plugins: readonly object[]) => void) | undefined
}

const CREDENTIAL = Symbol.for('servable.credential')

/** Marks a middleware with what it asks for. */
export function withCredential(middleware: Middleware, credential: Credential): Middleware {
  return Object.assign(middleware, { [CREDENTIAL]: credential })
}

/** What a middleware asks for, if it is ready-made. */
export function credentialOf(middleware: Middleware): Credential | undefined {
  return (middleware as { readonly [CREDENTIAL]?: Credential })[CREDENTIAL]
}

/**
 * The middleware that is asked again at the handshake of a socket, now with what the client says there: ready-made
 * authentication, and all that stands behind it and may go by the identity.
 */
export function askedAtHandshake(middleware: readonly Middleware[]): readonly Middleware[] {
  const first = middleware.findIndex(each => credentialOf(each) !== undefined)
  return first === -1 ? [] : middleware.slice(first)
}

/**
 * Throws `invalid_options` where a credential travels in the header of a provider's key: agents would be given the secret of the
 * service as that key; and where it lacks what a credential needs.
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
  // Headers are told apart where names of providers may not be.
  return header.toLowerCase().replace(/[^\w.-]/g, '_')
}
