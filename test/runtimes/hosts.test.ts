/** Real servers, asked for hosts of all kinds: those of this machine, and those that a page had resolved to it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { served } from '../contracts/served.ts'
import { ELSEWHERE } from '../tags.ts'
import { freePort, startBun, startDeno, startNode, startWorkerd } from './harness.ts'
import { root, start } from './process.ts'

type Headers = Readonly<Record<string, string>>

interface Answer {
  readonly status: number
  readonly body: string
}

interface Server {
  readonly url: string
  stop(): Promise<unknown>
}

const development = { NODE_ENV: 'development' }
const entry = (name: string) => `test/runtimes/entries/hosts-${name}.ts`

/** Asks with a `Host` of its own, which fetch does not let one set. */
function ask(url: string, path: string, headers: Headers, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers }, async response => {
      resolve({ status: response.statusCode ?? 0, body: await text(response) })
    })
    asked.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode ?? 0, body: '' })
    })
    asked.on('error', reject).end(method === 'POST' ? '{}' : undefined)
  })
}

/** Asks as HTTP/1.0 allows, without a `Host`. */
function askWithoutHost(url: string, path: string): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.end(`GET ${path} HTTP/1.0\r\n\r\n`)
  return text(socket)
}

const SOCKET = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

const PARTS: readonly (readonly [path: string, method: string, headers?: Headers])[] = [
  ['/api/health', 'GET'],
  ['/api/agents/echo/run', 'POST'],
  ['/.well-known/agent-card.json', 'GET'],
  ['/a2a', 'POST'],
  ['/mcp', 'POST'],
  ['/nothing', 'GET'],
]
const SOCKETS: typeof PARTS = [
  ['/socket.io/?EIO=4&transport=polling', 'GET'],
  ['/socket.io/?EIO=4&transport=websocket', 'GET', SOCKET],
]

const KNOWN = ['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', '127.0.0.1', '[::1]']
const ALSO = ['192.168.1.7', '[2001:db8::1]', 'tunnel.example', 'Tunnel.Example.']
const UNKNOWN = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'my-laptop',
  'evil.example.',
]

async function expectKnownHosts({ url }: Server, parts = PARTS): Promise<void> {
  const { port } = new URL(url)
  for (const [path, method, headers] of parts) {
    const statusAt = async (host: string) => (await ask(url, path, { host, ...headers }, method)).status
    for (const host of [...KNOWN, ...ALSO]) {
      expect(await statusAt(host), `${host} ${path}`).not.toBe(403)
      expect(await statusAt(`${host}:${port}`), `${host}:${port} ${path}`).not.toBe(403)
    }
    for (const host of UNKNOWN)
      for (const asked of [host, `${host}:${port}`, host.toUpperCase()])
        expect(await statusAt(asked), `${asked} ${path}`).toBe(403)
  }
}

/** Whether the service takes who asks for an administrator: only they see its versions. */
async function isAdministrator(url: string, headers: Headers): Promise<boolean> {
  const { status } = await ask(url, '/api/health?versions', headers)
  expect([200, 403]).toContain(status)
  return status === 200
}

/** What strangers send through a proxy, from a page, or under a name that leads here. */
const STRANGERS = (host: string): readonly Headers[] => [
  { host: 'evil.example' },
  { host: 'tunnel.example' },
  { host: '192.168.1.7' },
  { host, origin: 'https://evil.example' },
  { host, 'sec-fetch-site': 'cross-site' },
  { host, 'sec-fetch-site': 'same-site', origin: 'http://localhost:1' },
  { host, origin: 'null' },
  { host, forwarded: 'for=127.0.0.1' },
  { host, 'x-forwarded-for': '127.0.0.1' },
  { host, 'x-forwarded-host': host },
  { host, via: '1.1 proxy' },
]

const SERVERS = {
  Node: (env: Record<string, string>) => startNode(entry('node'), { env }),
  Bun: (env: Record<string, string>) => startBun(entry('bun'), { env }),
  Deno: (env: Record<string, string>) =>
    startDeno(entry('server'), { env, names: ['NODE_ENV', 'BARE'], allow: [] }),
}

async function running<S extends Server>(starting: Promise<S>): Promise<S> {
  const server = await starting
  onTestFinished(async () => void (await server.stop()))
  return server
}

describe.each(Object.entries(SERVERS))('%s', ELSEWHERE, (_, begin) => {
  it('in development answers for names of this machine, addresses and allowed hosts alone', async () => {
    const server = await running(begin(development))
    await expectKnownHosts(server, [...PARTS, ...SOCKETS])
    expect(await askWithoutHost(server.url, '/api/health')).toMatch(/^HTTP\/1\.[01] 200 /)
    const { host } = new URL(server.url)
    const keys = async (headers: Headers) => (await ask(server.url, '/api/keys', headers)).status
    expect(await keys({ host })).toBe(200)
    for (const headers of [
      { host: 'evil.example' },
      { host: 'tunnel.example' },
      { host: '192.168.1.7' },
      { host, 'cf-connecting-ip': '127.0.0.1' },
      { host, 'x-forwarded-host': host },
      { host, 'true-client-ip': '127.0.0.1' },
    ])
      expect(await keys(headers)).toBe(403)
  })

  it('in development knows whoever is surely on this machine as an administrator', async () => {
    const { url } = await running(begin(development))
    const { host } = new URL(url)
    const isLocal = (headers: Headers) => isAdministrator(url, headers)
    expect(await isLocal({ host })).toBe(true)
    expect(await isLocal({ host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toBe(true)
    for (const headers of STRANGERS(host)) expect(await isLocal(headers), JSON.stringify(headers)).toBe(false)
  })

  it('in production does the same without authentication, and knows nobody', async () => {
    const { url } = await running(begin({ NODE_ENV: 'production' }))
    expect(await isAdministrator(url, { host: new URL(url).host })).toBe(false)
    const statusAt = async (host: string) => (await ask(url, '/api/health', { host })).status
    for (const host of [...KNOWN, ...ALSO]) expect(await statusAt(host)).toBe(200)
    for (const host of UNKNOWN) expect(await statusAt(host)).toBe(403)
  })
})

it.each([
  ['Node', SERVERS.Node],
  ['Bun', SERVERS.Bun],
])(
  'a bare handler on %s lets nobody use what is for this machine, and says why',
  ELSEWHERE,
  async (_, begin) => {
    const { url } = await running(begin({ ...development, BARE: '1' }))
    const { status, body } = await ask(url, '/api/keys', { host: new URL(url).host })
    expect(status).toBe(403)
    expect(JSON.parse(body).detail).toMatch(/unknown.*`servable\/node`.*`authenticate`/)
    expect(await isAdministrator(url, { host: new URL(url).host })).toBe(false)
    expect((await ask(url, '/api/health', { host: 'test' })).status).toBe(200)
  },
)

describe('workerd', ELSEWHERE, () => {
  it('goes by the address of the connection, whatever a header tells', async () => {
    const server = await running(startWorkerd(entry('workerd')))
    await expectKnownHosts(server)
    const { url } = server
    const statusOf = async (ip: string) =>
      (await ask(url, '/api/runs', { host: 'localhost', 'cf-connecting-ip': ip })).status
    const statuses = await Promise.all(Array.from({ length: 201 }, (_, at) => statusOf(`203.0.113.${at}`)))
    expect(statuses).toContain(429)
    const host = 'agents.example'
    expect((await ask(url, '/api/health', { host, 'cf-connecting-ip': '203.0.113.7' })).status).toBe(403)
  })
})

describe('wrangler dev', ELSEWHERE, () => {
  const begin = async (vars: Record<string, string> = {}): Promise<Server> => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-hosts-'))
    const config = join(folder, 'wrangler.toml')
    const main = join(root, entry('workerd'))
    await writeFile(config, `name = "hosts"\nmain = "${main}"\ncompatibility_date = "2026-10-01"\n`)
    const args = ['dev', '--config', config, '--ip', '127.0.0.1', '--port', String(await freePort())]
    const given = Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`])
    const started = await start({
      command: join(root, 'node_modules/.bin/wrangler'),
      args: [...args, '--inspector-port', '0', ...given],
      until: /Ready on (http:\/\/127\.0\.0\.1:\d+)/,
      env: { NO_COLOR: '1', CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_SEND_METRICS: 'false' },
    })
    const stop = () => started.stop().then(() => rm(folder, { recursive: true, force: true }))
    return { url: started.ready[1] ?? '', stop }
  }

  const server = served(() => begin())

  it('is taken for this machine where hosts are concerned', () => expectKnownHosts(server()))

  it('lets nobody use what is for this machine: whoever asks may tell any address', async () => {
    const { url } = server()
    const { host } = new URL(url)
    for (const headers of [{}, { 'cf-connecting-ip': '127.0.0.1' }, { 'cf-connecting-ip': '::1' }]) {
      const { status, body } = await ask(url, '/api/keys', { host, ...headers })
      expect(status).toBe(403)
      expect(JSON.parse(body).detail).toContain("`trustProxy: 'cf-connecting-ip'`")
      expect(await isAdministrator(url, { host, ...headers })).toBe(false)
    }
    const { status } = await ask(url, '/api/keys', { host, 'cf-connecting-ip': '127.0.0.1' }, 'POST')
    expect(status).toBe(403)
  })

  it('counts all requests of unknown addresses together, whatever they tell', async () => {
    const { url } = server()
    const { host } = new URL(url)
    const statuses = await Promise.all(
      Array.from({ length: 201 }, async (_, at) => {
        const headers = { host, 'cf-connecting-ip': `203.0.113.${at}` }
        return (await ask(url, '/api/runs', headers)).status
      }),
    )
    expect(statuses).toContain(429)
  })

  it('lets this machine in where the deployment says that nobody else can connect', async () => {
    const { url } = await running(begin({ TRUST: 'cf-connecting-ip' }))
    const { host } = new URL(url)
    const statusOf = async (headers: Headers) => (await ask(url, '/api/keys', { host, ...headers })).status
    // It is let in: without Durable Objects there are no keys.
    expect(await statusOf({})).toBe(400)
    expect(await statusOf({ 'cf-connecting-ip': '192.168.1.7' })).toBe(403)
    expect(await statusOf({ 'x-forwarded-for': '127.0.0.1' })).toBe(403)
    expect(await statusOf({ host: 'evil.example' })).toBe(403)
    expect(await isAdministrator(url, { host })).toBe(true)
    for (const headers of [...STRANGERS(host), { host, 'cf-connecting-ip': '192.168.1.7' }])
      expect(await isAdministrator(url, headers), JSON.stringify(headers)).toBe(false)
  })
})
