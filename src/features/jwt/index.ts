/**
 * `servable/jwt`: tokens of an identity provider. Needs the package `jose`.
 *
 * Begin here. `options.ts` checks the options, `remote-keys.ts` fetches keys. It may import `http`, `web` and `base`.
 *
 * @module
 */

import { importSPKI, type JWSHeaderParameters, jwtVerify } from 'jose'
import { messageOf } from '../../base/errors.ts'
import { type Middleware, RequestState } from '../../http/context.ts'
import type { LogEntry } from '../../http/log.ts'
import type { Identity } from '../../http/platform.ts'
import { authenticating, BEARER, type CheckCredential } from '../../http/security/authentication.ts'
import type { SecurityScheme } from '../../http/security/security-scheme.ts'
import { algorithmsOf, type JwtClaims, type JwtOptions } from './options.ts'
import { configurationOf, type FindKey, NoKeysError, remoteKeys, setOf } from './remote-keys.ts'

export type { JwtClaims, JwtOptions }

/** The identity of a token's owner, with the `aud` of the token. */
export interface JwtOwner extends Identity {
  readonly audience: string | readonly string[]
}

/** Characters that a token may have. */
const MAX_TOKEN = 16_384

/** Seconds by which clocks may differ by default. */
const TOLERANCE_S = 30

/** Why a token is refused. */
class TokenError extends Error {
  override readonly name = 'TokenError'
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
  const check: CheckCredential = async (token, request, context) => {
    const log = (event: string, thrown: unknown, level: LogEntry['level']) => {
      if (context instanceof RequestState) context.logThrown(event, thrown, request, level)
    }
    try {
      return (await accept(token, cause => log('jwt.keys_failed', cause, 'warn'))).identity
    } catch (thrown) {
      const isOfToken = thrown instanceof TokenError || thrown instanceof NoKeysError
      log('authenticate.failed', thrown, isOfToken ? 'info' : 'error')
      return undefined
    }
  }
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
    const { identity, audience } = await accept(token)
    return identity && { ...identity, audience }
  }
}

interface Accepted {
  readonly identity: Identity | undefined
  readonly audience: string | readonly string[]
}

/**
 * Checks a token. Rejects with a `TokenError`, a `NoKeysError` or the error of `identity`. `onFailure` gets the error of a fetch of
 * keys that failed.
 */
type Accept = (token: string, onFailure?: (cause: unknown) => void) => Promise<Accepted>

function accepterOf(options: JwtOptions, name: string): Accept {
  const algorithms = [...algorithmsOf(options, name)]
  const { issuer, audience, clockToleranceS: clockTolerance = TOLERANCE_S, identity = subjectOf } = options
  const checks = {
    ...{ algorithms, clockTolerance, requiredClaims: ['exp'], audience: [audience].flat() },
    ...(issuer !== undefined && { issuer }),
  }
  const findKey = finderOf(options)
  const claimsOf = async (token: string, onFailure?: (cause: unknown) => void) => {
    if (token.length > MAX_TOKEN) throw new TokenError(`The token has more than ${MAX_TOKEN} characters`)
    try {
      return (await jwtVerify(token, (header: JWSHeaderParameters) => findKey(header, onFailure), checks))
        .payload
    } catch (cause) {
      if (cause instanceof NoKeysError) throw cause
      throw new TokenError(`The token is refused: ${messageOf(cause)}`, { cause })
    }
  }
  return async (token, onFailure) => {
    const claims = await claimsOf(token, onFailure)
    const { iat = 0, aud = [] } = claims
    if (iat > Date.now() / 1000 + clockTolerance)
      throw new TokenError('The token was issued in the future (`iat`)')
    return { identity: await identity(claims), audience: aud }
  }
}

function finderOf({ issuer, jwks, key, allow = [] }: JwtOptions): FindKey {
  if (key === undefined) return typeof jwks === 'object' ? setOf(jwks) : remoteKeys({ issuer, jwks, allow })
  if (key instanceof Uint8Array || key instanceof CryptoKey) return async () => key
  if (typeof key === 'string') {
    const imported: Record<string, Promise<CryptoKey>> = {}
    return ({ alg = '' }) => {
      imported[alg] ??= importSPKI(key.trim(), alg)
      return imported[alg]
    }
  }
  const find = setOf({ keys: [key] })
  // One key needs no name: a token may give it another.
  return ({ alg }) => find({ alg: String(alg) })
}

function subjectOf({ sub, scope }: JwtClaims): Identity | undefined {
  if (sub === undefined) throw new TokenError('The token has no `sub`')
  return { id: sub, ...(typeof scope === 'string' && { scopes: scope.split(' ').filter(Boolean) }) }
}

/** How documents describe the token. */
function schemeOf({ issuer, jwks, key }: JwtOptions): SecurityScheme {
  const description = 'Token of the identity provider'
  return issuer !== undefined && jwks === undefined && key === undefined
    ? { type: 'openIdConnect', openIdConnectUrl: configurationOf(issuer), description }
    : { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description }
}
