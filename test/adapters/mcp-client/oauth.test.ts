/** Tokens of tool servers: how the service gets them, keeps them and renews them, and what providers may do to it. */
import { createServer } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import type { KeptDefinition, SignInAnswer, ToolServerAuth } from '../../../src/agents/tool-servers.ts'
import { CLIENT_SECRET, type ProviderFixture, startProvider } from '../../contracts/admin/provider.ts'
import { ENCRYPTION_KEY } from '../../contracts/admin/service.ts'
import { listening } from '../../listening.ts'

let provider: ProviderFixture
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.stop())

let kept: Map<string, KeptDefinition>
let managers: ToolServerManager[]
beforeEach(() => {
  kept = new Map()
  managers = []
  provider.reset()
})
afterEach(() => {
  vi.restoreAllMocks()
  for (const manager of managers) manager.close()
})

/** The tool servers of one more process. */
function open() {
  const manager = new ToolServerManager({
    register: false,
    encryptionKey: ENCRYPTION_KEY,
    connectTimeoutMs: 2000,
    // Nothing is tried again by itself.
    retryMs: 60_000,
  })
  manager.use(
    manager.open({
      store: {
        isShared: true,
        all: async () => [...kept.values()],
        put: async definition => void kept.set(definition.id, definition),
        async change(id, change) {
          await null
          const found = kept.get(id)
          const changed = found && change(found)
          if (changed !== undefined) kept.set(id, changed)
          return changed ?? found
        },
        remove: async id => void kept.delete(id),
      },
      policy: { allow: ['127.0.0.1'], commands: [] },
      onChange: () => {},
    }),
  )
  managers.push(manager)
  return manager.servers
}

const client = { clientId: 'client-1', clientSecret: CLIENT_SECRET }
const own: ToolServerAuth = { type: 'client_credentials', ...client, scopes: ['weather:read'] }
const ofPerson: ToolServerAuth = { type: 'authorization_code', ...client }
const definition = (auth: ToolServerAuth) => ({
  name: 'weather',
  transport: 'http' as const,
  url: provider.tools,
  auth,
})

const place = { who: 'ada', redirectUri: 'https://service.example.com/api/admin/sign-in' }

const answerOf = (query: URLSearchParams, who: string | null = 'ada'): SignInAnswer => ({
  ...(Object.fromEntries(query) as { state: string }),
  who,
})

/** A server to which `ada` has signed in. */
async function signedIn(servers = open()) {
  const { id } = await servers.add(definition(ofPerson))
  const { url } = await servers.signIn(id, place)
  const server = await servers.endSignIn(answerOf(provider.signIn(url)))
  return { servers, id, server }
}

const forecast = (servers: ReturnType<typeof open>) => servers.call('weather.forecast', { city: 'Oslo' })

const grants = () => provider.asked.map(parameters => parameters.get('grant_type'))

describe('a token of the service itself', () => {
  it('is had before the first request, and used', async () => {
    const servers = open()
    const added = await servers.add(definition(own))
    expect(added).toMatchObject({ status: 'connected', signIn: null, error: null })
    expect(await forecast(servers)).toBe('Sunny in Oslo')
    expect(grants()).toEqual(['client_credentials'])
    await expect(servers.signIn(added.id, place)).rejects.toMatchObject({ code: 'unsupported_operation' })
  })

  it('is shared by processes', async () => {
    const servers = open()
    await servers.add(definition(own))
    expect(await forecast(open())).toBe('Sunny in Oslo')
    expect(grants()).toEqual(['client_credentials'])
  })

  it('is renewed before it expires, and once after a 401', async () => {
    const servers = open()
    await servers.add(definition(own))
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + 3_580_000)
    expect(await forecast(servers)).toBe('Sunny in Oslo')
    expect(grants()).toHaveLength(2)
    vi.spyOn(Date, 'now').mockImplementation(() => now + 3_590_000)
    provider.revoke()
    expect(await forecast(servers)).toBe('Sunny in Oslo')
    expect(grants()).toHaveLength(3)
  })

  it('is asked for a few times by a server that refuses every one', async () => {
    const servers = open()
    await servers.add(definition(own))
    provider.ways.refusesAll = true
    for (let calls = 0; calls < 5; calls++)
      await expect(forecast(servers)).rejects.toMatchObject({ code: 'tool_server_failed' })
    expect(grants().length).toBeLessThanOrEqual(3)
  })

  it('goes to no other provider that the server names later', async () => {
    const other = await startProvider()
    const servers = open()
    const { id } = await servers.add(definition(own))
    provider.ways.resource = { authorization_servers: [other.url] }
    provider.revoke()
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + 3_600_000)
    const { error } = await servers.connect(id)
    expect(error).toBe('The tool server names another provider than the one that counts')
    expect(other.asked).toEqual([])
    await other.stop()
  })

  it('goes to no other provider than the one that the definition names', async () => {
    const servers = open()
    const { error } = await servers.add(definition({ ...own, issuer: 'https://login.example.com' }))
    expect(error).toBe('The tool server names another provider than the one that counts')
    expect(provider.asked).toEqual([])
  })
})

describe('a sign-in', () => {
  it('gives tokens, which are told to nobody', async () => {
    const servers = open()
    const added = await servers.add(definition(ofPerson))
    expect(added).toMatchObject({ status: 'error', signIn: 'needed' })
    expect(added.error).toBe(`An administrator must sign in: \`POST …/admin/mcp/${added.id}/sign-in\``)
    const { url, expiresAt, browser } = await servers.signIn(added.id, place)
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'client-1',
      code_challenge_method: 'S256',
      redirect_uri: place.redirectUri,
      resource: provider.tools,
      scope: 'weather:read',
    })
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
    const begun = JSON.stringify([...kept.values()])
    const server = await servers.endSignIn(answerOf(provider.signIn(url)))
    expect(server).toMatchObject({ id: added.id, status: 'connected', signIn: 'done', error: null })
    expect(await forecast(servers)).toBe('Sunny in Oslo')
    expect(String(await servers.call('weather.tell', {}))).toContain('[redacted]')
    const told = JSON.stringify([
      url,
      begun,
      [...kept.values()],
      await servers.list(),
      await servers.call('weather.tell', {}),
    ])
    const verifier = provider.asked[0]?.get('code_verifier') ?? ''
    for (const secret of [...provider.secrets, CLIENT_SECRET, verifier, browser])
      expect(told).not.toContain(secret)
  })

  it('counts in other processes', async () => {
    const servers = open()
    const { id } = await servers.add(definition(ofPerson))
    const { url } = await servers.signIn(id, place)
    const other = open()
    await other.endSignIn(answerOf(provider.signIn(url)))
    expect((await servers.connect(id)).status).toBe('connected')
  })

  it('is renewed by one process at a time', async () => {
    const { servers } = await signedIn()
    const all = [servers, open(), open()]
    for (const each of all) expect(await forecast(each)).toBe('Sunny in Oslo')
    provider.revoke()
    // A refresh token counts once: a second request with it fails.
    expect(await Promise.all(all.map(forecast))).toEqual(all.map(() => 'Sunny in Oslo'))
    expect(grants()).toEqual(['authorization_code', 'refresh_token'])
  })

  it('is renewed though the process that began with it has died', async () => {
    const { servers, id } = await signedIn()
    kept.set(id, { ...kept.get(id)!, renewingUntil: Date.now() + 300 })
    provider.revoke()
    expect(await forecast(servers)).toBe('Sunny in Oslo')
  })

  it('is needed again once the provider has taken it back', async () => {
    const { servers, id } = await signedIn()
    provider.revoke(true)
    await expect(forecast(servers)).rejects.toMatchObject({
      code: 'tool_server_failed',
      message: expect.stringContaining('An administrator must sign in'),
    })
    expect((await servers.get(id)).signIn).toBe('needed')
    const { url } = await servers.signIn(id, place)
    await servers.endSignIn(answerOf(provider.signIn(url)))
    expect(await forecast(servers)).toBe('Sunny in Oslo')
  })

  it('works with a server that has no metadata', async () => {
    provider.ways.resource = undefined
    expect((await signedIn()).server).toMatchObject({ status: 'connected', signIn: 'done' })
  })

  it('is at the provider of the definition if the server has no metadata', async () => {
    const other = await startProvider()
    provider.ways.resource = undefined
    const servers = open()
    const { id } = await servers.add(definition({ ...ofPerson, issuer: other.url }))
    expect((await servers.signIn(id, place)).url.startsWith(`${other.url}/authorize?`)).toBe(true)
    await other.stop()
  })
})

describe('a sign-in that is not what it should be', () => {
  /** A sign-in of `ada` that has begun. */
  async function begun() {
    const servers = open()
    const { id } = await servers.add(definition(ofPerson))
    const { url } = await servers.signIn(id, place)
    return {
      servers,
      id,
      url,
      end: (query: URLSearchParams, who?: string | null) => servers.endSignIn(answerOf(query, who)),
    }
  }

  it('cannot be ended by anyone else, and still can be by who began it', async () => {
    const { url, end } = await begun()
    const query = provider.signIn(url)
    for (const who of ['bob', null])
      await expect(end(query, who)).rejects.toMatchObject({ code: 'forbidden' })
    expect(provider.asked).toEqual([])
    expect((await end(query)).signIn).toBe('done')
  })

  it('ends once, in whichever process', async () => {
    const { url, end } = await begun()
    const query = provider.signIn(url)
    const ends = [end(query), open().endSignIn(answerOf(query)), end(query)]
    const results = await Promise.allSettled(ends)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of results)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'invalid_query' })
    await expect(end(query)).rejects.toMatchObject({ code: 'invalid_query' })
    expect(grants()).toEqual(['authorization_code'])
  })

  it('is over after ten minutes, and once another one has begun', async () => {
    const { servers, id, url, end } = await begun()
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + 600_001)
    await expect(end(provider.signIn(url))).rejects.toMatchObject({ code: 'invalid_query' })
    clock.mockRestore()
    const first = await servers.signIn(id, place)
    await servers.signIn(id, place)
    await expect(end(provider.signIn(first.url))).rejects.toMatchObject({ code: 'invalid_query' })
    expect(provider.asked).toEqual([])
  })

  it.each(['', '.', 'none', 'none.none', '__proto__.x'])(
    'has a state that was begun: not `%s`',
    async state => {
      const { id, end } = await begun()
      for (const each of [state, `${id}.${state}`, id])
        await expect(end(new URLSearchParams({ state: each, code: 'c' }))).rejects.toMatchObject({
          code: 'invalid_query',
        })
    },
  )

  it.each([['https://evil.example.com'], [undefined]])(
    'comes from its provider, and not from %s',
    async iss => {
      const { url, end } = await begun()
      const query = provider.signIn(url)
      if (iss === undefined) query.delete('iss')
      else query.set('iss', iss)
      await expect(end(query)).rejects.toMatchObject({
        code: 'tool_server_failed',
        message: 'The provider is another one than the tool server names',
      })
      // The state is used up.
      await expect(end(provider.signIn(url))).rejects.toMatchObject({ code: 'invalid_query' })
      expect(provider.asked).toEqual([])
    },
  )

  it('says why the provider refused, if it says it in a word', async () => {
    for (const [error, message] of [
      ['access_denied', 'The provider refused to sign in: `access_denied`'],
      ['<script>', 'The provider refused to sign in'],
    ] as const) {
      const { url, end } = await begun()
      const query = provider.signIn(url)
      query.delete('code')
      query.set('error', error)
      await expect(end(query)).rejects.toMatchObject({ code: 'tool_server_failed', message })
      kept.clear()
    }
  })

  it.each([
    ['another issuer', { issuer: 'https://evil.example.com' }, 'is another one'],
    ['no PKCE', { code_challenge_methods_supported: ['plain'] }, 'no valid answer'],
    ['a page over http', { authorization_endpoint: 'http://login.example.com/' }, 'https:'],
    ['a page that is a script', { authorization_endpoint: 'javascript:alert(1)' }, 'no valid answer'],
    ['an endpoint over http', { token_endpoint: 'http://login.example.com/' }, 'https:'],
  ])('does not begin if the metadata has %s', async (_, metadata, message) => {
    provider.ways.metadata = metadata
    await expect(begun()).rejects.toMatchObject({
      code: 'tool_server_failed',
      message: expect.stringContaining(message),
    })
  })

  it('does not begin if the server names an address of the network, or another server', async () => {
    for (const [resource, code] of [
      [{ authorization_servers: ['https://10.0.0.1'] }, 'address_refused'],
      [{ resource: 'https://other.example.com/mcp' }, 'tool_server_failed'],
    ] as const) {
      provider.ways.resource = resource
      await expect(begun()).rejects.toMatchObject({ code })
      kept.clear()
    }
  })

  it('sends nothing to an address of the network', async () => {
    provider.ways.metadata = { token_endpoint: 'https://169.254.169.254/token' }
    const { url, end } = await begun()
    await expect(end(provider.signIn(url))).rejects.toMatchObject({ code: 'address_refused' })
  })

  it('sends its code nowhere else', async () => {
    const sent: string[] = []
    const other = await listening(
      createServer((request, response) => {
        sent.push(request.url ?? '')
        response.end('{}')
      }),
    )
    const { url, end } = await begun()
    provider.ways.token = response => {
      response.writeHead(307, { location: `${other.url}/token` }).end()
      return true
    }
    await expect(end(provider.signIn(url))).rejects.toMatchObject({ code: 'tool_server_failed' })
    expect(sent).toEqual([])
    await other.stop()
  })

  it.each([
    ['hangs', () => {}],
    ['hangs in its answer', response => void response.writeHead(200).write('{"access_token":"tok')],
    ['answers garbage', response => void response.end('{"access_token":"token-1234567"')],
    ['answers a page', response => void response.writeHead(500).end('<h1>token-1234567</h1>')],
    ['answers with too much', response => void response.end(`{"access_token":"${'x'.repeat(100_000)}"}`)],
    ['answers no token', response => void response.end('{"token_type":"Bearer"}')],
    [
      'answers another kind',
      response => void response.end('{"access_token":"token-1234567","token_type":"mac"}'),
    ],
    [
      'answers a token that is none',
      response => void response.end('{"access_token":"a\\nb","token_type":"Bearer"}'),
    ],
    [
      'says its secrets',
      response =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":"token-1234567","error_description":"token-1234567"}'),
    ],
  ] satisfies [string, (response: import('node:http').ServerResponse) => void][])(
    'fails with a code if the provider %s',
    async (_, answer) => {
      const { servers, id, url, end } = await begun()
      provider.ways.token = response => {
        answer(response)
        return true
      }
      const error = await end(provider.signIn(url)).then(
        () => undefined,
        error => error,
      )
      expect(error).toMatchObject({ code: 'tool_server_failed' })
      expect(error.message).not.toContain('token-1234567')
      expect((await servers.get(id)).signIn).toBe('needed')
    },
  )
})
