import { exportJWK, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { createHandler } from '../../../src/index.ts'
import {
  cardSigner,
  cardVerifier,
  type SigningKey,
  type VerifyingKey,
} from '../../../src/protocols/signing/index.ts'

let key: SigningKey
let publicKey: VerifyingKey
let other: VerifyingKey

async function pair(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const facts = { kid, alg: 'ES256' }
  return [
    { ...(await exportJWK(privateKey)), ...facts } as SigningKey,
    { ...(await exportJWK(publicKey)), ...facts } as VerifyingKey,
  ] as const
}

beforeAll(async () => {
  ;[key, publicKey] = await pair('k1')
  ;[, other] = await pair('k1')
})

type Card = Record<string, unknown> & { signatures: unknown }

async function cardOf(version?: string): Promise<Card> {
  const handler = createHandler({
    ...{ registry: false, logger: false },
    agents: { echo: { run: async () => ({ text: '' }) as never } },
    a2a: { sign: cardSigner({ keys: key }) },
  })
  const headers: HeadersInit = version === undefined ? {} : { 'a2a-version': version }
  const response = await handler(new Request('https://a.example/.well-known/agent-card.json', { headers }))
  return (await response.json()) as Card
}

describe('cardVerifier', () => {
  it.each([undefined, '1.0', '0.3'])('takes the card that a signer has signed (%s)', async version => {
    const card = await cardOf(version)
    expect(await cardVerifier({ keys: [publicKey] })(card)).toEqual(card)
  })

  it('refuses another key, no signature, a changed card and rubbish', async () => {
    const card = await cardOf('1.0')
    const verify = cardVerifier({ keys: [publicKey] })
    expect(await cardVerifier({ keys: [other] })(card)).toBe(false)
    expect(await verify({ ...card, signatures: undefined })).toBe(false)
    expect(await verify({ ...card, name: 'other' })).toBe(false)
    for (const signatures of [1, [1], [{}], [{ protected: '!', signature: '!' }]])
      expect(await verify({ ...card, signatures })).toBe(false)
  })

  it('leaves out what no signature covers', async () => {
    const card = await cardOf()
    const verify = cardVerifier({ keys: [publicKey] })
    const used = await verify({ ...card, url: 'https://evil.example/' })
    expect(used).toMatchObject({ supportedInterfaces: card.supportedInterfaces })
    expect(used).not.toHaveProperty('url')
  })

  it('refuses options that cannot work', () => {
    for (const keys of [[], [{ kty: 'EC' }], undefined, [{ ...publicKey, alg: 'HS256' }]])
      expect(() => cardVerifier({ keys: keys as never })).toThrow(
        expect.objectContaining({ code: 'invalid_options' }),
      )
  })
})
