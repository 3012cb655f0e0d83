/**
 * Who is let in, as the document tells it: by the middleware, or everyone. Keys of model providers stand beside it; they let
 * nobody in.
 *
 * @module
 */

import type { Schema, Secured } from '../core/builders.ts'
import { schemeNameOf } from '../http/credential.ts'
import { ANY_PROVIDER_HEADER, type Providers } from '../http/key-headers.ts'
import type { SecurityRequirement, SecuritySettings } from '../http/security.ts'

/** What is known of who is let in. */
export interface DocumentSecurity extends SecuritySettings {
  readonly providers: Providers
}

/** Everything that a client may prove or give to the handler itself, by name. */
export function securitySchemes({ schemes, providers }: DocumentSecurity): Record<string, Schema> {
  return { ...schemes, ...keySchemes(providers) }
}

/** What every operation demands that says nothing else. */
export function demanded({ required }: DocumentSecurity): Secured {
  return required.length === 0 ? {} : { security: required }
}

/** What an operation demands that ready-made authentication leaves open; of other middleware nobody knows. */
export function open({ required, isReadyMade }: DocumentSecurity): Secured {
  return required.length > 0 && isReadyMade ? { security: [] } : {}
}

/** What a run demands. It needs no key of a model provider, and takes any of them. */
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
