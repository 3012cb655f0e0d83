/**
 * Security schemes of agent cards: described as OpenAPI and A2A 0.3 describe them, and as A2A 1.0 does.
 *
 * @module
 */

import { compact } from './wire/record.ts'

/** One way to get a token (specification, section 4.5.7). */
export interface OAuthFlow {
  /** Where the user consents: `authorizationCode` and `implicit`. */
  readonly authorizationUrl?: string | undefined
  /** Where tokens are issued: all but `implicit`. */
  readonly tokenUrl?: string | undefined
  readonly refreshUrl?: string | undefined
  /** `deviceCode` only. */
  readonly deviceAuthorizationUrl?: string | undefined
  /** `authorizationCode` only, and told by cards of 1.0 only. */
  readonly pkceRequired?: boolean | undefined
  /** What each scope allows, by its name. */
  readonly scopes: Readonly<Record<string, string>>
}

/** The name of a way to get a token. `deviceCode` is of 1.0 alone, and cards of 0.3 do not tell it. */
export type OAuthFlowName = 'authorizationCode' | 'clientCredentials' | 'deviceCode' | 'implicit' | 'password'

/** How clients prove who they are, in the form of OpenAPI 3 (section 4.5.1). */
export type SecurityScheme = { readonly description?: string | undefined } & (
  | { readonly type: 'apiKey'; readonly in: 'query' | 'header' | 'cookie'; readonly name: string }
  | { readonly type: 'http'; readonly scheme: string; readonly bearerFormat?: string | undefined }
  | {
      readonly type: 'oauth2'
      /** Cards of 1.0 tell one flow: the first in the order of {@link OAuthFlowName}. */
      readonly flows: Readonly<Partial<Record<OAuthFlowName, OAuthFlow>>>
      readonly oauth2MetadataUrl?: string | undefined
    }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string }
  | { readonly type: 'mutualTLS' }
)

/** Schemes by name. */
export type SecuritySchemes = Readonly<Record<string, SecurityScheme>>

/** Schemes that must be met together, each with the scopes that are needed. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

type Json = Record<string, unknown>
type Encoders = {
  [K in SecurityScheme['type']]: (scheme: Extract<SecurityScheme, { type: K }>) => Json
}

const FLOWS: readonly OAuthFlowName[] = [
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

function firstFlow(flows: Readonly<Partial<Record<OAuthFlowName, OAuthFlow>>>): Json {
  const name = FLOWS.find(name => flows[name] !== undefined)
  return name === undefined ? {} : { [name]: compact({ ...flows[name] }) }
}

/** Schemes as cards of 1.0 tell them (section 4.5). */
export function securitySchemesV1(schemes: SecuritySchemes): Record<string, Json> {
  return mapValues(schemes, scheme => {
    const encode = V1[scheme.type] as (scheme: SecurityScheme) => Json
    return encode(scheme)
  })
}

/** Schemes as cards of 0.2 and 0.3 tell them: their own form, without what only 1.0 knows. */
export function securitySchemesV03(schemes: SecuritySchemes): Record<string, Json> {
  return mapValues(schemes, scheme =>
    scheme.type === 'oauth2' ? { ...scheme, flows: knownFlows(scheme.flows) } : { ...scheme },
  )
}

function knownFlows({ deviceCode: _, ...flows }: Readonly<Partial<Record<OAuthFlowName, OAuthFlow>>>): Json {
  return mapValues(flows, ({ pkceRequired: _, ...flow }) => flow)
}

/** Requirements as cards of 1.0 tell them (section 4.5). */
export function securityRequirementsV1(requirements: readonly SecurityRequirement[]): Json[] {
  return requirements.map(requirement => ({ schemes: mapValues(requirement, list => ({ list })) }))
}

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
