/**
 * What the documentation page asks its reader for, so that it can read the document. The page tells it to anyone, as a refusal
 * does with `WWW-Authenticate`: names of headers, and nothing else of the security schemes.
 *
 * @module
 */

import type { SecuritySettings } from '../http/security.ts'
import type { SecurityScheme } from '../http/security-scheme.ts'

/** A credential that the page can send. */
export interface Ask {
  /** The header that it goes in, in lower case. */
  readonly header: string
  /** What stands before it there. */
  readonly prefix: string
  readonly label: string
}

/** The credentials that are demanded and go in a header; those of cookies and certificates a browser sends by itself. */
export function asksOf({ schemes, required }: SecuritySettings): Ask[] {
  const asks = new Map<string, Ask>()
  for (const name of required.flatMap(Object.keys)) {
    const scheme = schemes[name]
    const ask = scheme && askOf(scheme)
    if (ask !== undefined) asks.set(ask.header, ask)
  }
  return [...asks.values()]
}

/**
 * Whether the page asks before it tries: where ready-made authentication is known to refuse. A proxy may add the header for a
 * reader who is known to it, which shows in the request for the page.
 */
export function asksFirst(
  asks: readonly Ask[],
  { required, isReadyMade }: SecuritySettings,
  request: Request,
): boolean {
  const isOptional = required.some(each => Object.keys(each).length === 0)
  return (
    isReadyMade && !isOptional && asks.length > 0 && !asks.some(({ header }) => request.headers.has(header))
  )
}

function askOf(scheme: SecurityScheme): Ask | undefined {
  if (scheme.type === 'apiKey') {
    const header = scheme.name.toLowerCase()
    return scheme.in === 'header' ? { header, prefix: '', label: header } : undefined
  }
  // What OAuth and OpenID Connect give is sent as a bearer token too.
  const isBearer = scheme.type !== 'http' || scheme.scheme.toLowerCase() === 'bearer'
  return isBearer ? { header: 'authorization', prefix: 'Bearer ', label: 'Bearer token' } : undefined
}
