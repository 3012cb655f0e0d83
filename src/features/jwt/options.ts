import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func, strings } from '../../base/schemas.ts'
import { isObject } from '../../base/validation.ts'
import type { Identity } from '../../http/platform.ts'
import { MAX_KEYS } from './remote-keys.ts'

/** The claims of a token whose signature, issuer, audience and times are good (RFC 7519, section 4). Times are seconds since 1970. */
export interface JwtClaims {
  readonly iss?: string
  readonly sub?: string
  readonly aud?: string | string[]
  readonly exp?: number
  readonly nbf?: number
  readonly iat?: number
  readonly jti?: string
  readonly [claim: string]: unknown
}

/** A public key (RFC 7517, section 4). */
export interface PublicJwk {
  readonly kty?: string
  readonly kid?: string
  readonly alg?: string
  readonly use?: string
  readonly key_ops?: string[]
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
}

/** The options of {@link jwtAuth}. Exactly one of `issuer`, `jwks` and `key` says where keys come from. */
export interface JwtOptions {
  /**
   * The issuer, as tokens name it in `iss`: `https://login.example.com`. Its keys are found by OpenID Connect Discovery. With
   * `jwks` or `key`, it is only compared with `iss`. Default, with those: any.
   */
  readonly issuer?: string | undefined
  /** A set of public keys (RFC 7517, section 5), or its URL. A set has at most 100 keys. */
  readonly jwks?: string | { readonly keys: readonly PublicJwk[] } | undefined
  // The types of Node alone have no type `CryptoKey`.
  /** One key: a public JWK, PEM (`-----BEGIN PUBLIC KEY-----`) or `CryptoKey`, or the bytes of a secret. */
  readonly key?: PublicJwk | (typeof CryptoKey)['prototype'] | Uint8Array | string | undefined
  /** For whom tokens are made (`aud`). A token must name one of them. */
  readonly audience: string | readonly string[]
  /** The accepted algorithms (RFC 7518, section 3.1). Default: all with a public key. With a secret: `HS256`. */
  readonly algorithms?: readonly string[] | undefined
  /** Seconds by which clocks may differ, 0 to 300. Default: 30. */
  readonly clockToleranceS?: number | undefined
  /**
   * Makes the identity of the claims. Undefined and a throw refuse the token. Default: `id` is `sub`, `scopes` are the words of
   * `scope`.
   */
  readonly identity?:
    | ((claims: JwtClaims) => Identity | undefined | Promise<Identity | undefined>)
    | undefined
  /** Hosts, hosts with a port and address ranges of the issuer that are allowed although they are not public. Default: none. */
  readonly allow?: readonly string[] | undefined
}

/** The options of {@link oidcLogin}. */
export interface OidcLoginOptions extends Pick<JwtOptions, 'identity' | 'allow' | 'clockToleranceS'> {
  /** The issuer, as its tokens name it in `iss`: `https://login.example.com`. */
  readonly issuer: string
  /** The id that the provider has given this service. Tokens must be made for it (`aud`). */
  readonly clientId: string
  /** The secret that the provider has given with it. Default: none, for a public client. */
  readonly clientSecret?: string | undefined
  /** What is asked for, besides `openid`. Default: nothing. */
  readonly scopes?: readonly string[] | undefined
}

/** The algorithms with a public and a private key (RFC 7518, section 3.1; RFC 9864). */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** The algorithms with a secret, and the bytes that it needs (RFC 7518, section 3.2). */
const SECRET_BYTES: Readonly<Record<string, number>> = { HS256: 32, HS384: 48, HS512: 64 }

const OptionsSchema = v.strictObject({
  issuer: v.optional(v.custom(isAddress, 'must be a URL that begins with https:')),
  jwks: v.optional(
    v.custom(
      isKeySet,
      `must be a URL that begins with https:, or \`{ keys }\` with at most ${MAX_KEYS} public JWKs`,
    ),
  ),
  key: v.optional(
    v.custom(
      key => kindOf(key) !== undefined,
      'must be a public JWK, `CryptoKey` or PEM (-----BEGIN PUBLIC KEY-----), or a secret as a `Uint8Array`',
    ),
  ),
  audience: v.custom(isAudience, 'must name the service as tokens do in `aud`: a text, or an array of texts'),
  algorithms: v.optional(
    v.custom(
      names => Array.isArray(names) && names.length > 0 && names.every(isAlgorithm),
      `must be an array of ${[...ASYMMETRIC, ...Object.keys(SECRET_BYTES)].join(', ')}`,
    ),
  ),
  clockToleranceS: v.optional(
    v.custom(seconds => typeof seconds === 'number' && seconds >= 0 && seconds <= 300, 'must be 0 to 300'),
  ),
  identity: v.optional(func),
  allow: v.optional(strings),
})

const LoginSchema = v.strictObject({
  issuer: v.custom(isAddress, 'must be a URL that begins with https:'),
  clientId: v.custom(isText, 'must be the id that the provider has given this service'),
  clientSecret: v.optional(v.custom(isText, 'must be a text: is a variable missing?')),
  scopes: v.optional(strings),
  ...{
    clockToleranceS: OptionsSchema.entries.clockToleranceS,
    identity: v.optional(func),
    allow: v.optional(strings),
  },
})

/** Throws `invalid_options`. */
export function checkLogin(options: OidcLoginOptions): void {
  checkOptions('oidcLogin', LoginSchema, options)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^?#]+$/.test(value) && URL.canParse(value)
}

function isKeySet(value: unknown): boolean {
  const { keys } = Object(value)
  return isAddress(value) || (Array.isArray(keys) && keys.length <= MAX_KEYS && keys.every(isPublic))
}

function isPublic(key: unknown): boolean {
  return isObject(key) && key.d === undefined && key.k === undefined
}

function isAudience(value: unknown): boolean {
  const all = [value].flat()
  return all.length > 0 && all.every(isText)
}

function isAlgorithm(name: string): boolean {
  return ASYMMETRIC.includes(name) || Object.hasOwn(SECRET_BYTES, name)
}

/** Checks the options, and returns the accepted algorithms. Throws `invalid_options`. `name` is the function in the error. */
export function algorithmsOf(options: JwtOptions, name: string): readonly string[] {
  checkOptions(name, OptionsSchema, options)
  const { issuer, jwks, key, algorithms } = options
  const wrong = (what: string) => new ServableError('invalid_options', `\`${name}\` ${what}`)
  if (jwks !== undefined && key !== undefined) throw wrong('has both `jwks` and `key`: leave one out')
  if ((issuer ?? jwks ?? key) === undefined) throw wrong('needs one of `issuer`, `jwks` and `key`')
  const isSecret = kindOf(key) === 'secret'
  const accepted = algorithms ?? (isSecret ? ['HS256'] : ASYMMETRIC)
  const misfit = accepted.find(each => each in SECRET_BYTES !== isSecret)
  if (misfit !== undefined) {
    const fix = isSecret ? 'a secret needs HS256, HS384 or HS512' : 'only a secret `key` may have it'
    throw wrong(`has \`${misfit}\` in \`algorithms\`: ${fix}`)
  }
  const least = Math.max(...accepted.map(each => SECRET_BYTES[each] ?? 0))
  if (key instanceof Uint8Array && key.byteLength < least)
    throw wrong(`needs a \`key\` of at least ${least} bytes for ${accepted.join(', ')}`)
  return accepted
}

/** Whether a key is public or a secret. Undefined for anything else, also for a private key. */
function kindOf(key: unknown): 'public' | 'secret' | undefined {
  if (key instanceof Uint8Array) return 'secret'
  if (key instanceof CryptoKey) return key.type === 'private' ? undefined : key.type
  const isPem = typeof key === 'string' && key.trim().startsWith('-----BEGIN PUBLIC KEY-----')
  return isPem || (isPublic(key) && typeof Object(key).kty === 'string') ? 'public' : undefined
}
