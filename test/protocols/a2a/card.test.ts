import { AgentCard as CardOfSdk } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client'
import { A2AClient as OldestClient } from 'a2a-sdk-0.2/client'
import type { AgentCard as CardOfOldSdk } from 'a2a-sdk-0.3'
import {
  ClientFactory as OldClientFactory,
  JsonRpcTransportFactory as OldJsonRpc,
  RestTransportFactory as OldRest,
} from 'a2a-sdk-0.3/client'
import { describe, expect, it, vi } from 'vitest'
import { agentCard, agentCards, type CardOptions } from '../../../src/protocols/a2a/cards/card.ts'
import type { AgentCard, CardGeneration } from '../../../src/protocols/a2a/cards/card-forms.ts'
import type { CardSecuritySchemes } from '../../../src/protocols/a2a/cards/card-security.ts'

const url = 'https://agents.example/a2a'
const options: CardOptions = { url, provider: { organization: 'Example', url: 'https://example.com' } }
const echo = { kind: 'agent' as const, name: 'echo', description: 'Says it again' }

const SCHEMES: CardSecuritySchemes = {
  key: { type: 'apiKey', in: 'header', name: 'x-key', description: 'A key' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  oauth: {
    type: 'oauth2',
    oauth2MetadataUrl: 'https://id.example/meta',
    flows: {
      clientCredentials: { tokenUrl: 'https://id.example/token', scopes: { read: 'Reads' } },
      deviceCode: {
        deviceAuthorizationUrl: 'https://id.example/device',
        tokenUrl: 'https://id.example/token',
        scopes: {},
      },
    },
  },
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
  mtls: { type: 'mutualTLS' },
}
const secured: CardOptions = {
  ...options,
  securitySchemes: SCHEMES,
  security: [{ oauth: ['read'], mtls: [] }, { key: [] }],
}

const cardOf = (generation: CardGeneration, more: CardOptions = options): AgentCard =>
  agentCard(echo, { ...more, generation })

describe('agentCard', () => {
  it('writes a card of 1.0', () => {
    expect(cardOf('1.0')).toEqual({
      name: 'echo',
      description: 'Says it again',
      version: '1.0.0',
      provider: { organization: 'Example', url: 'https://example.com' },
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'echo', name: 'echo', description: 'Says it again', tags: ['agent'] }],
    })
  })

  it('writes a card of 0.3', () => {
    expect(cardOf('0.3')).toEqual({
      name: 'echo',
      description: 'Says it again',
      version: '1.0.0',
      provider: { organization: 'Example', url: 'https://example.com' },
      protocolVersion: '0.3.0',
      url,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url, transport: 'JSONRPC' },
        { url, transport: 'HTTP+JSON' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      supportsAuthenticatedExtendedCard: false,
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'echo', name: 'echo', description: 'Says it again', tags: ['agent'] }],
    })
  })

  it('writes both at once unless told otherwise', () => {
    const hybrid = agentCard(echo, options)
    expect(hybrid).toEqual({ ...cardOf('0.3'), ...cardOf('1.0') })
  })

  it('tells security schemes in both forms', () => {
    const { securitySchemes: now, securityRequirements, security: none } = cardOf('1.0', secured)
    expect(now).toEqual({
      key: { apiKeySecurityScheme: { description: 'A key', location: 'header', name: 'x-key' } },
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
      oauth: {
        oauth2SecurityScheme: {
          oauth2MetadataUrl: 'https://id.example/meta',
          flows: { clientCredentials: { tokenUrl: 'https://id.example/token', scopes: { read: 'Reads' } } },
        },
      },
      oidc: {
        openIdConnectSecurityScheme: {
          openIdConnectUrl: 'https://id.example/.well-known/openid-configuration',
        },
      },
      mtls: { mtlsSecurityScheme: {} },
    })
    expect(securityRequirements).toEqual([
      { schemes: { oauth: { list: ['read'] }, mtls: { list: [] } } },
      { schemes: { key: { list: [] } } },
    ])
    expect(none).toBeUndefined()
    const { securitySchemes: old, security } = cardOf('0.3', secured) as {
      securitySchemes: object
      security: object
    }
    expect(security).toEqual(secured.security)
    expect(old).toMatchObject({ key: SCHEMES.key, mtls: { type: 'mutualTLS' } })
    expect(JSON.stringify(old)).not.toContain('device')
    const hybrid = cardOf('hybrid', secured) as { securitySchemes: { bearer: object } }
    expect(hybrid).toMatchObject({ security, securityRequirements })
    expect(hybrid.securitySchemes.bearer).toEqual({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' },
    })
  })

  it('tells one flow in 1.0, the safest that is there', () => {
    const flow = { tokenUrl: 'https://id.example/t', scopes: {} }
    const schemes: CardSecuritySchemes = {
      oauth: { type: 'oauth2', flows: { password: flow, deviceCode: flow } },
    }
    const card = cardOf('1.0', { ...options, securitySchemes: schemes })
    expect(card.securitySchemes).toEqual({ oauth: { oauth2SecurityScheme: { flows: { deviceCode: flow } } } })
  })

  it('describes an agent that says nothing of itself', () => {
    const card = agentCard({ name: 'echo', kind: 'team' }, { url }) as {
      description: string
      skills: { tags: string[] }[]
    }
    expect(card.description).toBe('The team echo')
    expect(card.skills[0]?.tags).toEqual(['team'])
    expect(card).not.toHaveProperty('provider')
  })

  it('makes tags and media types of capabilities', () => {
    const card = agentCard({ ...echo, capabilities: ['vision', 'fast'] }, options)
    expect(card.skills).toMatchObject([
      {
        tags: ['vision', 'fast'],
        inputModes: ['text/plain', 'application/json', 'image/png', 'image/jpeg', 'image/webp', 'image/gif'],
      },
    ])
  })

  it('takes what options say', () => {
    const signatures = [{ protected: 'p', signature: 's' }]
    const card = agentCard(echo, {
      url: `${url}//`,
      provider: { organization: 'Example' },
      name: 'Parrot',
      description: 'Repeats',
      version: '2.1.0',
      bindings: ['HTTP+JSON'],
      streaming: false,
      pushNotifications: true,
      extendedAgentCard: true,
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      signatures,
    })
    expect(card).toMatchObject({
      name: 'Parrot',
      description: 'Repeats',
      version: '2.1.0',
      url,
      preferredTransport: 'HTTP+JSON',
      provider: { organization: 'Example', url },
      capabilities: { streaming: false, pushNotifications: true, extendedAgentCard: true },
      supportsAuthenticatedExtendedCard: true,
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      signatures,
    })
    expect(card.supportedInterfaces).toHaveLength(2)
  })

  it.each(['', '/a2a', 'agents.example', 'ftp://agents.example', 'javascript:1'])(
    'refuses the address %j',
    wrong => {
      expect(() => agentCard(echo, { url: wrong })).toThrow(
        expect.objectContaining({ code: 'invalid_options' }),
      )
    },
  )

  it('refuses a requirement that names an unknown scheme', () => {
    for (const name of ['other', 'constructor']) {
      expect(() => agentCard(echo, { ...secured, security: [{ [name]: [] }] })).toThrow(
        expect.objectContaining({ code: 'invalid_options' }),
      )
    }
  })
})

describe('agentCards', () => {
  it('has a skill for each agent, named by its key', () => {
    const card = agentCards({ echo, poet: { capabilities: ['rhyme'] } }, options) as {
      skills: { id: string }[]
    }
    expect(card).toMatchObject({ name: 'Example', description: 'Agents: echo, poet' })
    expect(card.skills).toMatchObject([
      { id: 'echo', description: 'Says it again' },
      { id: 'poet', description: 'The agent poet', tags: ['rhyme'] },
    ])
    expect(agentCards({ one: {}, two: {} }, { url })).toMatchObject({ name: 'Agents' })
  })

  it('of one agent is the card of that agent', () => {
    expect(agentCards({ echo }, options)).toEqual(agentCard(echo, options))
  })

  it('refuses an empty map', () => {
    expect(() => agentCards({}, options)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})

/** Answers every request with an empty object, and remembers what was asked. */
function recorder() {
  const asked: { url: string; method: string | undefined; version: string | null; rpc?: string }[] = []
  const fetchImpl: typeof fetch = async (input, init) => {
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
    const version = new Headers(init?.headers).get('a2a-version')
    asked.push({
      url: String(input),
      method: init?.method,
      version,
      ...(body?.method && { rpc: body.method }),
    })
    return Response.json({ jsonrpc: '2.0', id: body?.id, result: { id: 't' } })
  }
  return { asked, fetchImpl }
}

const carried = (card: AgentCard) => JSON.parse(JSON.stringify(card))

describe('the official clients', () => {
  it.each(['1.0', 'hybrid'] as const)('1.x parses a card of %s without loss', generation => {
    const scoped = { ...secured, security: [{ oauth: ['read'], oidc: ['openid'] }] }
    const card = carried(cardOf(generation, scoped))
    const strict = carried(cardOf('1.0', scoped))
    expect(CardOfSdk.toJSON(CardOfSdk.fromJSON(card))).toEqual(strict)
  })

  it.each(['1.0', 'hybrid'] as const)(
    '1.x picks the interfaces of 1.0 from a card of %s',
    async generation => {
      for (const [transport, expected] of [
        ['JSONRPC', { url, method: 'POST', version: '1.0', rpc: 'GetTask' }],
        ['HTTP+JSON', { url: `${url}/tasks/t`, method: 'GET', version: '1.0' }],
      ] as const) {
        const { asked, fetchImpl } = recorder()
        const legacyCompat = { enabled: true }
        const factory = new ClientFactory({
          transports: [
            new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
            new RestTransportFactory({ fetchImpl, legacyCompat }),
          ],
          preferredTransports: [transport],
          cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
        })
        const client = await factory.createFromAgentCard(carried(cardOf(generation, secured)))
        await client.getTask({ id: 't', tenant: '', historyLength: undefined })
        expect(asked).toEqual([expected])
      }
    },
  )

  it('1.x translates a card of 0.3', () => {
    const card = parseLegacyAgentCard(carried(cardOf('0.3', secured)))
    expect(card).toMatchObject({ name: 'echo', capabilities: { streaming: true, extendedAgentCard: false } })
    expect(Object.keys(card.securitySchemes)).toEqual(Object.keys(SCHEMES))
    expect(card.supportedInterfaces[0]).toMatchObject({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion: '0.3.0',
    })
  })

  it.each(['0.3', 'hybrid'] as const)('0.3 finds both bindings in a card of %s', async generation => {
    for (const [transport, expected] of [
      ['JSONRPC', { url, method: 'POST', version: null, rpc: 'tasks/get' }],
      ['HTTP+JSON', { url: `${url}/v1/tasks/t`, method: 'GET', version: null }],
    ] as const) {
      const { asked, fetchImpl } = recorder()
      const factory = new OldClientFactory({
        transports: [new OldJsonRpc({ fetchImpl }), new OldRest({ fetchImpl })],
        preferredTransports: [transport],
      })
      const card: CardOfOldSdk = carried(cardOf(generation, secured))
      const client = await factory.createFromAgentCard(card)
      await client.getTask({ id: 't' }).catch(() => undefined)
      expect(asked).toEqual([expected])
    }
  })

  it.each(['0.3', 'hybrid'] as const)('0.2 finds the endpoint in a card of %s', async generation => {
    const { asked, fetchImpl } = recorder()
    const card = cardOf(generation, secured)
    vi.stubGlobal('fetch', (input: string, init?: RequestInit) =>
      input.endsWith('.json') ? Promise.resolve(Response.json(card)) : fetchImpl(input, init),
    )
    try {
      const client = new OldestClient('https://agents.example')
      expect(await client.getAgentCard()).toMatchObject({ url, capabilities: { streaming: true } })
      await client.getTask({ id: 't' })
      expect(asked).toEqual([{ url, method: 'POST', version: null, rpc: 'tasks/get' }])
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
