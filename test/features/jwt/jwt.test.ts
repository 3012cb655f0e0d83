/** Tokens of an identity provider. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Issuer, startIssuer } from '../../contracts/jwt/issuer.ts'
import { service } from './kit.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

describe('a token', () => {
  it('that the provider issued is good', async () => {
    const { ask, logged } = service({ issuer: issuer.url })
    expect(await ask(await issuer.issue())).toBe('200 by ada')
    expect(await ask(await issuer.sign())).toBe('200 by ada')
    expect(logged).toEqual([])
  })
})
