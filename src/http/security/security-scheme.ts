/**
 * A security scheme: how clients prove who they are, as OpenAPI 3.0.3 describes it (section 4.7.27).
 *
 * @module
 */

/** The names of the security schemes of parts with an `authenticate` of their own. Deployments may not use them for theirs. */
export const PART_SCHEMES = {
  admin: 'admin_token',
  metrics: 'metrics_token',
  card: 'card_token',
  keys: 'keys_token',
  budgets: 'budgets_token',
  schedules: 'schedules_token',
  pausing: 'pausing_token',
} as const

/** One way to get a token. */
export interface OAuthFlow {
  /** Where the user consents: `authorizationCode` and `implicit`. */
  readonly authorizationUrl?: string | undefined
  /** Where tokens are issued: all but `implicit`. */
  readonly tokenUrl?: string | undefined
  readonly refreshUrl?: string | undefined
  /** What each scope allows, by its name. */
  readonly scopes: Readonly<Record<string, string>>
}

/** The name of a way to get a token. */
export type OAuthFlowName = 'authorizationCode' | 'clientCredentials' | 'implicit' | 'password'

/** One way in which a client proves who it is. */
export type SecurityScheme = { readonly description?: string | undefined } & (
  | { readonly type: 'apiKey'; readonly in: 'query' | 'header' | 'cookie'; readonly name: string }
  | { readonly type: 'http'; readonly scheme: string; readonly bearerFormat?: string | undefined }
  | { readonly type: 'oauth2'; readonly flows: Readonly<Partial<Record<OAuthFlowName, OAuthFlow>>> }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string }
)
