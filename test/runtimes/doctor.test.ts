/** `servable doctor`, with real services behind real proxies. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/http/version.ts'
import { Agent, bearerAuth, createHandler, type HandlerOptions } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { begin } from '../contracts/command.ts'
import { listening } from '../listening.ts'
import { root } from './process.ts'

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const echo = new Agent({ name: 'echo', register: false, run: input => `${input}` })
const guarded = bearerAuth({
  tokens: { 'for-root': { id: 'root', scopes: ['admin'] }, 'for-ada': 'ada' },
})

/** Starts a service, and gives its address without a prefix. */
async function started(options: HandlerOptions = {}): Promise<string> {
  const handler = createHandler({
    agents: { echo },
    registry: false,
    logger: false,
    gateway: true,
    ...options,
  })
  const { url, close } = await serve(handler, { port: 0 })
  ends.push(() => close())
  return url.replace(/\/$/, '')
}

/** A proxy that passes each request to the next of these, and upgrades only if it is told to. */
async function proxyTo(targets: readonly string[], passesUpgrades = false): Promise<string> {
  let count = 0
  const sockets = new Set<Socket>()
  const next = () => new URL(targets[count++ % targets.length] ?? '')
  const server: Server = createServer((incoming, outgoing) => {
    const { upgrade: _, connection: __, ...headers } = incoming.headers
    const sent = request(
      new URL(incoming.url ?? '/', next()),
      { method: incoming.method, headers },
      answer => {
        outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, via: '1.1 test' })
        answer.pipe(outgoing)
      },
    )
    sent.on('error', () => outgoing.destroy())
    incoming.pipe(sent)
  })
  server.on('upgrade', (incoming: IncomingMessage, client: Socket) => {
    if (!passesUpgrades) return client.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n')
    const { hostname, port } = next()
    const upstream = connect(Number(port), hostname)
    const headers = Object.entries(incoming.headers).map(([name, value]) => `${name}: ${value}`)
    upstream.write([`GET ${incoming.url} HTTP/1.1`, ...headers, '', ''].join('\r\n'))
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  const { url, stop } = await listening(server)
  ends.push(async () => {
    for (const socket of sockets) socket.destroy()
    await stop()
  })
  return url
}

interface Found {
  readonly code: number | null
  /** The status of each check. */
  readonly status: Readonly<Record<string, string>>
  readonly whats: string
  readonly err: string
}

async function doctor(target: string, env: Record<string, string> = {}): Promise<Found> {
  const { code, out, err } = await begin(['doctor', target, '--json'], env).ended
  const checks = out.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))
  const status = Object.fromEntries(checks.map(({ check, status }) => [check, status]))
  return { code, status, whats: checks.map(({ what, fix }) => `${what} → ${fix}`).join('\n'), err }
}

const UNKNOWN = { secrets: 'unknown', proxy: 'unknown', webhooks: 'unknown', disk: 'unknown' }

describe('the doctor of a running service', () => {
  it('finds nothing wrong with one that has authentication', async () => {
    const url = await started({ middleware: [guarded] })
    const found = await doctor(`${url}/api`, { SERVABLE_TOKEN: 'for-root' })
    expect(found).toMatchObject({
      code: 0,
      err: '',
      status: {
        ...{ state: 'ok', version: 'ok', clock: 'ok', authentication: 'ok', sockets: 'ok', polling: 'ok' },
        ...UNKNOWN,
      },
    })
    expect(found.whats).toContain(`The service has version ${VERSION}`)
    expect(found.whats).toContain('not known from outside → run `servable doctor` where it runs')
    const other = await doctor(`${url}/api`, { SERVABLE_TOKEN: 'for-ada' })
    expect(other).toMatchObject({ code: 0, status: { version: 'unknown' } })
  })

  it('writes lines for people', async () => {
    const url = await started()
    const { code, out } = await begin(['doctor', `${url}/api/`]).ended
    expect(code).toBe(0)
    expect(out.split('\n')).toContain('ok       The service reads and writes its state')
    expect(out).toMatch(
      /^warn {5}Everyone who reaches 127\.0\.0\.1:\d+ may run agents {2}→ add authentication/m,
    )
    expect(out).toMatch(/^unknown {2}How much of the disk is free is not known from outside {2}→ run/m)
  })

  it('finds a proxy that drops upgrades', async () => {
    const url = await started({ middleware: [guarded] })
    const found = await doctor(`${await proxyTo([url])}/api`, { SERVABLE_TOKEN: 'for-root' })
    expect(found).toMatchObject({ code: 0, status: { sockets: 'warn', polling: 'ok' } })
    expect(found.whats).toContain('the answer was 426. Clients fall back to polling → let the proxy pass')
    expect(found.whats).toContain('A proxy is in front (1.1 test)')
    const passing = await doctor(`${await proxyTo([url], true)}/api`, { SERVABLE_TOKEN: 'for-root' })
    expect(passing).toMatchObject({ code: 0, status: { sockets: 'ok', polling: 'ok' } })
  })

  it('finds a proxy whose sessions do not stick', async () => {
    const urls = [await started({ middleware: [guarded] }), await started({ middleware: [guarded] })]
    const found = await doctor(`${await proxyTo(urls)}/api`, { SERVABLE_TOKEN: 'for-root' })
    expect(found).toMatchObject({ code: 1, status: { polling: 'fail' } })
    expect(found.whats).toContain(
      '3 of 6 requests of one polling session did not reach it → make sessions stick',
    )
  })

  it('knows a service without an event socket', async () => {
    const url = await started({ gateway: undefined } as object)
    const found = await doctor(`${url}/api`)
    expect(found).toMatchObject({ code: 0, status: { sockets: 'ok', polling: 'ok' } })
    expect(found.whats).toContain('The service has no event socket')
  })

  it.each([
    ['a little', 10_000, 'warn', 0],
    ['much', 600_000, 'fail', 1],
    ['not', 0, 'ok', 0],
  ])('finds a clock that is %s ahead', async (_, ms, clock, code) => {
    const isAway = ms > 60_000
    const { url, stop } = await listening(
      createServer((incoming, outgoing) => {
        outgoing.setHeader('date', new Date(Date.now() + ms).toUTCString())
        outgoing.setHeader('content-type', 'application/json')
        outgoing.statusCode = incoming.url?.includes('runs') ? 401 : isAway ? 503 : 200
        outgoing.end(JSON.stringify({ status: 'ok', live: true, ready: !isAway }))
      }),
    )
    ends.push(stop)
    const found = await doctor(`${url}/api`)
    expect(found).toMatchObject({
      code,
      status: { clock, state: isAway ? 'fail' : 'ok', version: 'unknown' },
    })
    if (ms > 0) expect(found.whats).toMatch(/The clock of the service is \d+ s ahead of this machine's/)
  })

  it('exits with 3 where there is no service', async () => {
    const { url, stop } = await listening(createServer((_, outgoing) => void outgoing.end('<html>')))
    ends.push(stop)
    const html = await doctor(`${url}/api`)
    expect(html).toMatchObject({ code: 3, status: {} })
    expect(html.err).toContain('prefix')
    expect(await doctor('http://127.0.0.1:9/api')).toMatchObject({ code: 3, status: {} })
  })

  it('asks for the prefix where it is missing', async () => {
    const { err } = await doctor(await started())
    expect(err).toContain('Nothing is served at this path. Does the address have the prefix, such as /api?')
  })
})

/** A folder with these files, in which the command runs. */
async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(join(root, 'test/.tmp'), { recursive: true })
  const folder = await mkdtemp(join(root, 'test/.tmp/doctor-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/servable'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

const INDEX = JSON.stringify(join(root, 'src/index.ts'))
const AGENTS = `import { Agent } from ${INDEX}\nexport const echo = new Agent({ name: 'echo', run: input => input })\n`

async function doctorIn(cwd: string, ...args: string[]): Promise<Found> {
  const { code, out, err } = await begin(['doctor', '--json', ...args], {}, '', cwd).ended
  const checks = out.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))
  const status = Object.fromEntries(checks.map(({ check, status }) => [check, status]))
  return { code, status, whats: checks.map(({ what, fix }) => `${what} → ${fix}`).join('\n'), err }
}

describe('the doctor of a folder', () => {
  it('finds what a deployment lacks', async () => {
    const folder = await folderOf({ 'agents.ts': AGENTS })
    const found = await doctorIn(folder)
    expect(found).toMatchObject({
      code: 1,
      status: {
        ...{ secrets: 'ok', state: 'ok', version: 'ok', clock: 'ok', authentication: 'fail', proxy: 'warn' },
        ...{ sockets: 'unknown', polling: 'unknown', webhooks: 'unknown', disk: expect.any(String) },
      },
    })
    expect(found.whats).toContain('run `servable doctor URL` with the address that clients use')
  })

  it('finds nothing wrong with one that is complete', async () => {
    const config = `import { bearerAuth } from ${INDEX}
export default { middleware: [bearerAuth({ tokens: { secret: 'ada' } })], trustProxy: 1 }\n`
    const folder = await folderOf({ 'agents.ts': AGENTS, 'servable.config.ts': config })
    const { url, stop } = await listening(createServer((_, outgoing) => void outgoing.end()))
    ends.push(stop)
    const found = await doctorIn(folder, '--reach', url)
    expect(found).toMatchObject({
      status: { authentication: 'ok', proxy: 'ok', webhooks: 'ok', state: 'ok' },
    })
    expect(await doctorIn(folder, '--reach', 'http://127.0.0.1:9')).toMatchObject({
      code: 1,
      status: { webhooks: 'fail' },
    })
    expect(await doctorIn(folder, '--reach', 'nowhere')).toMatchObject({ code: 2, status: {} })
  })

  it('finds options that are wrong, and keys that are missing', async () => {
    const wrong = await folderOf({
      'agents.ts': AGENTS,
      'servable.config.ts': 'export default { prefix: 7 }\n',
    })
    const found = await doctorIn(wrong)
    expect(found).toMatchObject({ code: 1, status: { options: 'fail' } })
    expect(found.whats).toContain('prefix')
    const missing = await folderOf({ 'agents.ts': `throw new Error('OPENAI_API_KEY is missing')\n` })
    expect(await doctorIn(missing)).toMatchObject({ code: 1, status: { secrets: 'fail' } })
  })

  it('finds a state that cannot be opened', async () => {
    const config = `import { sqliteState } from ${JSON.stringify(join(root, 'src/runtimes/sqlite.ts'))}
export default { state: sqliteState({ path: 'nowhere/state.db' }) }\n`
    const folder = await folderOf({ 'agents.ts': AGENTS, 'servable.config.ts': config })
    expect(await doctorIn(folder)).toMatchObject({ code: 1, status: { state: 'fail' } })
  })
})
