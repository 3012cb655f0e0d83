/** The endpoint as a protected resource of OAuth 2. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  Agent,
  bearerAuth,
  type HandlerOptions,
  type Middleware,
  memoryState,
  ServableError,
} from '../../../src/index.ts'
import { type McpAuthOptions, mcpAuth, mcpTasks, type TokenOwner } from '../../../src/protocols/mcp/plugin.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { untyped } from '../../support.ts'
import { type Asked, serve } from './calling.ts'

const RESOURCE = 'https://tools.example.com/mcp'
const TOKEN = 'token-that-nobody-may-see'
const METADATA = '/.well-known/oauth-protected-resource'

const whoami = new Agent({
  ...{ name: 'whoami', description: 'Who calls', register: false },
  run: (_, { identity, apiKey, apiKeys }) => JSON.stringify({ identity, apiKey, apiKeys }),
})
const agents = { whoami }

const owner = (more: Partial<TokenOwner> = {}): TokenOwner => ({ id: 'ann', audience: RESOURCE, ...more })

function protect(auth: Partial<McpAuthOptions>, options: HandlerOptions = {}) {
  const all = { authorizationServers: ['https://login.example'], resource: RESOURCE, ...auth }
  return serve(
    { tools: true, auth: mcpAuth(all), tasks: mcpTasks() },
    { agents, state: memoryState(), ...options },
  )
}

const withToken = (token = TOKEN): Asked => ({ headers: { authorization: `Bearer ${token}` } })

const CHALLENGE = `Bearer resource_metadata="https://tools.example.com${METADATA}/mcp"`

describe('a stranger', () => {
  const served = protect({
    verify: token => (token === TOKEN ? owner() : undefined),
    scopes: ['tools', 'read'],
  })

  it.each([
    ['no token', {}],
    ['an unknown token', withToken('other')],
    ['an empty token', { headers: { authorization: 'Bearer ' } }],
    ['two tokens', { headers: { authorization: `Bearer ${TOKEN} ${TOKEN}` } }],
    ['another scheme', { headers: { authorization: `Basic ${TOKEN}` } }],
    ['a token in the address', { url: `http://127.0.0.1/mcp?access_token=${TOKEN}` }],
  ])('with %s is told where tokens come from', async (_, asked: Asked) => {
    for (const [method, params] of [
      ['server/discover', {}],
      ['tools/list', {}],
      ['tools/call', { name: 'whoami', arguments: { input: 'x' } }],
      ['tasks/get', { taskId: 'x' }],
      ['no/method', {}],
    ] as const) {
      const { status, headers, error } = await served.ask(method, params, asked)
      expect([status, error.code, error.data]).toEqual([401, -32000, { code: 'unauthorized' }])
      expect(headers.get('www-authenticate')).toBe(`${CHALLENGE}, scope="tools read"`)
    }
  })

  it('is told before anything of what it sends is read', async () => {
    for (const body of ['{', '', '[]', 'x'.repeat(2_000_000)])
      expect((await served.post(body)).status).toBe(401)
    expect((await served.post('{}', { headers: { 'content-type': 'text/plain' } })).status).toBe(401)
  })
})

describe('what is told of the resource', () => {
  it.each([
    [RESOURCE, [`${METADATA}/mcp`, METADATA]],
    ['https://tools.example.com', [METADATA]],
    ['https://tools.example.com/a/b', [`${METADATA}/a/b`, METADATA]],
  ])('of %s is open to everyone', async (resource, paths) => {
    const middleware = [bearerAuth({ tokens: { x: 'ann' } })]
    const { handler } = protect({ resource, scopes: ['tools'] }, { middleware })
    for (const path of paths) {
      const response = await handler(new Request(`https://tools.example.com${path}`))
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
      expect(await response.json()).toEqual({
        resource,
        authorization_servers: ['https://login.example'],
        scopes_supported: ['tools'],
        bearer_methods_supported: ['header'],
      })
    }
  })

  it('is that of `publicUrl` and the path, where nothing else is said', async () => {
    const auth = { authorizationServers: ['https://login.example'] }
    const { handler, ask } = serve(
      { tools: true, auth: mcpAuth(auth), path: '/a' },
      { publicUrl: 'https://p.example' },
    )
    const response = await handler(new Request(`https://p.example${METADATA}/a`))
    expect((await response.json()).resource).toBe('https://p.example/a')
    const { headers } = await ask('tools/list', {}, { url: 'http://127.0.0.1/a' })
    expect(headers.get('www-authenticate')).toBe(`Bearer resource_metadata="https://p.example${METADATA}/a"`)
  })

  it('is told of no service without tokens', async () => {
    const { handler } = serve()
    for (const path of [METADATA, `${METADATA}/mcp`])
      expect((await handler(new Request(`http://127.0.0.1${path}`))).status).toBe(404)
  })
})

describe('a token', () => {
  const answerOf = async (found: unknown, auth: Partial<McpAuthOptions> = {}) => {
    const served = protect({ verify: () => untyped(found), ...auth })
    return { ...(await served.call('whoami', { input: 'x' }, withToken())), log: served.log }
  }

  it.each([
    ['for this resource', { audience: RESOURCE }],
    ['for several', { audience: ['https://other.example', RESOURCE] }],
  ])('%s lets its owner in', async (_, more) => {
    const { result } = await answerOf(owner(more))
    expect(JSON.parse(result.content[0].text)).toEqual({ identity: 'ann' })
  })

  it.each([
    ['for another resource', owner({ audience: 'https://other.example/mcp' })],
    ['for a resource above', owner({ audience: 'https://tools.example.com' })],
    ['for a resource below', owner({ audience: `${RESOURCE}/x` })],
    ['for none', owner({ audience: [] })],
    ['for nothing', owner({ audience: '' })],
    ['that does not say for what', { id: 'ann' }],
    ['for what is no text', { id: 'ann', audience: { [RESOURCE]: true } }],
    ['of nobody', undefined],
    ['of null', null],
    ['of an owner without an id', { audience: RESOURCE }],
    ['of an owner with an empty id', owner({ id: '' })],
    ['that is true', true],
  ])('%s does not', async (_, found) => {
    const { status, headers, error } = await answerOf(found)
    expect([status, error.data]).toEqual([401, { code: 'unauthorized' }])
    expect(headers.get('www-authenticate')).toBe(CHALLENGE)
  })

  it('that cannot be checked does not, and the log says why', async () => {
    const verify = () => {
      throw new Error('the server of tokens is gone')
    }
    for (const check of [verify, async () => verify()]) {
      const { call, log } = protect({ verify: check })
      const { status, text } = await call('whoami', { input: 'x' }, withToken())
      expect(status).toBe(401)
      expect(text).not.toContain('gone')
      const [entry, ...others] = log.filter(({ event }) => event === 'authenticate.failed')
      expect([JSON.stringify(entry).includes('gone'), others]).toEqual([true, []])
    }
    const told = protect({
      verify: () => {
        throw new ServableError('unauthorized', 'It has expired')
      },
    })
    const { status, error } = await told.call('whoami', { input: 'x' }, withToken())
    expect([status, error.message]).toEqual([401, 'It has expired'])
  })

  it.each([
    ['none', undefined],
    ['others', ['read']],
    ['one that begins so', ['tools:write']],
  ])('with %s of the scopes is told which it needs', async (_, scopes) => {
    const { status, headers, error } = await answerOf(owner({ ...(scopes && { scopes }) }), {
      scopes: ['read', 'tools'].slice(scopes?.includes('read') ? 0 : 1),
    })
    expect([status, error.data, error.message]).toEqual([
      403,
      { code: 'forbidden' },
      'The token needs the scope `tools`',
    ])
    expect(headers.get('www-authenticate')).toContain(
      'Bearer error="insufficient_scope", resource_metadata="',
    )
    expect(headers.get('www-authenticate')).toContain('scope="')
  })

  it('with all scopes is let in', async () => {
    const { result } = await answerOf(owner({ scopes: ['a', 'tools', 'read'] }), {
      scopes: ['read', 'tools'],
    })
    expect(result.content).toHaveLength(1)
  })

  it('decides, whoever the middleware has found', async () => {
    const cookie: Middleware = (_, context, next) => {
      context.identity = { id: 'bob' }
      return next()
    }
    const served = protect(
      { verify: token => (token === TOKEN ? owner() : undefined) },
      { middleware: [cookie] },
    )
    const { result } = await served.call('whoami', { input: 'x' }, withToken())
    expect(JSON.parse(result.content[0].text).identity).toBe('ann')
    expect((await served.call('whoami')).status).toBe(401)
    expect((await served.call('whoami', { input: 'x' }, withToken('other'))).status).toBe(401)
    // A check that gives what it may not give has found nobody.
    for (const found of [new Response(null, { status: 403 }), Response.json(owner())]) {
      const odd = protect({ verify: () => untyped(found) }, { middleware: [cookie] })
      expect((await odd.call('whoami', { input: 'x' }, withToken())).status).toBe(401)
    }
  })

  it('is seen in no log, answer, event, run or store, and passed on to nobody', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-auth-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const told: string[] = []
    const fails = new Agent({
      ...{ name: 'fails', register: false },
      run(_, context) {
        told.push(JSON.stringify(context))
        throw new Error(`the key ${TOKEN} is wrong`)
      },
    })
    const says = new Agent({
      ...{ name: 'says', register: false },
      async *run(_, context) {
        told.push(JSON.stringify(context))
        yield `said ${yield* context.ask('q')}`
      },
    })
    const state = sqliteState({ path: join(folder, 'state.db') })
    const served = protect({ verify: () => owner() }, { agents: { fails, says, whoami }, state })
    for (const name of ['fails', 'says', 'whoami']) {
      const { text } = await served.call(name, { input: 'x' }, withToken())
      expect(text).not.toContain(TOKEN)
    }
    const kept = readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'))
    expect(kept.join()).toContain('input_required')
    expect(told.join()).toContain('"identity":"ann"')
    expect(served.log.length).toBeGreaterThan(0)
    for (const text of [...kept, ...told, JSON.stringify(served.log)]) expect(text).not.toContain(TOKEN)
  })
})

describe('middleware', () => {
  it('decides who calls where nothing checks tokens, and its scopes count', async () => {
    const tokens = { right: { id: 'ann', scopes: ['tools'] }, poor: { id: 'bob' } }
    const served = protect({ scopes: ['tools'] }, { middleware: [bearerAuth({ tokens })] })
    const { result } = await served.call('whoami', { input: 'x' }, withToken('right'))
    expect(JSON.parse(result.content[0].text).identity).toBe('ann')
    const poor = await served.call('whoami', { input: 'x' }, withToken('poor'))
    expect([poor.status, poor.error.data]).toEqual([403, { code: 'forbidden' }])
    expect(poor.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    for (const asked of [{}, withToken('wrong')] as Asked[]) {
      const { status, headers, error } = await served.call('whoami', { input: 'x' }, asked)
      expect([status, error.code]).toEqual([401, -32000])
      expect(headers.get('www-authenticate')).toBe(`${CHALLENGE}, scope="tools"`)
    }
  })

  it('that lets everybody in lets nobody in where an owner is needed', async () => {
    const { status, headers } = await protect({}).call('whoami')
    expect([status, headers.get('www-authenticate')]).toEqual([401, CHALLENGE])
  })

  it('of bearer tokens leaves the endpoint to its own check', async () => {
    const middleware = [bearerAuth({ tokens: { 'of-the-api': 'ann' } })]
    const served = protect({ verify: token => (token === TOKEN ? owner() : undefined) }, { middleware })
    expect((await served.call('whoami', { input: 'x' }, withToken())).status).toBe(200)
    expect((await served.call('whoami', { input: 'x' }, withToken('of-the-api'))).status).toBe(401)
    // A token of the endpoint opens nothing else.
    const api = new Request('http://127.0.0.1/api/agents', { headers: { authorization: `Bearer ${TOKEN}` } })
    expect((await served.handler(api)).status).toBe(401)
  })
})

describe('keys of providers', () => {
  it('come back in no answer of a failure', async () => {
    const key = 'sk-key-of-a-provider-0123456789'
    const fails = new Agent({
      ...{ name: 'fails', register: false },
      run(_, { apiKeys }) {
        throw new Error(`refused: ${JSON.stringify(apiKeys)} ${key}`)
      },
    })
    const broken: Middleware = (request, _, next) => {
      if (request.headers.has('x-break')) throw new Error(`broken ${key}`)
      return next()
    }
    for (const production of [true, false]) {
      const served = serve({ tools: true }, { agents: { fails }, production, middleware: [broken] })
      for (const headers of [{ 'x-provider-a-api-key': key }, { 'x-api-key': key }] as Record<
        string,
        string
      >[]) {
        for (const more of [{}, { 'x-break': '1' }]) {
          const asked = { headers: { ...headers, ...more } }
          const { text } = await served.call('fails', { input: 'x' }, asked)
          expect(text).not.toContain(key)
          const streamed = await served.call(
            'fails',
            { input: 'x' },
            { ...asked, meta: { progressToken: 1 } },
          )
          expect(streamed.text).not.toContain(key)
        }
      }
      expect(JSON.stringify(served.log)).not.toContain(key)
    }
  })

  it('reach the run whose caller gives them', async () => {
    const served = serve({ tools: true }, { agents })
    const { result } = await served.call(
      'whoami',
      { input: 'x' },
      { headers: { 'x-api-key': 'sk-mine-0123456789' } },
    )
    expect(result.content[0].text).toContain('sk-mine')
  })
})
