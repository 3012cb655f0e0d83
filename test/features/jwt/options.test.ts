/** Options that cannot be, and what their errors say. */
import { generateKeyPair, generateSecret } from 'jose'
import { describe, expect, it } from 'vitest'
import { type JwtOptions, jwtAuth, jwtVerifier } from '../../../src/features/jwt/index.ts'
import { AUDIENCE as audience, newPair } from '../../contracts/jwt/issuer.ts'

const { jwk } = await newPair()
const { privateKey } = await generateKeyPair('ES256')
const secret = new Uint8Array(32)
const issuer = 'https://login.example.com'
const good = { audience, issuer }

/** Options, and what the error names. */
const BAD: readonly [options: unknown, named: string][] = [
  [undefined, 'NAME'],
  [{ issuer }, 'NAME.audience'],
  [{ issuer, audience: '' }, 'NAME.audience'],
  [{ issuer, audience: [] }, 'NAME.audience'],
  [{ audience }, 'needs one of `issuer`, `jwks` and `key`'],
  [{ ...good, jwks: { keys: [jwk] }, key: jwk }, 'both `jwks` and `key`'],
  [{ ...good, issuer: 'login.example.com' }, 'NAME.issuer'],
  [{ ...good, issuer: 'file:///etc' }, 'NAME.issuer'],
  [{ ...good, issuer: `${issuer}?a=b` }, 'NAME.issuer'],
  [{ audience, jwks: 'keys.json' }, 'NAME.jwks'],
  [{ audience, jwks: {} }, 'NAME.jwks'],
  [{ audience, jwks: { keys: [7] } }, 'NAME.jwks'],
  [{ audience, jwks: { keys: [{ ...jwk, d: 'secret-canary' }] } }, 'public JWKs'],
  [{ audience, jwks: { keys: new Array(101).fill(jwk) } }, 'at most 100 public'],
  [{ audience, key: 'secret-canary-of-32-characters-or-more' }, 'NAME.key'],
  [{ audience, key: '-----BEGIN PRIVATE KEY-----\nsecret-canary' }, 'NAME.key'],
  [{ audience, key: { ...jwk, d: 'secret-canary' } }, 'NAME.key'],
  [{ audience, key: privateKey }, 'NAME.key'],
  [{ audience, key: { kty: 'oct', k: 'secret-canary' } }, 'NAME.key'],
  [{ audience, key: new Uint8Array(31) }, '32 bytes'],
  [{ audience, key: secret, algorithms: ['HS512'] }, '64 bytes'],
  [{ audience, key: secret, algorithms: ['HS256', 'RS256'] }, '`RS256`'],
  [{ ...good, algorithms: ['none'] }, 'NAME.algorithms'],
  [{ ...good, algorithms: ['RS256', 'None'] }, 'NAME.algorithms'],
  [{ ...good, algorithms: ['HS256'] }, '`HS256`'],
  [{ audience, key: jwk, algorithms: ['RS256', 'HS256'] }, '`HS256`'],
  [{ ...good, algorithms: [] }, 'NAME.algorithms'],
  [{ ...good, algorithms: 'RS256' }, 'NAME.algorithms'],
  [{ ...good, clockToleranceS: -1 }, 'NAME.clockToleranceS'],
  [{ ...good, clockToleranceS: 301 }, 'NAME.clockToleranceS'],
  [{ ...good, clockToleranceS: Number.NaN }, 'NAME.clockToleranceS'],
  [{ ...good, clockToleranceS: '5s' }, 'NAME.clockToleranceS'],
  [{ ...good, identity: 'sub' }, 'NAME.identity'],
  [{ ...good, allow: '127.0.0.1' }, 'NAME.allow'],
  [{ ...good, fetch }, 'NAME.fetch'],
]

describe('options', () => {
  it.each(BAD.map(([options, named]) => [named, options] as const))(
    'that are wrong: the error names %s',
    (named, options) => {
      for (const make of [jwtAuth, jwtVerifier]) {
        const error = errorOf(() => make(options as JwtOptions))
        const message = expect.stringContaining(named.replace('NAME', make.name))
        expect(error).toMatchObject({ code: 'invalid_options', message })
        expect(String(error)).not.toContain('secret-canary')
      }
    },
  )

  it.each([
    { issuer: `${issuer}/tenant/` },
    { issuer, jwks: `${issuer}/keys` },
    { issuer, jwks: { keys: [] } },
    { key: secret, algorithms: ['HS256'] },
    { key: jwk, algorithms: ['RS256', 'PS256'] },
    { issuer, clockToleranceS: 300, algorithms: ['ES256'] },
  ])('are good: %#', options => {
    expect(jwtAuth({ audience, ...options })).toBeTypeOf('function')
  })

  it('take a secret of the runtime', async () => {
    const key = (await generateSecret('HS384')) as CryptoKey
    expect(jwtAuth({ audience, key, algorithms: ['HS384'] })).toBeTypeOf('function')
  })
})

function errorOf(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}
