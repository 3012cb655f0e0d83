import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { flattenedVerify, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/base/canonical-json.ts'
import { CARD_KEYS } from './card-keys.ts'
import { cardAt } from './cards.ts'
import { callOf, hear, type Json, type Server, TONGUES, tongues } from './client.ts'
import { CARD_TOKEN } from './service.ts'
import { BINDINGS, stock03, stockV1 } from './stock.ts'

const bearer = { authorization: `Bearer ${CARD_TOKEN}` }

/** The public key with that id. */
const keyOf = async (kid: string) => {
  const { d: _, ...key } = CARD_KEYS.find(key => key.kid === kid)!
  return key as never
}

/** A fetch that authenticates. */
const authorized: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('authorization', bearer.authorization)
  return fetch(input, { ...init, headers })
}

/** Which signatures of a card are valid for all of its content, checked with the library itself. */
async function wholeSignatures({ signatures, ...card }: Json): Promise<boolean[]> {
  const payload = Buffer.from(canonicalJson(card)).toString('base64url')
  return Promise.all(
    (signatures as { protected: string; signature: string }[]).map(async signature => {
      const { kid, alg } = JSON.parse(Buffer.from(signature.protected, 'base64url').toString())
      const key = await importJWK(await keyOf(kid), alg)
      return flattenedVerify({ ...signature, payload }, key).then(
        () => true,
        () => false,
      )
    }),
  )
}

const skillsOf = (card: Json): string[] => (card.skills as Json[]).map(({ id }) => String(id))

function expectExtended(card: unknown): void {
  expect(card).toMatchObject({ name: 'contract for reader', version: '2.3.4' })
  expect(skillsOf(card as Json)).toContain('secretive')
}

/** The extended card for authenticated users, and signatures of cards. */
export function extendedCases(server: Server): void {
  it('is told of on the open cards, which are silent on what it tells', async () => {
    const v1 = (await cardAt(server, '/.well-known/agent-card.json', { 'a2a-version': '1.0' })).card
    expect(v1.capabilities).toMatchObject({ extendedAgentCard: true })
    const v03 = (await cardAt(server, '/.well-known/agent-card.json', { 'a2a-version': '0.3' })).card
    expect(v03.supportsAuthenticatedExtendedCard).toBe(true)
    for (const card of [v1, v03]) expect(skillsOf(card)).not.toContain('secretive')
    const own = await cardAt(server, '/agents/secretive/.well-known/agent-card.json')
    expect(own.status).toBe(404)
  })

  it('is the only one that names what it tells', async () => {
    const message = {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ text: 'hi' }],
      metadata: { agentName: 'none' },
    }
    const heard = await hear(server, TONGUES.rpc1, callOf(TONGUES.rpc1, 'send', { message }))
    expect(heard.error?.message).toContain('`echo`')
    expect(heard.text).not.toContain('secretive')
  })

  describe.each(tongues)('over %s', (_, tongue) => {
    it('is given to whoever proves who they are, and to nobody else', async () => {
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-test-user': 'ann' }]) {
        const heard = await hear(server, tongue, callOf(tongue, 'extendedCard', {}, { headers }))
        expect(heard.status).toBe(401)
        expect(heard.headers.get('cache-control') ?? '').not.toContain('public')
        expect(heard.headers.get('www-authenticate')).toBe('Bearer realm="cards"')
        expect(heard.text).not.toContain('secretive')
        if (tongue.isRpc) expect(heard.error?.json).toMatchObject({ jsonrpc: '2.0', id: 7 })
      }
      const heard = await hear(server, tongue, callOf(tongue, 'extendedCard', {}, { headers: bearer }))
      expect(heard.status).toBe(200)
      expect(heard.headers.get('www-authenticate')).toBeNull()
      expectExtended(heard.value)
      expect(heard.headers.get('cache-control')).toBe('private, no-store')
      const own = await hear(
        server,
        tongue,
        callOf(tongue, 'extendedCard', {}, { headers: bearer, base: '/agents/secretive' }),
      )
      expect(skillsOf(own.value as Json)).toEqual(['secretive'])
    })
  })

  it.each(BINDINGS)('is read by the stock client of 1.x over %s', async binding => {
    const client = await stockV1(server().url, binding, { fetchImpl: authorized })
    expectExtended(await client.getAgentCard())
  })

  it.each(BINDINGS)('is read by the stock client of 0.3 over %s', async binding => {
    const client = await stock03(server().url, binding, authorized)
    expectExtended(await client.getAgentCard())
  })

  describe('signatures', () => {
    it.each(['1.0', 'hybrid'])('of a card of %s are verified by the stock verifier', async form => {
      const headers: Record<string, string> = form === 'hybrid' ? {} : { 'a2a-version': form }
      const { card, headers: fields } = await cardAt(server, '/.well-known/agent-card.json', headers)
      for (const { kid } of CARD_KEYS) {
        // Accepts only one of the keys.
        const only = async (wanted: string) =>
          wanted === kid ? keyOf(kid) : Promise.reject(new Error('other'))
        await verifyAgentCardSignature(only)(card as never)
      }
      const changed = { ...card, description: 'changed' }
      await expect(verifyAgentCardSignature(keyOf)(changed as never)).rejects.toThrow('No valid signatures')
      expect(fields.get('etag')).toMatch(/^W\/"/)
    })

    it('of the extended card are verified as well', async () => {
      const heard = await hear(
        server,
        TONGUES.rpc1,
        callOf(TONGUES.rpc1, 'extendedCard', {}, { headers: bearer }),
      )
      await verifyAgentCardSignature(keyOf)(heard.value as never)
    })

    it.each(['0.3', 'hybrid'])('of a card of %s are over all that it says', async form => {
      const headers: Record<string, string> = form === 'hybrid' ? {} : { 'a2a-version': form }
      const { card } = await cardAt(server, '/.well-known/agent-card.json', headers)
      const held = await wholeSignatures(card)
      expect(held.filter(Boolean)).toHaveLength(CARD_KEYS.length)
      expect(await wholeSignatures({ ...card, url: 'https://elsewhere.example' })).not.toContain(true)
    })

    it('stay as they are while the card does', async () => {
      const path = '/.well-known/agent-card.json'
      const first = await cardAt(server, path)
      expect((await cardAt(server, path)).card).toEqual(first.card)
      const again = await cardAt(server, path, { 'if-none-match': first.headers.get('etag') ?? '' })
      expect(again.status).toBe(304)
    })
  })
}
