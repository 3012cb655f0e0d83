import { describe, expect, it } from 'vitest'
import { agentCard } from '../../../src/protocols/a2a/cards/card.ts'
import { cardSigner, type SigningKey } from '../../../src/protocols/signing/index.ts'
import { CARD_KEYS } from '../../contracts/a2a/card-keys.ts'

const [key, other] = CARD_KEYS as [SigningKey, SigningKey]
const card = agentCard({ name: 'echo' }, { url: 'https://agents.example', generation: '1.0' })

describe('cardSigner', () => {
  it('names the key, its algorithm and where it is published', async () => {
    const jku = 'https://agents.example/keys.json'
    const signatures = await cardSigner({ keys: [key, JSON.stringify(other)], jku })(card, '1.0')
    const headers = signatures.map(each => JSON.parse(Buffer.from(each.protected, 'base64url').toString()))
    expect(headers).toEqual([
      { alg: 'ES256', kid: 'curve', typ: 'JOSE', jku },
      { alg: 'EdDSA', kid: 'edwards', typ: 'JOSE', jku },
    ])
  })

  it('gives the public keys, and no more of them', () => {
    const { publicKeys } = cardSigner({ keys: CARD_KEYS })
    expect(publicKeys.keys.map(({ kid }) => kid)).toEqual(['curve', 'edwards'])
    const text = JSON.stringify(publicKeys)
    for (const { d } of CARD_KEYS) expect(text).not.toContain(d)
  })

  it.each([
    [{ keys: [] }, 'needs at least one key'],
    [{ keys: 'no JSON' }, 'it lacks `kty`, `kid`, `alg`, `d`'],
    [{ keys: undefined as never }, 'it lacks `kty`'],
    [{ keys: { ...key, d: undefined } as never }, 'it lacks `d`'],
    [{ keys: { ...key, kid: undefined } as never }, 'it lacks `kid`'],
    [{ keys: { ...key, alg: 'HS256' } }, 'needs an `alg` of ES256'],
    [{ keys: { ...key, alg: 'none' } }, 'needs an `alg` of ES256'],
    [{ keys: [key, key] }, 'two keys with the same `kid`'],
    [{ keys: key, jku: 'http://agents.example' }, 'must begin with https:'],
  ])('refuses %j', (options, why) => {
    let error: unknown
    try {
      cardSigner(options)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringContaining(why) })
    expect(String(error)).not.toContain(key.d)
  })

  it('tells of a key that is broken, but not what it is', async () => {
    for (const broken of [
      { ...key, d: 'AAAA' },
      { ...key, x: other.x },
      { ...key, alg: 'RS256' },
    ]) {
      const error = await cardSigner({ keys: broken as SigningKey })(card, '1.0').catch(thrown => thrown)
      expect(error).toMatchObject({
        code: 'invalid_options',
        message: expect.stringContaining('cannot sign with the key `curve`'),
      })
      expect(String(error)).not.toContain(broken.d)
    }
  })
})
