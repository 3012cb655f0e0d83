import type { JSONWebKeySet, JWK, JWTPayload } from 'jose'
import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func, strings } from '../../base/schemas.ts'
import { isObject, list } from '../../base/validation.ts'
import type { Identity } from '../../http/platform.ts'
import { MAX_KEYS } from './remote-keys.ts'

/** The claims of a token whose signature, issuer, audience and times are good (RFC 7519, section 4). */
export type JwtClaims = JWTPayload

/** The options of {@link jwtAuth}. Exactly one of `issuer`, `jwks` and `key` says where keys come from. */
export interface JwtOptions {
  /**
   * The issuer, as tokens name it in `iss`: `https://login.example.com`. Its keys are found by OpenID Connect Discovery. With
   * `jwks` or `key`, it is only compared with `iss`. Default, with those: any.
   */
  readonly issuer?: string | undefined
  /** A set of public keys (RFC 7517, section 5), or its URL. A set has at most 100 keys. */
  readonly jwks?: string | JSONWebKeySet | undefined
  /** One key: a public JWK, PEM (`-----BEGIN PUBLIC KEY-----`) or `CryptoKey`, or the bytes of a secret. */
  readonly key?: JWK | CryptoKey | Uint8Array | string | undefined
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

/** The algorithms with a public and a private key (RFC 7518, section 3.1; RFC 9864). */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** The algorithms with a secret, and the bytes that it needs (RFC 7518, section 3.2). */
const SECRET_BYTES: Readonly<Record<string, number>> = { HS256: 32, HS384: 48, HS512: 64 }

const text = v.pipe(v.string('must be a text'), v.nonEmpty('must not be empty'))
const address = v.pipe(
  v.string('must be a URL'),
  v.check(
    url => /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url),
    'must be a URL that begins with https:',
  ),
)
const KeySetSchema = v.looseObject({
  keys: v.pipe(
    list(v.custom(isObject, 'must be a JWK'), MAX_KEYS),
    v.check(
      keys => !keys.some(key => 'd' in Object(key) || 'k' in Object(key)),
      'must have public keys only',
    ),
  ),
})

const OptionsSchema = v.strictObject({
  issuer: v.optional(address),
  jwks: v.optional(v.union([address, KeySetSchema], 'must be a URL, or an object with `keys`')),
  key: v.optional(
    v.custom(
      key => kindOf(key) !== undefined,
      'must be a public key (JWK, `CryptoKey`, or PEM that begins with -----BEGIN PUBLIC KEY-----), or the bytes of a secret as a `Uint8Array`',
    ),
  ),
  audience: v.union(
    [text, v.pipe(v.array(text), v.minLength(1))],
    'is required: name the service as tokens do in `aud`, by a text or an array of texts',
  ),
  algorithms: v.optional(
    v.pipe(
      v.array(v.picklist([...ASYMMETRIC, ...Object.keys(SECRET_BYTES)], 'must be a signature algorithm')),
      v.minLength(1, 'must name at least one'),
    ),
  ),
  clockToleranceS: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.minValue(0, 'must be 0 to 300'),
      v.maxValue(300, 'must be 0 to 300'),
    ),
  ),
  identity: v.optional(func),
  allow: v.optional(strings),
})

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
export function kindOf(key: unknown): 'public' | 'secret' | undefined {
  if (typeof key === 'string')
    return key.trim().startsWith('-----BEGIN PUBLIC KEY-----') ? 'public' : undefined
  if (key instanceof Uint8Array) return 'secret'
  if (isCryptoKey(key)) return key.type === 'private' ? undefined : key.type
  const isPublic = isObject(key) && ['RSA', 'EC', 'OKP'].includes(String(key.kty)) && key.d === undefined
  return isPublic ? 'public' : undefined
}

/** Whether a key is the runtime's own, of whichever realm. */
export function isCryptoKey(key: unknown): key is CryptoKey {
  return Object.prototype.toString.call(key) === '[object CryptoKey]'
}
