import { generateSecret, jwtVerify, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  type ApiKeyOptions,
  apiKeyAuth,
  bearerAuth,
  type CredentialOptions,
  createHandler,
  type LogEntry,
  MetricsExporter,
  type Middleware,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

const agents = {
  who: {
    run: async (_: unknown, options?: { userId?: string }) => ({ text: String(options?.userId) }) as never,
  },
}

function make(middleware: Middleware, own = false) {
  const authenticate = () => ({ id: 'own' })
  const handler = createHandler({
    registry: false,
    logger: false,
    agents,
    a2a: true,
    swagger: { enabled: true, assets: () => new Response('a file') },
    gateway: own ? { authenticate } : true,
    metricsExporter: new MetricsExporter(own ? { authenticate } : {}),
    middleware: [middleware],
  })
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await handler(new Request(`http://127.0.0.1${path}`, { headers }))
    await response.body?.cancel()
    return response
  }
  const run = async (headers: Record<string, string> = {}) => {
    const init = jsonRequest({ input: 'x' }, headers)
    return handler(new Request('http://127.0.0.1/api/agents/who/run', init))
  }
  return { ask, run }
}

/** What no identity may be called, and what one may be called. */
const NO_IDS = [
  '',
  ' ada',
  'ada ',
  'ada\n',
  '\u00a0ada',
  'a\0b',
  'a\u0085b',
  'a\ud800',
  'a\u2028b',
  '\u202eada',
  '\udc00',
  'a'.repeat(257),
]
const IDS = ['ada', 'Ada Lovelace', 'auth0|17', 'ada@example.org', '🦊'.repeat(256), 'é', 'a'.repeat(256)]

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const tokens = { 'token-of-ada': 'ada', 'token-of-bob': { id: 'bob', scopes: ['read'] } }
const poll = '/socket.io/?EIO=4&transport=polling'

describe('bearerAuth', () => {
  it('lets in who sends a token that is known, as whom it stands for', async () => {
    const { run } = make(bearerAuth({ tokens }))
    expect(await (await run(bearer('token-of-ada'))).json()).toMatchObject({ text: 'ada' })
    expect(await (await run({ authorization: 'bearer  token-of-bob ' })).json()).toMatchObject({
      text: 'bob',
    })
  })

  it.each([
    {},
    bearer('token-of-ad'),
    bearer('token-of-adaa'),
    bearer(''),
    { authorization: 'token-of-ada' },
    { authorization: 'Basic token-of-ada' },
    bearer('__proto__'),
  ])('refuses %j', async headers => {
    const refused = await make(bearerAuth({ tokens })).run(headers as Record<string, string>)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await refused.json()).toMatchObject({ code: 'unauthorized' })
  })

  it('asks a function of the deployment, which refuses by nothing and by a throw', async () => {
    const verify = async (token: string) => {
      if (token === 'throws') throw new Error('the vault is open')
      return token === 'good' ? { id: 'eve' } : undefined
    }
    const { run } = make(bearerAuth({ verify }))
    expect(await (await run(bearer('good'))).json()).toMatchObject({ text: 'eve' })
    for (const token of ['bad', 'throws']) expect((await run(bearer(token))).status).toBe(401)
  })

  it.each(NO_IDS)('refuses the id %j, and tells the log why', async id => {
    const logged: object[] = []
    const verify = () => ({ id })
    const handler = createHandler({
      ...{ registry: false, agents, middleware: [bearerAuth({ verify })] },
      logger: entry => void logged.push(entry),
    })
    const response = await handler(
      new Request('http://127.0.0.1/api/agents', { headers: { authorization: 'Bearer x' } }),
    )
    expect(response.status).toBe(401)
    const message = expect.stringContaining('must have 1 to 256 characters')
    expect(logged).toContainEqual(
      expect.objectContaining({
        event: 'authenticate.failed',
        error: expect.objectContaining({ message }),
      }),
    )
    expect(() => bearerAuth({ tokens: { t: id } })).toThrow('must have 1 to 256 characters')
  })

  it('tells the log of a token that has expired or is forged, and takes it for no failure', async () => {
    const key = await generateSecret('HS256')
    const sign = (by: typeof key, exp: number) =>
      new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime(exp).sign(by)
    const now = Math.floor(Date.now() / 1000)
    const logged: LogEntry[] = []
    const verify = async (token: string) => {
      if (token === 'down') throw new TypeError('fetch failed')
      const { payload } = await jwtVerify(token, key)
      return { id: String(payload.sub) }
    }
    const handler = createHandler({
      ...{ registry: false, agents, middleware: [bearerAuth({ verify })] },
      logger: entry => void logged.push(entry),
    })
    const tokens = [
      await sign(key, now - 60),
      await sign(await generateSecret('HS256'), now + 60),
      'none',
      'down',
    ]
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` }
      const { status } = await handler(new Request('http://127.0.0.1/api/agents', { headers }))
      expect(status).toBe(401)
    }
    const told = logged.filter(({ event }) => event === 'authenticate.failed')
    expect(told.map(({ level }) => level)).toEqual(['info', 'info', 'info', 'error'])
    for (const token of tokens)
      expect(JSON.stringify(told)).not.toContain(token === 'down' ? '"down"' : `"${token}"`)
  })

  it.each(IDS)('takes the id %j', async id => {
    const { run } = make(bearerAuth({ tokens: { t: id } }))
    expect(await (await run(bearer('t'))).json()).toMatchObject({ text: id })
  })

  it('leaves cards and health open, and parts that decide themselves to them', async () => {
    const { ask } = make(bearerAuth({ tokens }), true)
    for (const path of ['/.well-known/agent-card.json', '/api/health', '/api/metrics', poll]) {
      expect((await ask(path)).status, path).toBe(200)
    }
  })

  it('fails closed on everything else', async () => {
    const { ask } = make(bearerAuth({ tokens }))
    const paths = [
      '/api/metrics',
      '/api/metrics/stream',
      '/api/agents',
      '/api/runs',
      '/',
      '/nothing',
      '/api/tools',
    ]
    for (const path of paths) expect((await ask(path)).status, path).toBe(401)
  })

  it.each([bearerAuth({ tokens }), apiKeyAuth({ tokens })])(
    'opens the page of the documentation to browsers, and not its document: %#',
    async middleware => {
      const { ask } = make(middleware)
      const html = { accept: 'text/html,application/xhtml+xml;q=0.9' }
      const statusOf = async (path: string, headers?: Record<string, string>) =>
        (await ask(`/api/docs${path}`, headers)).status
      expect(await statusOf('', html)).toBe(200)
      expect(await statusOf('', { 'sec-fetch-mode': 'navigate' })).toBe(200)
      expect(await statusOf('/assets/start.js')).toBe(200)
      expect(await statusOf('/assets/swagger-ui.css')).toBe(200)
      for (const headers of [undefined, { accept: '*/*' }, { 'sec-fetch-mode': 'cors' }]) {
        expect(await statusOf('', headers)).toBe(401)
      }
      for (const path of ['/spec.json', '/assets', '/assets/a/b', '/x']) {
        expect(await statusOf(path, html), path).toBe(401)
        expect(await statusOf(path, { ...html, 'sec-fetch-mode': 'navigate' }), path).toBe(401)
      }
    },
  )

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['neither', {}],
    ['both', { tokens, verify: () => undefined }],
    ['no token', { tokens: {} }],
    ['an empty token', { tokens: { '': 'x' } }],
    ['a variable that is unset', { tokens: { [String(process.env.NO_SUCH_TOKEN)]: 'x' } }],
    ['a list of tokens', { tokens: ['sk-canary'] }],
    ['a token alone', { tokens: 'sk-canary' }],
    ['a token that is nobody', { tokens: { 'sk-canary': '' } }],
    ['a token that is something else', { tokens: { 'sk-canary': 42 } }],
    ['an identity without an id', { tokens: { 'sk-canary': { scopes: [] } } }],
    ['no function', { verify: 'x' }],
    ['an unknown option', { tokens, realm: 'x' }],
    ['an option of `apiKeyAuth`', { tokens, header: 'x-key' }],
  ])('cannot be made with %s, and its error names no token', (_, options) => {
    const error = catchOf(() => bearerAuth(options as CredentialOptions))
    expect(error).toMatchObject({ code: 'invalid_options' })
    expect(String(error)).not.toContain('sk-canary')
  })
})

function catchOf(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

describe('apiKeyAuth', () => {
  it.each([undefined, { tokens, header: 'x key' }, { tokens, header: 'X-API-Key' }])(
    'cannot be made with %j',
    options => {
      const error = catchOf(() => apiKeyAuth(options as ApiKeyOptions))
      expect(error).toMatchObject({ code: 'invalid_options' })
    },
  )

  it('reads a header of its own', async () => {
    const { run } = make(apiKeyAuth({ header: 'x-tenant-key', tokens }))
    expect(await (await run({ 'x-tenant-key': 'token-of-ada' })).json()).toMatchObject({ text: 'ada' })
    const refused = await run({ 'x-api-key': 'token-of-ada', ...bearer('token-of-ada') })
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'ApiKey header="x-tenant-key"',
    ])
    expect((await make(apiKeyAuth({ tokens })).run({ 'x-service-key': 'token-of-bob' })).status).toBe(200)
  })

  it('never reads the one of a model provider', () => {
    expect(() => apiKeyAuth({ header: 'X-API-Key', tokens })).toThrow(/provider keys/)
  })
})
