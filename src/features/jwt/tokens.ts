/**
 * Checks tokens: of callers (`jwtAuth`, `jwtVerifier`), and of users who have logged in (`oidcLogin`).
 *
 * @module
 */

import { importSPKI, type JWSHeaderParameters, jwtVerify } from 'jose'
import { messageOf } from '../../base/errors.ts'
import { type Context, RequestState } from '../../http/context.ts'
import type { LogEntry } from '../../http/log.ts'
import type { Identity } from '../../http/platform.ts'
import { algorithmsOf, type JwtClaims, type JwtOptions } from './options.ts'
import { type FindKey, NoKeysError, remoteKeys, setOf } from './remote-keys.ts'

/** Characters that a token may have. */
const MAX_TOKEN = 16_384

/** Seconds by which clocks may differ by default. */
const TOLERANCE_S = 30

/** Why a token is refused. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

interface Accepted {
  readonly identity: Identity | undefined
  readonly claims: JwtClaims
}

/**
 * Checks a token. Rejects with a `TokenError`, a `NoKeysError` or the error of `identity`. `onFailure` gets the error of a fetch of
 * keys that failed.
 */
export type Accept = (token: string, onFailure?: (cause: unknown) => void) => Promise<Accepted>

/** Makes the function that checks tokens by the options. Throws `invalid_options`. `name` is the function in the error. */
export function accepterOf(options: JwtOptions, name: string): Accept {
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
    const { iat = 0 } = claims
    if (iat > Date.now() / 1000 + clockTolerance)
      throw new TokenError('The token was issued in the future (`iat`)')
    return { identity: await identity(claims), claims }
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

/** Returns the identity of a token of a request. Undefined if it is refused: the log then has the reason. */
export async function identityIn(
  token: string,
  accept: Accept,
  request: Request,
  context: Context,
): Promise<Identity | undefined> {
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
