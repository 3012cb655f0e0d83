/**
 * Writes security schemes for agent cards, in the form of OpenAPI and A2A 0.3 or in the form of A2A 1.0.
 *
 * @module
 */

import * as v from 'valibot'
import { SchemeSchema, type SecurityRequirement, schemesOf } from '../../../http/security/security.ts'
import type { OAuthFlow, OAuthFlowName, SecurityScheme } from '../../../http/security/security-scheme.ts'
import { compact } from '../wire/record.ts'

/** An OAuth flow (specification, section 4.5.7). */
export interface CardFlow extends OAuthFlow {
  /** Only for `deviceCode`. */
  readonly deviceAuthorizationUrl?: string | undefined
  /** Only for `authorizationCode`. Only cards of 1.0 contain it. */
  readonly pkceRequired?: boolean | undefined
}

/** The name of an OAuth flow. Only cards of 1.0 contain `deviceCode`. */
export type CardFlowName = OAuthFlowName | 'deviceCode'

/** A security scheme in the form of OpenAPI 3 (section 4.5.1), with the additions of A2A to OpenAPI 3.0.3. */
export type CardSecurityScheme =
  | Exclude<SecurityScheme, { readonly type: 'oauth2' }>
  | ({ readonly description?: string | undefined } & (
      | {
          readonly type: 'oauth2'
          /** OAuth flows by name. A card of 1.0 contains only the first in alphabetical order. */
          readonly flows: Readonly<Partial<Record<CardFlowName, CardFlow>>>
          readonly oauth2MetadataUrl?: string | undefined
        }
      | { readonly type: 'mutualTLS' }
    ))

/** Schemes by name. */
export type CardSecuritySchemes = Readonly<Record<string, CardSecurityScheme>>

type Json = Record<string, unknown>
type Encoders = {
  [K in CardSecurityScheme['type']]: (scheme: Extract<CardSecurityScheme, { type: K }>) => Json
}

const FLOWS: readonly CardFlowName[] = [
  'authorizationCode',
  'clientCredentials',
  'deviceCode',
  'implicit',
  'password',
]

/** The encoder of each scheme type for 1.0. Each wraps its members in the key of the `oneof`. */
const V1: Encoders = {
  apiKey: ({ description, in: location, name }) => ({
    apiKeySecurityScheme: compact({ description, location, name }),
  }),
  http: ({ description, scheme, bearerFormat }) => ({
    httpAuthSecurityScheme: compact({ description, scheme, bearerFormat }),
  }),
  oauth2: ({ description, flows, oauth2MetadataUrl }) => ({
    oauth2SecurityScheme: { ...compact({ description, oauth2MetadataUrl }), flows: firstFlow(flows) },
  }),
  openIdConnect: ({ description, openIdConnectUrl }) => ({
    openIdConnectSecurityScheme: compact({ description, openIdConnectUrl }),
  }),
  mutualTLS: ({ description }) => ({ mtlsSecurityScheme: compact({ description }) }),
}

function firstFlow(flows: Readonly<Partial<Record<CardFlowName, CardFlow>>>): Json {
  const name = FLOWS.find(name => flows[name] !== undefined)
  return name === undefined ? {} : { [name]: compact({ ...flows[name] }) }
}

/** Schemes as cards of 1.0 contain them (section 4.5). */
export function securitySchemesV1(schemes: CardSecuritySchemes): Record<string, Json> {
  return mapValues(schemes, scheme => {
    const encode = V1[scheme.type] as (scheme: CardSecurityScheme) => Json
    return encode(scheme)
  })
}

/** Schemes as cards of 0.2 and 0.3 contain them: the given form, without the members that only 1.0 defines. */
export function securitySchemesV03(schemes: CardSecuritySchemes): Record<string, Json> {
  return mapValues(schemes, scheme =>
    scheme.type === 'oauth2' ? { ...scheme, flows: knownFlows(scheme.flows) } : { ...scheme },
  )
}

function knownFlows({ deviceCode: _, ...flows }: Readonly<Partial<Record<CardFlowName, CardFlow>>>): Json {
  return mapValues(flows, ({ pkceRequired: _, ...flow }) => flow)
}

/** Requirements as cards of 1.0 contain them (section 4.5). */
export function securityRequirementsV1(requirements: readonly SecurityRequirement[]): Json[] {
  return requirements.map(requirement => ({ schemes: mapValues(requirement, list => ({ list })) }))
}

const text = v.optional(v.string())

const FlowSchema = v.strictObject({
  authorizationUrl: text,
  tokenUrl: text,
  refreshUrl: text,
  deviceAuthorizationUrl: text,
  pkceRequired: v.optional(v.boolean()),
  scopes: v.record(v.string(), v.string()),
})

/** Schemas of the schemes that A2A defines differently from OpenAPI 3.0.3. */
const OWN: Readonly<Record<string, v.GenericSchema<unknown>>> = {
  mutualTLS: v.strictObject({ description: text, type: v.literal('mutualTLS') }),
  oauth2: v.strictObject({
    description: text,
    type: v.literal('oauth2'),
    flows: v.record(v.picklist(FLOWS), FlowSchema),
    oauth2MetadataUrl: text,
  }),
}

/** Checks `a2a.securitySchemes`. */
export const CardSecuritySchemesSchema: v.GenericSchema<unknown> = schemesOf(
  v.lazy(scheme => OWN[String(Object(scheme).type)] ?? SchemeSchema),
)

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
