/**
 * `servable/jwt`: tokens of an identity provider. Needs the package `jose`.
 *
 * Begin here. `tokens.ts` checks tokens, `login.ts` lets users log in with a page, `options.ts` checks the options, `remote-keys.ts`
 * fetches keys. It may import `http`, `web` and `base`.
 *
 * @module
 */

import type { Middleware } from '../../http/context.ts'
import type { Identity } from '../../http/platform.ts'
import { authenticating, BEARER, type CheckCredential } from '../../http/security/authentication.ts'
import type { SecurityScheme } from '../../http/security/security-scheme.ts'
import { oidcLogin } from './login.ts'
import type { JwtClaims, JwtOptions, OidcLoginOptions, PublicJwk } from './options.ts'
import { configurationOf } from './remote-keys.ts'
import { accepterOf, identityIn } from './tokens.ts'

export type { JwtClaims, JwtOptions, OidcLoginOptions, PublicJwk }
export { oidcLogin }

/** The identity of a token's owner, with the `aud` of the token. */
export interface JwtOwner extends Identity {
  readonly audience: string | readonly string[]
}

/**
 * Lets in requests with `Authorization: Bearer` and a JWT (RFC 7519) that the issuer has signed for this service: `aud` and `exp`
 * are required. Otherwise it is like `bearerAuth`: open routes stay open, and a socket may give the token as `auth.token`. Every
 * other request is refused with the same `unauthorized`; the log has the reason. Throws `invalid_options`.
 *
 * Keys are fetched with the first token, again after 10 minutes, and at most once a minute for a token whose key is unknown. While
 * they cannot be fetched, the last ones are used for up to 24 hours.
 *
 * @example
 * createHandler({ middleware: [jwtAuth({ issuer: 'https://login.example.com', audience: 'https://agents.example.com' })] })
 */
export function jwtAuth(options: JwtOptions): Middleware {
  const accept = accepterOf(options, 'jwtAuth')
  const check: CheckCredential = (token, request, context) => identityIn(token, accept, request, context)
  return authenticating(check, { ...BEARER, name: 'jwt', scheme: schemeOf(options) })
}

/**
 * Makes a function that checks a token as {@link jwtAuth} does, for every `verify`: of `mcpAuth`, `keysAuth` and `bearerIdentity`.
 * It rejects if the token is refused. Throws `invalid_options`.
 *
 * @example
 * mcpAuth({ resource, authorizationServers: [issuer], verify: jwtVerifier({ issuer, audience: resource }) })
 */
export function jwtVerifier(options: JwtOptions): (token: string) => Promise<JwtOwner | undefined> {
  const accept = accepterOf(options, 'jwtVerifier')
  return async token => {
    const { identity, claims } = await accept(token)
    return identity && { ...identity, audience: claims.aud ?? [] }
  }
}

/** How documents describe the token. */
function schemeOf({ issuer, jwks, key }: JwtOptions): SecurityScheme {
  const description = 'Token of the identity provider'
  return issuer !== undefined && jwks === undefined && key === undefined
    ? { type: 'openIdConnect', openIdConnectUrl: configurationOf(issuer), description }
    : { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description }
}
