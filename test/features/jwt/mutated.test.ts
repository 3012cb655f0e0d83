/** Whatever is changed in a token, nobody is let in with it. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { claimsOf, newPair, signed } from '../../contracts/jwt/issuer.ts'
import { service } from './kit.ts'

const pair = await newPair('ES256')
const token = await signed(claimsOf('us'), {}, pair)
const [header = '', claims = '', signature = ''] = token.split('.')
const { run } = service({ jwks: { keys: [pair.jwk] } })

/** The bytes of each part. Several texts have the same bytes, since the last character of a part has bits that mean nothing. */
const bytesOf = (text: string) =>
  text
    .split('.')
    .map(part => Buffer.from(part, 'base64url').toString('hex'))
    .join('.')

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const at = fc.nat(token.length - 1)
const letter = fc.constantFrom(...'ABCXYZabcxyz019-_.~+/=')
const members = fc.dictionary(fc.string(), fc.jsonValue())
const algorithm = fc.constantFrom('ES256', 'none', 'HS256', 'RS256', '')

const mutated = fc.oneof(
  fc.tuple(at, letter).map(([index, by]) => token.slice(0, index) + by + token.slice(index + 1)),
  fc.tuple(at, letter).map(([index, by]) => token.slice(0, index) + by + token.slice(index)),
  fc.tuple(at, at).map(([from, to]) => token.slice(0, from) + token.slice(to)),
  fc
    .tuple(members, algorithm)
    .map(([more, alg]) => `${part({ ...more, alg, kid: pair.jwk.kid, x: 1 })}.${claims}.${signature}`),
  members.map(more => `${header}.${part({ ...claimsOf('us'), ...more, sub: 'eve' })}.${signature}`),
)

it('a token that was changed is refused', async () => {
  expect((await run(token)).status).toBe(200)
  await fc.assert(
    fc.asyncProperty(mutated, async text => {
      fc.pre(bytesOf(text) !== bytesOf(token))
      expect((await run(text)).status).toBe(401)
    }),
    { numRuns: 500 },
  )
})
