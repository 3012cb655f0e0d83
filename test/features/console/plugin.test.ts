import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { defaultRegistry } from '../../../src/agents/registry.ts'
import { BUILT } from '../../../src/features/console/built.ts'
import { takesGzip } from '../../../src/features/console/files.ts'
import { webConsole } from '../../../src/features/console/plugin.ts'
import {
  Agent,
  bearerAuth,
  bearerIdentity,
  createHandler,
  type HandlerOptions,
  platform,
  sequence,
  Team,
} from '../../../src/index.ts'
import { appPage } from '../../../src/protocols/mcp/plugin.ts'

const ORIGIN = 'http://127.0.0.1'
const html = { accept: 'text/html' }

function served(console = webConsole(), options: HandlerOptions = {}) {
  const logged: { event: string }[] = []
  const handler = createHandler({
    registry: false,
    production: false,
    logger: entry => void logged.push(entry),
    ...options,
    plugins: [console],
  })
  const get = (path: string, headers: HeadersInit = {}, ip: string | undefined = '127.0.0.1') =>
    handler(new Request(ORIGIN + path, { headers }), platform({ ip }))
  return { get, logged }
}

describe('the page', () => {
  it('allows nothing but what the service serves', async () => {
    const response = await served().get('/api/console', html)
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
    expect(policy).toContain("frame-src 'self'")
    expect(policy).not.toContain('unsafe')
    for (const name of ['x-content-type-options', 'referrer-policy', 'cross-origin-opener-policy'])
      expect(response.headers.get(name)).toBeTruthy()
  })

  it('names its files by relative addresses, so that it works below any prefix', async () => {
    for (const prefix of ['/api', '/a/b', '/']) {
      const { get } = served(webConsole(), { prefix })
      const below = prefix === '/' ? '' : prefix
      const page = await (await get(`${below}/console`, html)).text()
      const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1]!)
      expect(addresses).toHaveLength(3 + BUILT.imports.length)
      for (const address of addresses) {
        const { pathname } = new URL(address, `${ORIGIN}${below}/console`)
        expect((await get(pathname)).status).toBe(200)
      }
    }
  })

  it('shows a title as text', async () => {
    const page = await (
      await served(webConsole({ title: '<b>"A" & B</b>' })).get('/api/console', html)
    ).text()
    expect(page).not.toContain('<b>')
    expect(page).toContain('<title>&#60;b&#62;&#34;A&#34; &#38; B&#60;/b&#62;</title>')
  })

  it('is let through authentication without data, which only the known get', async () => {
    const { get } = served(webConsole(), { middleware: [bearerAuth({ tokens: { secret: 'ada' } })] })
    const page = await get('/api/console', html)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('data-asks-first')
    expect((await get(`/api/console/assets/${BUILT.script}`)).status).toBe(200)
    expect((await get('/api/console', { accept: 'application/json' })).status).toBe(401)
    expect((await get('/api/console/config')).status).toBe(401)
    const config = await get('/api/console/config', { authorization: 'Bearer secret' })
    expect(await config.json()).toMatchObject({ identity: { id: 'ada', scopes: [] }, listsRuns: true })
  })
})

describe('the tools of an agent', () => {
  it('are told with their schemas to those who may use the page', async () => {
    const tools = [
      { name: 'look_up', description: 'Looks up', parameters: { type: 'object' }, execute: () => 1 },
      { name: 'remove', needsApproval: true, execute: () => 1 },
    ]
    const odd = { kind: 'agent', name: 'odd', tools: [null, 1, { name: 'bare' }], run: () => 'x' }
    const { get } = served(webConsole(), {
      agents: {
        finder: new Agent({ name: 'finder', register: false, tools, run: () => 'x' }),
        odd: odd as never,
      },
      middleware: [bearerAuth({ tokens: { secret: 'ada' } })],
    })
    const known = { authorization: 'Bearer secret' }
    expect(await (await get('/api/console/tools/agent/finder', known)).json()).toEqual([
      { name: 'look_up', description: 'Looks up', parameters: { type: 'object' }, needsApproval: false },
      { name: 'remove', description: null, parameters: null, needsApproval: true },
    ])
    expect(await (await get('/api/console/tools/agent/odd', known)).json()).toMatchObject([{ name: 'bare' }])
    expect((await get('/api/console/tools/agent/finder')).status).toBe(401)
    expect((await get('/api/console/tools/agent/nobody', known)).status).toBe(404)
    expect((await get('/api/console/tools/thing/finder', known)).status).toBe(404)
  })
})

describe('its files', () => {
  it('are compressed for those who take that, and kept by their name', async () => {
    const { get } = served()
    const path = `/api/console/assets/${BUILT.script}`
    const [plain, packed, refused] = await Promise.all([
      get(path),
      get(path, { 'accept-encoding': 'br, gzip' }),
      get(path, { 'accept-encoding': 'gzip;q=0, br' }),
    ])
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const unpacked = packed.body!.pipeThrough(new DecompressionStream('gzip'))
    expect(await new Response(unpacked).text()).toBe(await plain.text())
    expect(refused.headers.get('content-encoding')).toBe(null)
    for (const { headers } of [plain, packed, refused]) {
      expect(headers.get('cache-control')).toContain('immutable')
      expect(headers.get('vary')).toBe('accept-encoding')
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    }
  })

  it('that a browser loads at once have 92 KiB at most, compressed, and all without what single screens load 120', () => {
    const sizeOf = (name: string) => gzipSync(BUILT.files[name]!.text).length
    const first = new Set([BUILT.script, ...BUILT.imports, BUILT.style, BUILT.icon])
    for (const name of first)
      for (const [, imported = ''] of BUILT.files[name]!.text.matchAll(/(?:from|import)"\.\/([^"]+)"/g))
        expect(first).toContain(imported)
    const total = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + sizeOf(name), 0)
    expect(total(first)).toBeLessThanOrEqual(92 * 1024)
    const all = Object.keys(BUILT.files)
    // The charts of Metrics, and what shows pages in the Chat.
    const rare = all.filter(name => /^(charts|page-of)-/.test(name))
    expect(rare).toHaveLength(2)
    expect(total(all.filter(name => !rare.includes(name)))).toBeLessThanOrEqual(120 * 1024)
    expect(total(rare)).toBeLessThanOrEqual(28 * 1024)
  })

  it.each(['nothing.js', '__proto__', 'constructor', '..%2Fconfig'])('are no others: %s', async name => {
    expect((await served().get(`/api/console/assets/${name}`)).status).toBe(404)
  })

  it.each([
    ['gzip', true],
    ['GZIP;q=0.5', true],
    ['*', true],
    ['*;q=0', false],
    ['gzip;q=0', false],
    ['gzip; q=0.000, *', false],
    ['br', false],
    ['', false],
    [null, false],
  ])('accept-encoding: %s', (text, takes) => {
    expect(takesGzip(text)).toBe(takes)
  })
})

describe('who may use it', () => {
  it('is nobody in production, unless there is an `authenticate`', async () => {
    const { get, logged } = served(webConsole(), { production: true })
    expect((await get('/api/console', html)).status).toBe(404)
    expect((await get('/api/console/config')).status).toBe(404)
    expect(logged.map(({ event }) => event)).toContain('console.off')
  })

  it('is whom `authenticate` finds', async () => {
    const console = webConsole({ authenticate: bearerIdentity({ tokens: { operates: 'operator' } }) })
    const { get } = served(console, { production: true })
    expect((await get('/api/console', html)).status).toBe(200)
    expect((await get('/api/console/config')).status).toBe(401)
    const config = await get('/api/console/config', { authorization: 'Bearer operates' })
    expect(config.headers.get('cache-control')).toBe('no-store')
    expect(await config.json()).toMatchObject({ production: true, identity: null, prefix: '/api' })
  })

  it('is told whom the middleware has found', async () => {
    const tokens = { one: { id: 'ada', scopes: ['operator'] }, two: 'bob' }
    const console = webConsole({
      authenticate: (_, identity) => (identity?.scopes?.includes('operator') ? identity : undefined),
    })
    const { get } = served(console, { production: true, middleware: [bearerAuth({ tokens })] })
    const config = await get('/api/console/config', { authorization: 'Bearer one' })
    expect(await config.json()).toMatchObject({ identity: { id: 'ada', scopes: ['operator'] } })
    expect((await get('/api/console/config', { authorization: 'Bearer two' })).status).toBe(401)
  })

  it('is only this machine without it', async () => {
    const { get } = served()
    expect((await get('/api/console/config')).status).toBe(200)
    for (const headers of [{ host: 'other.example' }, { 'x-forwarded-for': '192.0.2.1' }])
      expect((await get('/api/console/config', headers as HeadersInit)).status).toBe(403)
    expect((await get('/api/console/config', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    for (const ip of ['', '192.168.1.7']) expect((await get('/api/console/config', {}, ip)).status).toBe(403)
  })
})

it.each([
  [{ authenticate: 'yes' }, 'authenticate'],
  [{ title: '' }, 'title'],
  [{ title: 'x'.repeat(101) }, 'title'],
  [{ titel: 'x' }, 'titel'],
])('wrong options name the field: %j', (options, field) => {
  expect(() => webConsole(options as object)).toThrow(field)
})

describe('pages of agents and tools', () => {
  const map = appPage({
    uri: 'ui://map',
    html: '<p>map',
    csp: { connectDomains: ['https://a.example'] },
    prefersBorder: true,
  })
  const show = { name: 'show', page: map, execute: () => 1 }
  const plain = { name: 'plain', execute: () => 1 }
  const of = (more: object) => new Agent({ register: false, run: () => '', ...more } as never)
  const agents = {
    bare: of({ name: 'bare', tools: [plain] }),
    maps: of({ name: 'maps', page: map, tools: [show, plain] }),
  }
  const odd = {
    run: async () => ({}) as never,
    tools: [null, 7, show, { page: { read: 1 } }, { name: 7, page: map }],
  }
  const desk = new Team({ name: 'desk', register: false, members: [agents.maps], strategy: sequence })
  const options = { agents: { ...agents, odd } as never, teams: { desk } }
  const json = async (path: string) =>
    (await served(webConsole(), options).get(`/api/console/${path}`)).json()

  it('are named, and read by those who may use the console', async () => {
    expect(await json('pages/agent/bare')).toEqual([])
    expect(await json('pages/agent/maps')).toEqual([null, 'show'])
    expect(await json('pages/team/desk')).toEqual(['show'])
    expect(await json('pages/agent/odd')).toEqual(['show'])
    const page = {
      html: '<p>map',
      csp: { connectDomains: ['https://a.example'] },
      prefersBorder: true,
      server: null,
    }
    for (const path of ['page/agent/maps', 'page/agent/maps?tool=show', 'page/team/desk?tool=show'])
      expect(await json(path)).toEqual({ page })
    for (const path of [
      'page/agent/bare',
      'page/agent/maps?tool=plain',
      'page/agent/maps?tool=far.show',
      'page/agent/odd?tool=7',
    ])
      expect(await json(path)).toEqual({ page: null })
    // Tool servers that no handler has are no reason to fail.
    const { toolServers } = defaultRegistry()
    onTestFinished(() => {
      defaultRegistry().toolServers = toolServers
    })
    new ToolServerManager()
    expect(await json('page/agent/maps?tool=far.show')).toEqual({ page: null })
    expect((await json('page/agent/nobody')).code).toBe('agent_not_found')
    const { get } = served(webConsole(), {
      ...options,
      middleware: [bearerAuth({ tokens: { secret: 'ada' } })],
    })
    for (const path of ['pages/agent/maps', 'page/agent/maps'])
      expect((await get(`/api/console/${path}`)).status).toBe(401)
  })

  it('get an empty frame with a policy that names nothing of the service', async () => {
    const { get } = served(webConsole(), { middleware: [bearerAuth({ tokens: { secret: 'ada' } })] })
    const policyOf = async (query = '') => {
      const { status, headers } = await get(`/api/console/frame${query}`)
      expect(status).toBe(200)
      return (headers.get('content-security-policy') ?? '').split('; ')
    }
    const bare = await policyOf()
    expect(bare).toEqual(
      expect.arrayContaining([
        ...[
          'sandbox allow-scripts',
          "default-src 'none'",
          "script-src 'unsafe-inline'",
          "connect-src 'none'",
        ],
        ...[
          "frame-src 'none'",
          "form-action 'none'",
          "base-uri 'none'",
          "frame-ancestors 'self'",
          'img-src data: blob:',
        ],
      ]),
    )
    expect(bare.filter(each => each.includes("'self'"))).toEqual(["frame-ancestors 'self'"])
    const wide = await policyOf(
      '?connect=wss://a.example&resource=https://*.b.example&frame=https://c.example&frame=https://d.example',
    )
    expect(wide).toEqual(
      expect.arrayContaining([
        ...['connect-src wss://a.example', "script-src 'unsafe-inline' https://*.b.example"],
        'frame-src https://c.example https://d.example',
      ]),
    )
    const wrong = [
      "'self'",
      '*',
      'https://a.example;script-src *',
      'https://a.example *',
      'data:',
      'https://a.example\n',
      'http://',
    ]
    for (const each of wrong)
      for (const name of ['connect', 'resource', 'frame'])
        expect(await policyOf(`?${name}=${encodeURIComponent(each)}`)).toEqual(bare)
  })
})
