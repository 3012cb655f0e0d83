/** Under which names a service on this machine is reached: a page may have had its own name resolved to it (DNS rebinding). */
import { describe, expect, it } from 'vitest'
import { bearerAuth, createHandler, type HandlerOptions, platform } from '../../src/index.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { speaker } from '../support.ts'

/** Every part of a service, by a request that each of them answers. */
const PARTS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/api'],
  ['GET', '/api/health'],
  ['GET', '/api/agents'],
  ['POST', '/api/agents/echo/run'],
  ['POST', '/api/agents/echo/stream'],
  ['GET', '/api/runs'],
  ['GET', '/.well-known/agent-card.json'],
  ['POST', '/a2a'],
  ['GET', '/socket.io/?EIO=4&transport=polling'],
  ['POST', '/mcp'],
  ['OPTIONS', '/api/agents/echo/run'],
  ['GET', '/nothing'],
  ['GET', '/page-of-the-host'],
]

interface Asked {
  readonly host: string | undefined
  readonly ip?: string | undefined
  readonly given?: object
  readonly headers?: Record<string, string>
  readonly options?: HandlerOptions
}

const serve = (options: HandlerOptions = {}) =>
  createHandler({
    agents: { echo: speaker('echo', 'x') },
    logger: false,
    production: false,
    gateway: true,
    a2a: { default: 'echo' },
    plugins: [mcp({ tools: true })],
    ...options,
  })

/** Whether a request is answered, and not refused for its host. */
async function reaches(
  { host, ip, given = platform({ ip }), headers = {}, options }: Asked,
  [method, path] = PARTS[2]!,
): Promise<boolean> {
  const request = new Request(`http://${host || 'evil.example'}${path}`, {
    method,
    headers: { ...(host !== undefined && { host }), ...headers },
  })
  const answer = await serve(options)(request, given)
  if (answer.status !== 403) return true
  expect(await answer.text()).toMatch(/allowedHosts`/)
  return false
}

const KNOWN = [
  ...['localhost', 'localhost:8787', 'LocalHost:80', 'localhost.', 'localhost.:8787', 'app.localhost:3000'],
  ...[
    '127.0.0.1',
    '127.0.0.1:8787',
    '127.1.2.3',
    '[::1]',
    '[::1]:9',
    '[0:0:0:0:0:0:0:1]:9',
    '[::ffff:127.0.0.1]',
  ],
  // No name leads elsewhere by being resolved anew, where there is none.
  ...['0.0.0.0:8787', '10.0.0.1', '192.168.1.7:3000', '[2001:db8::1]:80', '203.0.113.7'],
]
const UNKNOWN = [
  ...['evil.example', 'evil.example:8787', 'EVIL.example', 'evil.example.', 'localhost.evil.example'],
  ...['127.0.0.1.evil.example', 'notlocalhost', 'localhost.localdomain', 'my-laptop', 'my-laptop.local:3000'],
]
const HERE = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']
const ELSEWHERE = ['203.0.113.7', '192.168.1.7', '172.17.0.1', '2001:db8::1']

describe('on this machine, outside production', () => {
  it.each(KNOWN)('%s is known', async host => {
    for (const ip of HERE) expect(await reaches({ host, ip })).toBe(true)
  })

  it.each(UNKNOWN)('%s is refused', async host => {
    for (const ip of HERE) expect(await reaches({ host, ip })).toBe(false)
  })

  it('a request without a host is answered, as of HTTP/1.0', async () => {
    expect(await reaches({ host: undefined, ip: '127.0.0.1' })).toBe(true)
    expect(await reaches({ host: '', ip: '127.0.0.1' })).toBe(true)
  })

  it.each(PARTS)('%s %s is refused', async (method, path) => {
    const options = { cors: true, fallback: () => new Response('The page') }
    const ask = (host: string) => reaches({ host, ip: '127.0.0.1', options }, [method, path])
    expect(await ask('evil.example')).toBe(false)
    expect(await ask('localhost')).toBe(true)
  })

  it.each([
    [{ 'x-forwarded-host': 'localhost' }],
    [{ 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7;host=localhost' }],
    [{ origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }],
    [{ upgrade: 'websocket', connection: 'upgrade' }],
    [{ authorization: 'Bearer right' }],
  ])('%j makes no host known', async headers => {
    const middleware = [bearerAuth({ tokens: { right: 'ada' } })]
    for (const options of [{}, { trustProxy: 1 }, { middleware }] satisfies HandlerOptions[])
      expect(await reaches({ host: 'evil.example', ip: '127.0.0.1', headers, options })).toBe(false)
  })

  it('the host of `publicUrl`, and those of `allowedHosts`, are known', async () => {
    const options = {
      publicUrl: 'https://agents.example.com',
      allowedHosts: ['Tunnel.example', 'other.example:8443', '[2001:db8::1]'],
    }
    const ask = (host: string) => reaches({ host, ip: '127.0.0.1', options })
    for (const host of [
      'agents.example.com',
      'agents.example.com:443',
      'tunnel.example',
      'TUNNEL.example:80',
    ])
      expect(await ask(host)).toBe(true)
    for (const host of ['tunnel.example.', 'other.example:8443', 'localhost'])
      expect(await ask(host)).toBe(true)
    for (const host of ['other.example', 'x.tunnel.example', 'tunnel.example.evil.example', 'evil.example'])
      expect(await ask(host)).toBe(false)
  })
})

describe('elsewhere', () => {
  it.each(ELSEWHERE)('any host is answered where the connection is from %s', async ip => {
    for (const host of UNKNOWN)
      for (const production of [true, false])
        expect(await reaches({ host, ip, options: { production } })).toBe(true)
  })

  it('any host is answered where there is no connection, as in tests', async () => {
    for (const production of [true, false])
      for (const given of [undefined, {}, platform({})] as object[])
        expect(await reaches({ host: 'test', given, options: { production } })).toBe(true)
  })

  it('a server for development that cannot tell counts as this machine', async () => {
    for (const unproven of [{}, { header: 'cf-connecting-ip' }])
      for (const ip of [undefined, '203.0.113.7']) {
        const headers = { 'cf-connecting-ip': '203.0.113.7' }
        const ask = (host: string, production = false) =>
          reaches({ host, given: platform({ ip, unproven }), headers, options: { production } })
        expect(await ask('evil.example')).toBe(false)
        expect(await ask('evil.example', true)).toBe(true)
        expect(await ask('192.168.1.7:8787')).toBe(true)
      }
  })
})

describe('in production', () => {
  const production = true
  const host = 'agents.example.com'

  it('on this machine without authentication, an unknown host is refused', async () => {
    expect(await reaches({ host, ip: '127.0.0.1', options: { production } })).toBe(false)
    expect(await reaches({ host, ip: '127.0.0.1', options: { production, allowedHosts: [host] } })).toBe(true)
  })

  it('where middleware may authenticate, any host is answered', async () => {
    const middleware = [bearerAuth({ tokens: { right: 'ada' } })]
    expect(await reaches({ host, ip: '127.0.0.1', options: { production, middleware } })).toBe(true)
  })

  it('any host is answered where `trustProxy` says that the client is elsewhere', async () => {
    const options = { production, trustProxy: 1 }
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    expect(await reaches({ host, ip: '127.0.0.1', options, headers })).toBe(true)
    expect(await reaches({ host, ip: '127.0.0.1', options })).toBe(false)
  })
})

it('`allowedHosts` takes hosts alone', () => {
  for (const allowedHosts of [['https://a.example'], ['a.example/'], ['*.example'], [''], 'a.example', [7]])
    expect(() => serve({ allowedHosts: allowedHosts as string[] })).toThrow(/allowedHosts/)
})

it('what `mcp.allowedHosts` names is known to its endpoint, and what `allowedHosts` names too', async () => {
  const at = (allowedHosts: string[] | undefined, options: HandlerOptions = {}) => ({
    host: 'tools.example',
    ip: '127.0.0.1',
    headers: { origin: 'http://tools.example', 'content-type': 'application/json' },
    options: { plugins: [mcp({ tools: true, allowedHosts })], ...options },
  })
  const endpoint = ['POST', '/mcp'] as const
  expect(await reaches(at(['tools.example']), endpoint)).toBe(true)
  expect(await reaches(at(['tools.example']))).toBe(false)
  expect(await reaches(at(undefined), endpoint)).toBe(false)
  expect(await reaches(at(undefined, { allowedHosts: ['tools.example'] }), endpoint)).toBe(true)
  expect(await reaches(at([], { allowedHosts: ['tools.example'] }), endpoint)).toBe(false)
})
