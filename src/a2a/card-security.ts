/**
 * Security schemes of agent cards: described as OpenAPI and A2A 0.3 describe them, and as A2A 1.0 does.
 *
 * @module
 */

import * as v from 'valibot'
import { SchemeSchema, type SecurityRequirement, schemesOf } from '../http/security.ts'
import type { OAuthFlow, OAuthFlowName, SecurityScheme } from '../http/security-scheme.ts'
import { compact } from './wire/record.ts'

/** One way to get a token (specification, section 4.5.7). */
export interface CardFlow extends OAuthFlow {
  /** `deviceCode` only. */
  readonly deviceAuthorizationUrl?: string | undefined
  /** `authorizationCode` only, and told by cards of 1.0 only. */
  readonly pkceRequired?: boolean | undefined
}

/** The name of a way to get a token. `deviceCode` is of 1.0 alone, and cards of 0.3 do not tell it. */
export type CardFlowName = OAuthFlowName | 'deviceCode'

/** How clients prove who they are, in the form of OpenAPI 3 (section 4.5.1), with what cards know beyond 3.0.3. */
export type CardSecurityScheme =
  | Exclude<SecurityScheme, { readonly type: 'oauth2' }>
  | ({ readonly description?: string | undefined } & (
      | {
          readonly type: 'oauth2'
          /** Cards of 1.0 tell one flow: the first in the order of the alphabet. */
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

/** The one-of key of every type in 1.0, over the members of that type. */
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

/** Schemes as cards of 1.0 tell them (section 4.5). */
export function securitySchemesV1(schemes: CardSecuritySchemes): Record<string, Json> {
  return mapValues(schemes, scheme => {
    const encode = V1[scheme.type] as (scheme: CardSecurityScheme) => Json
    return encode(scheme)
  })
}

/** Schemes as cards of 0.2 and 0.3 tell them: their own form, without what only 1.0 knows. */
export function securitySchemesV03(schemes: CardSecuritySchemes): Record<string, Json> {
  return mapValues(schemes, scheme =>
    scheme.type === 'oauth2' ? { ...scheme, flows: knownFlows(scheme.flows) } : { ...scheme },
  )
}

function knownFlows({ deviceCode: _, ...flows }: Readonly<Partial<Record<CardFlowName, CardFlow>>>): Json {
  return mapValues(flows, ({ pkceRequired: _, ...flow }) => flow)
}

/** Requirements as cards of 1.0 tell them (section 4.5). */
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

/** What cards tell otherwise than OpenAPI 3.0.3 does. */
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
