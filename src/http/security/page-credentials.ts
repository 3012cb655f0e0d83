/**
 * The credentials that a page of the service asks its reader for: the documentation and the console. Everyone can see these
 * pages, so they contain only what `WWW-Authenticate` would show: header names, and nothing else of the security schemes.
 *
 * @module
 */

import type { SecuritySettings } from './security.ts'
import type { SecurityScheme } from './security-scheme.ts'

/** A credential that the page can send. */
export interface PageCredential {
  /** The header that it is sent in, in lower case. */
  readonly header: string
  /** The text before the credential in the header. */
  readonly prefix: string
  readonly label: string
}

/** Returns the required credentials that are sent in a header. A browser sends cookies and certificates by itself. */
export function asksOf({ schemes, required }: SecuritySettings): PageCredential[] {
  const asks = new Map<string, PageCredential>()
  for (const name of required.flatMap(Object.keys)) {
    const scheme = schemes[name]
    const ask = scheme && askOf(scheme)
    if (ask !== undefined) asks.set(ask.header, ask)
  }
  return [...asks.values()]
}

/**
 * Whether the page asks for credentials before its first request. It does if ready-made authentication would refuse the
 * request. It does not if the request for the page already has such a header, which a proxy may add for known readers.
 */
export function asksFirst(
  asks: readonly PageCredential[],
  { required, isReadyMade }: SecuritySettings,
  request: Request,
): boolean {
  const isOptional = required.some(each => Object.keys(each).length === 0)
  return (
    isReadyMade && !isOptional && asks.length > 0 && !asks.some(({ header }) => request.headers.has(header))
  )
}

function askOf(scheme: SecurityScheme): PageCredential | undefined {
  if (scheme.type === 'apiKey') {
    const header = scheme.name.toLowerCase()
    return scheme.in === 'header' ? { header, prefix: '', label: header } : undefined
  }
  // Tokens of OAuth and OpenID Connect are sent as bearer tokens too.
  const isBearer = scheme.type !== 'http' || scheme.scheme.toLowerCase() === 'bearer'
  return isBearer ? { header: 'authorization', prefix: 'Bearer ', label: 'Bearer token' } : undefined
}
