/**
 * Extensions of the protocol: what cards declare, and what a request activates (sections 4.6 and 14.2.2 of A2A 1.0).
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'

/** An extension as cards declare it (section 4.4.4). */
export interface AgentExtension {
  /** Names the extension and its version. */
  readonly uri: string
  readonly description?: string | undefined
  /** Messages of clients that do not name the extension are refused with `extension_required`. Default: false. */
  readonly required?: boolean | undefined
  /** What the extension defines. JSON. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** The headers in which clients name extensions: of 1.0, and of 0.3. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions'] as const

/** Returns the declared extensions that a request names, and lists them in the response under the request's own header names. */
export function activate(
  { headers }: Request,
  answered: Headers,
  declared: readonly AgentExtension[],
): readonly string[] {
  const given = HEADERS.filter(name => headers.has(name))
  const named = new Set(
    given.flatMap(name =>
      headers
        .get(name)!
        .split(',')
        .map(uri => uri.trim()),
    ),
  )
  const active = declared.map(({ uri }) => uri).filter(uri => named.has(uri))
  if (active.length > 0) for (const name of given) answered.set(name, active.join(', '))
  return active
}

/** Throws `extension_required` unless all required extensions are active. */
export function checkRequired(active: readonly string[], declared: readonly AgentExtension[]): void {
  const missing = declared.filter(({ uri, required }) => required === true && !active.includes(uri))
  if (missing.length === 0) return
  const uris = missing.map(({ uri }) => uri).join(', ')
  throw new ServableError('extension_required', `The header \`A2A-Extensions\` must name ${uris}`)
}
