import { describe, expect, it } from 'vitest'
import { apiKeyAuth, bearerAuth, createHandler, type HandlerOptions, openapi } from '../../src/index.ts'

const tokens = { token: 'ada' }
const bearer = { type: 'http', scheme: 'bearer' }
const flow = { tokenUrl: 'https://id.example/token', scopes: { read: 'Reads' } }

/** The code and the text of what these options throw. */
function refusalOf(options: unknown): [unknown, string] {
  try {
    createHandler({ registry: false, logger: false, ...(options as HandlerOptions) })
    return ['none', '']
  } catch (error) {
    return [(error as { code?: unknown }).code, String(error)]
  }
}

describe('securitySchemes and security', () => {
  it.each<[string, unknown, string]>([
    ['a list', [bearer], 'securitySchemes'],
    ['what is none', { a: null }, 'securitySchemes.a'],
    ['no type', { a: {} }, 'securitySchemes.a.type'],
    ['an unknown type', { a: { type: 'token' } }, 'securitySchemes.a.type'],
    ['what OpenAPI 3.0.3 does not know', { a: { type: 'mutualTLS' } }, 'securitySchemes.a.type'],
    ['an unknown place', { a: { type: 'apiKey', in: 'body', name: 'x' } }, 'securitySchemes.a.in'],
    [
      'a name that is no header',
      { a: { type: 'apiKey', in: 'header', name: 'x y' } },
      'securitySchemes.a.name',
    ],
    ['no name', { a: { type: 'apiKey', in: 'cookie' } }, 'securitySchemes.a.name'],
    ['an unknown member', { a: { ...bearer, realm: 'x' } }, 'securitySchemes.a.realm'],
    ['no flows', { a: { type: 'oauth2' } }, 'securitySchemes.a.flows'],
    [
      'a flow without its address',
      { a: { type: 'oauth2', flows: { implicit: { scopes: {} } } } },
      'securitySchemes.a.flows.implicit.authorizationUrl',
    ],
    [
      'a flow of A2A alone',
      { a: { type: 'oauth2', flows: { deviceCode: flow } } },
      'securitySchemes.a.flows.deviceCode',
    ],
    [
      'an address that is none',
      { a: { type: 'openIdConnect', openIdConnectUrl: 'id.example' } },
      'securitySchemes.a.openIdConnectUrl',
    ],
    ['a name that the document cannot hold', { 'a b': bearer }, 'a b'],
    ['the name of a provider’s key', { 'x-api-key': bearer }, 'x-api-key'],
    ['the name of a part’s token', { admin_token: bearer }, 'admin_token'],
  ])('cannot be made of %s', (_, securitySchemes, named) => {
    const [code, text] = refusalOf({ securitySchemes })
    expect(code).toBe('invalid_options')
    expect(text).toContain(named)
  })

  it.each<[string, object, string]>([
    ['a scheme that is not there', { securitySchemes: { a: bearer }, security: [{ b: [] }] }, '`b`'],
    ['a scheme where there is none', { security: [{ bearer: [] }] }, '`bearer`'],
    [
      'one by a name of prototypes',
      { securitySchemes: { a: bearer }, security: [{ toString: [] }] },
      '`toString`',
    ],
    ['no list', { security: { a: [] } }, 'security'],
    ['no scopes', { securitySchemes: { a: bearer }, security: [{ a: true }] }, 'security.0.a'],
    ['a scheme of A2A that is not there', { a2a: { security: [{ b: [] }] } }, 'a2a.security'],
    [
      'a scheme of A2A that is none',
      { a2a: { securitySchemes: { a: { type: 'x' } } } },
      'a2a.securitySchemes.a',
    ],
  ])('cannot demand %s', (_, options, named) => {
    const [code, text] = refusalOf(options)
    expect(code).toBe('invalid_options')
    expect(text).toContain(named)
  })

  it('takes every type', () => {
    const securitySchemes = {
      bearer,
      query: { type: 'apiKey', in: 'query', name: 'key' },
      oauth: { type: 'oauth2', flows: { clientCredentials: flow, password: flow }, description: 'x' },
      oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known' },
    } as const
    const security = [{ oauth: ['read'], query: [] }, {}]
    expect(refusalOf({ securitySchemes, security })).toEqual(['none', ''])
    expect(openapi({ registry: false, securitySchemes, security } as HandlerOptions).security).toEqual(
      security,
    )
  })

  it('refuses a key in a header that is a model provider’s', () => {
    const providers = { openai: { header: 'X-Service-Key', matches: ['openai'] } }
    const [code, text] = refusalOf({ providers, middleware: [apiKeyAuth({ tokens })] })
    expect([code, text]).toEqual(['invalid_options', expect.stringContaining('x-service-key')])
  })
})

describe('agent cards', () => {
  const cardOf = async (options: HandlerOptions, version?: string) => {
    const agents = { echo: { run: async () => ({ text: 'x' }) as never } }
    const handler = createHandler({ registry: false, logger: false, agents, a2a: true, ...options })
    const headers = version === undefined ? {} : { 'a2a-version': version }
    return (await handler(new Request('http://127.0.0.1/.well-known/agent-card.json', { headers }))).json()
  }
  const secured: HandlerOptions = { middleware: [bearerAuth({ tokens })] }

  it('say who is let in, in the form of each generation', async () => {
    const now = { securityRequirements: [{ schemes: { bearer: { list: [] } } }] }
    const old = { security: [{ bearer: [] }] }
    const v1 = { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } }
    const v03 = { bearer: { type: 'http', scheme: 'bearer' } }
    expect(await cardOf(secured, '1.0')).toMatchObject({ ...now, securitySchemes: v1 })
    expect(await cardOf(secured, '0.3')).toMatchObject({ ...old, securitySchemes: v03 })
    const hybrid = await cardOf(secured)
    expect(hybrid).toMatchObject({ ...now, ...old, securitySchemes: v1 })
    expect(hybrid).toMatchObject({ securitySchemes: v03 })
    expect(await cardOf({ middleware: [apiKeyAuth({ tokens })] }, '1.0')).toMatchObject({
      securitySchemes: {
        'x-service-key': { apiKeySecurityScheme: { location: 'header', name: 'x-service-key' } },
      },
    })
  })

  it('say what middleware of a deployment’s own lets in, where that is told', async () => {
    const session = { type: 'apiKey', in: 'cookie', name: 'sid' } as const
    expect(await cardOf({ securitySchemes: { session } }, '0.3')).toMatchObject({
      securitySchemes: { session },
      security: [{ session: [] }],
    })
  })

  it('say what they are told themselves, before all else', async () => {
    const own = { mtls: { type: 'mutualTLS' } } as const
    const card = await cardOf({ ...secured, a2a: { securitySchemes: own } }, '0.3')
    expect(card.securitySchemes).toEqual(own)
    expect(card).not.toHaveProperty('security')
    expect(await cardOf({ ...secured, a2a: { securitySchemes: {} } }, '0.3')).not.toHaveProperty(
      'securitySchemes',
    )
    const optional = await cardOf({ ...secured, a2a: { security: [{}, { bearer: [] }] } }, '0.3')
    expect(optional.security).toEqual([{}, { bearer: [] }])
  })

  it('say nothing where nothing is known', async () => {
    for (const options of [
      {},
      { middleware: [(_r: Request, _c: unknown, next: () => Promise<Response>) => next()] },
    ]) {
      const card = await cardOf(options)
      for (const name of ['securitySchemes', 'security', 'securityRequirements'])
        expect(card).not.toHaveProperty(name)
    }
  })
})
