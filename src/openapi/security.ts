/**
 * Who is let in, as the document tells it: by the middleware, by a part's own `authenticate`, or everyone. Keys of model
 * providers stand beside it; they let nobody in.
 *
 * @module
 */

import { schemeNameOf } from '../http/credential.ts'
import { ANY_PROVIDER_HEADER, type Providers } from '../http/key-headers.ts'
import { PART_SCHEMES, type SecurityRequirement, type SecuritySettings } from '../http/security.ts'
import type { Operations, Row } from './operation.ts'
import type { Schema } from './schemas.ts'

/** A part that may have an `authenticate` of its own. */
export type GuardedPart = keyof typeof PART_SCHEMES

/** What is known of who is let in. */
export interface DocumentSecurity extends SecuritySettings {
  readonly providers: Providers
  /** The parts with an `authenticate` of their own, and the HTTP authentication scheme that each asks for. */
  readonly guarded: Readonly<Partial<Record<GuardedPart, string>>>
}

/** What the document or an operation says of it. */
export interface Secured {
  readonly security?: readonly SecurityRequirement[]
}

const DESCRIPTIONS: Readonly<Record<GuardedPart, string>> = {
  admin: 'Token of an administrator, for `admin.authenticate`',
  metrics: 'Token of a scraper, for `authenticate` of the `metricsExporter`',
  card: 'Token of a reader of the extended card, for `a2a.extendedCard.authenticate`',
}

/** Everything that a client may prove or give, by name. */
export function securitySchemes({ schemes, providers, guarded }: DocumentSecurity): Record<string, Schema> {
  const parts = Object.keys(PART_SCHEMES) as GuardedPart[]
  const own = parts.flatMap(part => {
    const scheme = guarded[part]
    // What it asks for is its own affair; a bearer token is what it asks for as a rule.
    return scheme === undefined
      ? []
      : [[PART_SCHEMES[part], { type: 'http', scheme, description: DESCRIPTIONS[part] }]]
  })
  return { ...schemes, ...keySchemes(providers), ...Object.fromEntries(own) }
}

/** What every operation demands that says nothing else. */
export function demanded({ required }: DocumentSecurity): Secured {
  return required.length === 0 ? {} : { security: required }
}

/** What an operation demands that ready-made authentication leaves open; of other middleware nobody knows. */
export function open({ required, isReadyMade }: DocumentSecurity): Secured {
  return required.length > 0 && isReadyMade ? { security: [] } : {}
}

/** What the operations of a part demand that may have an `authenticate` of its own. */
export function guardedBy(part: GuardedPart, { guarded }: DocumentSecurity): Secured {
  return guarded[part] === undefined ? {} : { security: [{ [PART_SCHEMES[part]]: [] }] }
}

/** Operations with what they demand. */
export function secured(rows: readonly Row[], demand: Secured): Row[] {
  return rows.map(([path, operations]) => [path, withDemand(operations, demand)])
}

function withDemand(operations: Operations, demand: Secured): Operations {
  const entries = Object.entries(operations)
  return Object.fromEntries(entries.map(([method, operation]) => [method, { ...operation, ...demand }]))
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
    ['whatever is used', ANY_PROVIDER_HEADER],
  ]
  return Object.fromEntries(
    rows.map(([id, name]) => [
      schemeNameOf(name),
      {
        type: 'apiKey',
        in: 'header',
        name,
        description: `Key of the model provider (${id}), for the agent to use. It lets nobody into this service.`,
      },
    ]),
  )
}
