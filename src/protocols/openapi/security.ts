/**
 * The security requirements in the document: those of the middleware, or none. Keys of model providers are listed beside
 * them. Such a key does not authenticate anyone.
 *
 * @module
 */

import type { Schema, Secured } from '../../core/builders.ts'
import { schemeNameOf } from '../../http/security/credential.ts'
import { ANY_PROVIDER_HEADER, type Providers } from '../../http/security/key-headers.ts'
import type { SecurityRequirement, SecuritySettings } from '../../http/security/security.ts'

/** The security settings and the key headers. */
export interface DocumentSecurity extends SecuritySettings {
  readonly providers: Providers
}

/** All security schemes by name, including those of provider keys. */
export function securitySchemes({ schemes, providers }: DocumentSecurity): Record<string, Schema> {
  return { ...schemes, ...keySchemes(providers) }
}

/** The default requirements of operations. */
export function demanded({ required }: DocumentSecurity): Secured {
  return required.length === 0 ? {} : { security: required }
}

/** The requirements of an operation that ready-made authentication leaves open. For other middleware this is not known. */
export function open({ required, isReadyMade }: DocumentSecurity): Secured {
  return required.length > 0 && isReadyMade ? { security: [] } : {}
}

/** The requirements of a run. A provider key is optional, and any of them may be sent. */
export function keyed({ required, providers }: DocumentSecurity): Secured {
  const keys: SecurityRequirement[] = Object.keys(keySchemes(providers)).map(name => ({ [name]: [] }))
  const demands = required.length === 0 ? [{}] : required
  return { security: demands.flatMap(demand => [demand, ...keys.map(key => ({ ...demand, ...key }))]) }
}

function keySchemes(providers: Providers): Record<string, Schema> {
  const rows: [id: string, header: string][] = [
    ...Object.entries(providers).map(([id, { header }]): [string, string] => [`\`${id}\``, header]),
    ['any provider', ANY_PROVIDER_HEADER],
  ]
  return Object.fromEntries(
    rows.map(([id, name]) => [
      schemeNameOf(name),
      {
        type: 'apiKey',
        in: 'header',
        name,
        description: `Key of the model provider (${id}), for the agent to use. It does not authenticate the caller.`,
      },
    ]),
  )
}
