import { canonicalizeAgentCard } from '@a2a-js/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/base/canonical-json.ts'
import { agentCards, type CardOptions } from '../../../src/protocols/a2a/cards/card.ts'
import type { CardSecuritySchemes } from '../../../src/protocols/a2a/cards/card-security.ts'
import { signedPartV1 } from '../../../src/protocols/signing/canonical.ts'

const text = fc.string({ maxLength: 8 })
const texts = fc.array(text, { maxLength: 3 })
const scopes = fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), text, { maxKeys: 2 })

function some<T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(model, { requiredKeys: [] })
}

const scheme = fc.oneof(
  fc.record({ type: fc.constant('apiKey' as const), in: fc.constant('header' as const), name: text }),
  fc.record({ type: fc.constant('http' as const), scheme: text, bearerFormat: text }),
  fc.record({ type: fc.constant('openIdConnect' as const), openIdConnectUrl: text, description: text }),
  fc.record({ type: fc.constant('mutualTLS' as const) }),
  fc.record({
    type: fc.constant('oauth2' as const),
    oauth2MetadataUrl: text,
    flows: fc.oneof(
      fc.record({ clientCredentials: fc.record({ tokenUrl: text, scopes }) }),
      fc.record({ authorizationCode: fc.record({ authorizationUrl: text, tokenUrl: text, scopes }) }),
    ),
  }),
)

const options: fc.Arbitrary<CardOptions> = fc
  .tuple(
    some({
      provider: fc.record({ organization: text, url: fc.constant('https://example.com') }),
      version: text,
      name: text,
      description: text,
      inputModes: texts,
      outputModes: texts,
      streaming: fc.boolean(),
      pushNotifications: fc.boolean(),
      extendedAgentCard: fc.boolean(),
      documentationUrl: text,
      iconUrl: text,
      bindings: fc.subarray(['JSONRPC', 'HTTP+JSON'] as const),
    }),
    fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), scheme, { maxKeys: 3, noNullPrototype: true }),
  )
  .map(([rest, schemes]) => {
    const securitySchemes = schemes as unknown as CardSecuritySchemes
    const security = Object.keys(schemes).map(name => ({ [name]: [] }))
    return { ...rest, url: 'https://agents.example/a2a', securitySchemes, security } as CardOptions
  })

const agents = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  some({ description: text, capabilities: fc.array(text, { maxLength: 2 }) }),
  { minKeys: 1, maxKeys: 3, noNullPrototype: true },
)

describe('what of a card is signed', () => {
  it('is what the reference implementation verifies, for cards of 1.0 and for those of all generations', () => {
    fc.assert(
      fc.property(
        agents,
        options,
        fc.constantFrom('1.0' as const, 'hybrid' as const),
        (map, rest, generation) => {
          const card = JSON.parse(JSON.stringify(agentCards(map, { ...rest, generation })))
          expect(signedPartV1(card)).toBe(canonicalizeAgentCard(card))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('canonicalJson', () => {
  it('says the same, in one way', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('orders members by their UTF-16 code units, as RFC 8785 shows', () => {
    const members = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, ö: 7 }
    expect(Object.values(JSON.parse(canonicalJson(Object.entries(members)))).length).toBe(7)
    const names = [...canonicalJson(members).matchAll(/:(\d)/g)].map(([, place]) => Number(place))
    expect(names).toEqual([2, 4, 6, 7, 1, 5, 3])
    expect(canonicalJson({ numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27] })).toBe(
      '{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
    )
  })
})
