import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import {
  type AdminOptions,
  bearerAuth,
  bearerIdentity,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  platform,
  Registry,
} from '../../../src/index.ts'
import { ADMIN_ROUTES } from '../../contracts/admin/guarding.ts'

const authenticate = bearerIdentity({ tokens: { right: { id: 'ada', scopes: ['admin'] } } })
const entries: LogEntry[] = []

afterEach(() => {
  entries.length = 0
  vi.unstubAllEnvs()
})

/** What proxies say of a request, each by itself. */
const PROXY_HEADERS = [
  ...['forwarded', 'via', 'cdn-loop', 'cf-ray', 'x-forwarded', 'x-forwarded-for', 'x-forwarded-host'],
  ...['x-forwarded-proto', 'x-original-host', 'x-original-forwarded-for', 'x-real-ip', 'x-client-ip'],
  ...['client-ip', 'true-client-ip', 'cf-connecting-ip', 'cf-connecting-ipv6', 'fly-client-ip'],
  ...['fastly-client-ip', 'x-cluster-client-ip', 'x-envoy-external-address', 'x-envoy-internal'],
  ...['x-azure-clientip', 'x-azure-socketip', 'x-appengine-user-ip', 'do-connecting-ip', 'x-remote-addr'],
  ...['x-nf-client-connection-ip', 'x-vercel-forwarded-for', 'cloudfront-viewer-address', 'x-arr-log-id'],
]

/** Answers requests, and counts what reaches the tool servers. */
function make(admin: AdminOptions, options: HandlerOptions = {}) {
  const manager = new ToolServerManager({ register: false })
  const work = vi.fn()
  const handler = createHandler({
    registry: false,
    toolkits: [{ name: 'arithmetic', tools: [] }],
    logger: entry => void entries.push(entry),
    ...options,
    admin: { manager, ...admin },
  })
  const { servers } = manager
  const watched = (of: typeof servers, name: string | symbol) => {
    work(name)
    return Reflect.get(of, name).bind(of)
  }
  manager.use(new Proxy(servers, { get: watched }))
  work.mockClear()
  const ask = (method: string, path: string, headers: HeadersInit = {}, ip?: string) =>
    handler(new Request(`http://127.0.0.1:8787/api/admin/${path}`, { method, headers }), platform({ ip }))
  return { handler, ask, work, manager }
}

describe.each([
  ['development', false],
  ['production', true],
])('in %s, with authentication', (_, production) => {
  it.each(ADMIN_ROUTES)(
    '%s /%s is for administrators alone, before any work',
    async (method, path, status) => {
      const { ask, work } = make({ authenticate }, { production })
      if (!path.includes('..')) {
        for (const headers of [
          {},
          { authorization: 'Bearer wrong' },
          { authorization: 'right' },
          { authorization: 'Bearer' },
          { 'x-api-key': 'right' },
          { cookie: 'token=right' },
        ] as HeadersInit[]) {
          const refused = await ask(method, path, headers)
          expect(refused.status).toBe(401)
          expect(refused.headers.get('www-authenticate')).toBe('Bearer')
        }
        expect(work).not.toHaveBeenCalled()
      }
      expect((await ask(method, path, { authorization: 'Bearer right' })).status).toBe(status)
    },
  )

  it('fails closed where `authenticate` throws, finds nobody or answers itself', async () => {
    const said: unknown[] = [undefined, null, {}, { id: '' }, 'ada', true]
    for (const answer of said) {
      const { ask, work } = make({ authenticate: () => answer as never }, { production })
      expect((await ask('GET', 'mcp')).status).toBe(401)
      expect(work).not.toHaveBeenCalled()
    }
    const throwing = make(
      { authenticate: () => Promise.reject(new Error('secret of the directory')) },
      { production },
    )
    const refused = await throwing.ask('GET', 'mcp')
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain('secret of the directory')
    const own = make({ authenticate: () => new Response('ask the office', { status: 418 }) }, { production })
    expect((await own.ask('GET', 'mcp')).status).toBe(418)
    expect((await own.ask('DELETE', 'anything')).status).toBe(418)
  })

  it('is decided by itself: the token of a client is none of an administrator, and the other way round', async () => {
    const middleware = [bearerAuth({ tokens: { client: 'bob' } })]
    const { ask, handler } = make({ authenticate }, { production, middleware })
    expect((await ask('GET', 'mcp', { authorization: 'Bearer client' })).status).toBe(401)
    expect((await ask('GET', 'mcp', { authorization: 'Bearer right' })).status).toBe(200)
    const lists = (token: string) =>
      handler(new Request('http://127.0.0.1/api/tools', { headers: { authorization: `Bearer ${token}` } }))
    expect((await lists('right')).status).toBe(401)
    expect((await lists('client')).status).toBe(200)
  })
})

describe('without authentication', () => {
  it('it does not start in production, and says what to write', () => {
    const start = (admin: HandlerOptions['admin'], production?: boolean) => () =>
      createHandler({
        registry: false,
        logger: false,
        ...(production !== undefined && { production }),
        admin: admin!,
      })
    expect(start(true, true)).toThrow(/`admin.authenticate` in production.*bearerIdentity.*NODE_ENV/)
    expect(start({}, true)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    vi.stubEnv('NODE_ENV', 'production')
    expect(start(true)).toThrow(/authenticate/)
    vi.stubEnv('NODE_ENV', undefined)
    expect(start(true)).toThrow(/authenticate/)
    vi.stubEnv('NODE_ENV', 'development')
    expect(start(true)).not.toThrow()
    expect(start(false, true)).not.toThrow()
  })

  it('it warns, once, and says what to write', async () => {
    const { ask } = make({}, { production: false })
    await ask('GET', 'mcp', {}, '::1')
    await ask('GET', 'mcp', {}, '::1')
    const warnings = entries.filter(({ event }) => event === 'admin.open')
    expect(warnings).toEqual([
      { level: 'warn', event: 'admin.open', message: expect.stringContaining('bearerIdentity') },
    ])
  })

  it.each(ADMIN_ROUTES)('%s /%s answers this machine', async (method, path, status) => {
    const { ask } = make({}, { production: false })
    expect((await ask(method, path, {}, '127.0.0.1')).status).toBe(status)
    expect((await ask(method, path, { origin: 'http://127.0.0.1:8787' }, '::1')).status).toBe(status)
  })

  it.each([
    ['http://localhost:8787', {}, '127.0.0.1'],
    ['http://app.localhost:8787', {}, '127.0.0.1'],
    ['http://[::1]:8787', {}, '::ffff:127.0.0.1'],
    ['http://127.0.0.1:8787', { 'sec-fetch-site': 'same-origin' }, '::1'],
    ['http://127.0.0.1:8787', { 'sec-fetch-site': 'none' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', { host: 'LOCALHOST:8787' }, '127.9.9.9'],
  ])('answers at %s with %j from %s', async (origin, headers, ip) => {
    const { handler } = make({}, { production: false })
    const request = new Request(`${origin}/api/admin/mcp`, { headers: headers as HeadersInit })
    expect((await handler(request, platform({ ip }))).status).toBe(200)
  })

  it.each<[string, Record<string, string>, string | undefined]>([
    ['http://example.com', {}, '127.0.0.1'],
    ['http://localhost.example.com', {}, '127.0.0.1'],
    ['http://127.0.0.1.example.com', {}, '127.0.0.1'],
    ['http://10.0.0.1', {}, '127.0.0.1'],
    ['http://0.0.0.0:8787', {}, '127.0.0.1'],
    ['http://127.0.0.1:8787', { host: 'evil.example' }, '127.0.0.1'],
    ['http://evil.example', { host: '127.0.0.1:8787' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', { origin: 'https://evil.example' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', { origin: 'null' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', { origin: 'http://127.0.0.1:3000' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', { 'sec-fetch-site': 'cross-site' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', { 'sec-fetch-site': 'same-site' }, '127.0.0.1'],
    ['http://127.0.0.1:8787', {}, '192.168.1.7'],
    ['http://127.0.0.1:8787', {}, 'fe80::1'],
    // Nobody knows who is connected.
    ['http://127.0.0.1:8787', {}, undefined],
    ['http://localhost:8787', {}, ''],
    ['http://127.0.0.1:8787', { 'cf-connecting-ip': '127.0.0.1' }, undefined],
    ...PROXY_HEADERS.map((name): [string, Record<string, string>, string] => [
      'http://127.0.0.1:8787',
      { [name]: '127.0.0.1' },
      '127.0.0.1',
    ]),
  ])('refuses %s with %j from %s, also to look', async (origin, headers, ip) => {
    const { handler, work } = make({}, { production: false, cors: true, allowedHosts: ['evil.example'] })
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const request = new Request(`${origin}/api/admin/mcp`, { method, headers: headers as HeadersInit })
      const answer = await handler(request, platform({ ip }))
      expect(answer.status).toBe(403)
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    expect(work).not.toHaveBeenCalled()
  })

  it('says what to do where nobody knows who is connected', async () => {
    const { handler } = make({}, { production: false })
    const ask = async (argument?: unknown) =>
      (await handler(new Request('http://127.0.0.1/api/admin/mcp'), argument)).json()
    // What `Bun.serve` and others pass there is no platform.
    for (const argument of [undefined, {}, { ip: '127.0.0.1' }])
      expect(await ask(argument)).toMatchObject({
        code: 'forbidden',
        detail: expect.stringMatching(
          /unknown.*`serve` of `servable\/node`, `bun` or `deno`, or set `authenticate`/,
        ),
      })
    expect(await ask(platform({ unproven: { header: 'x-seen-from' } }))).toMatchObject({
      detail: expect.stringContaining("`trustProxy: 'x-seen-from'`"),
    })
  })

  it.each([
    ['127.0.0.1', 'cf-connecting-ip', true],
    ['127.0.0.1', undefined, false],
    ['127.0.0.1', 1, false],
    ['127.0.0.1', 'x-real-ip', false],
    ['192.168.1.7', 'cf-connecting-ip', false],
    [undefined, 'cf-connecting-ip', false],
  ])('of a header that says %s, with `trustProxy` %s: answers %s', async (ip, trustProxy, isLetIn) => {
    const { handler } = make({}, { production: false, ...(trustProxy && { trustProxy }) })
    const headers = ip === undefined ? {} : { 'cf-connecting-ip': ip }
    const ask = (given: object) => handler(new Request('http://127.0.0.1/api/admin/mcp', { headers }), given)
    const answer = await ask(platform({ unproven: { header: 'cf-connecting-ip' } }))
    expect(answer.status).toBe(isLetIn ? 200 : 403)
    // Where the runtime does not set it, a proxy or a client has.
    expect((await ask(platform({ unproven: {} }))).status).toBe(403)
    expect((await ask(platform({}))).status).toBe(403)
  })
})

describe('`admin: true`', () => {
  const withToken = { authorization: 'Bearer right' }

  it('finds the manager that was made last', async () => {
    const registry = new Registry()
    registry.toolServers = new ToolServerManager({ register: false })
    const handler = createHandler({ registry, production: false, logger: false, admin: true })
    const answer = await handler(new Request('http://127.0.0.1/api/admin/mcp'), platform({ ip: '::1' }))
    expect([answer.status, await answer.json()]).toEqual([200, []])
    expect((await handler(new Request('http://127.0.0.1/api/tools'))).status).toBe(200)
  })

  it('says what to write where there is none, and shows the toolkits all the same', async () => {
    const handler = createHandler({
      registry: false,
      production: true,
      logger: false,
      toolkits: [{ name: 'arithmetic', tools: [] }],
      admin: { authenticate },
    })
    const ask = (path: string, method = 'GET') =>
      handler(new Request(`http://127.0.0.1/api/admin/${path}`, { method, headers: withToken }))
    for (const [method, path] of ADMIN_ROUTES.filter(
      ([, path, status]) => /^mcp(\/0|$)/.test(path) && status < 405,
    )) {
      if (method === 'OPTIONS') continue
      const answer = await ask(path, method)
      expect(answer.status, `${method} ${path}`).toBe(404)
      if (method !== 'HEAD') {
        expect(await answer.json()).toMatchObject({
          code: 'tool_servers_not_configured',
          detail: expect.stringMatching(/new ToolServerManager\(\).*servable\/mcp/),
        })
      }
    }
    expect((await ask('toolkits')).status).toBe(200)
  })
})

describe('acts', () => {
  it('are told on the bus and in the log: who, what and which, and no secret', async () => {
    const { handler, ask, manager } = make({ authenticate, allow: ['tools.example.com'] })
    const acts: object[] = []
    manager.events.on('admin.act', act => acts.push(act))
    const withToken = { authorization: 'Bearer right' }
    const add = (body: unknown) =>
      handler(
        new Request('http://127.0.0.1/api/admin/mcp', {
          method: 'POST',
          headers: { ...withToken, 'content-type': 'application/json', 'x-request-id': 'request-1' },
          body: JSON.stringify(body),
        }),
      )
    const definition = {
      name: 'weather',
      transport: 'http',
      url: 'https://tools.example.com/mcp?key=sk-in-the-query',
      headers: { authorization: 'Bearer sk-in-a-header' },
      autoConnect: false,
    }
    const { id } = await (await add(definition)).json()
    await add(definition)
    await add({ ...definition, headers: { authorization: 7 } })
    await ask('GET', 'mcp', withToken)
    await ask('GET', `mcp/${id}`, withToken)
    await ask('POST', `mcp/${id}/disconnect`, withToken)
    await ask('GET', 'mcp/forged%0Aline', withToken)
    await ask('DELETE', `mcp/${id}`, withToken)
    await ask('GET', 'mcp', { authorization: 'Bearer wrong' })

    const told = (action: string, outcome: string, subject: object = {}) => ({
      action,
      outcome,
      who: 'ada',
      requestId: expect.any(String),
      ...subject,
    })
    const weather = { id, name: 'weather' }
    expect(acts).toEqual([
      { ...told('add_server', 'ok', weather), requestId: 'request-1' },
      told('add_server', 'tool_server_exists'),
      told('add_server', 'invalid_body'),
      told('list_servers', 'ok'),
      told('get_server', 'ok', weather),
      told('disconnect_server', 'ok', weather),
      told('get_server', 'tool_server_not_found', { id: 'forgedline' }),
      told('remove_server', 'ok', weather),
    ])
    const logged = entries.filter(({ event }) => event === 'admin.act')
    expect(logged.map(({ level, event: _, ...act }) => act)).toEqual(acts)
    expect(logged.map(({ level }) => level)).toEqual([
      'warn',
      'warn',
      'warn',
      'info',
      'info',
      'warn',
      'info',
      'warn',
    ])
    expect(JSON.stringify([acts, entries])).not.toContain('sk-in')
  })
})
