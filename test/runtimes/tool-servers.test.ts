/** Tool servers as they are found: of npm, over each transport, and in workerd; killed and started again. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ToolServer } from '../../src/index.ts'
import {
  addServer,
  callOf,
  expectAdmin,
  getServer,
  newName,
  removeServer,
  toolNames,
  untilStatus,
} from '../contracts/admin/client.ts'
import { serveTools } from '../contracts/admin/served-tools.ts'
import { ADMIN_TOKEN } from '../contracts/admin/service.ts'
import { jsonRequest, run } from '../contracts/http/client.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { type Deployment, post, type Server } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { adminDeployments } from './deployments.ts'
import { freePort, startNode, startWorkerd, startWrangler } from './harness.ts'
import { root, type Started, start } from './process.ts'

const RUN = '/api/agents/caller/run'

const { node, bun, deno, workerd } = adminDeployments()

/** Starts `@modelcontextprotocol/server-everything`. */
function startEverything(how: 'streamableHttp' | 'sse', port: number): Promise<Started> {
  return start({
    command: process.execPath,
    args: [join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'), how],
    env: { PORT: String(port) },
    until: /listening on port|running on port/,
  })
}

const transports = [
  ['http', 'streamableHttp', '/mcp'],
  ['sse', 'sse', '/sse'],
] as const

describe.each([
  ['Node', node],
  ['Bun', bun],
  ['Deno', deno],
  ['workerd', workerd],
])('on %s, server-everything', (_, deploy) => {
  const server = served(() => deploy(''))

  it.each(transports)('over %s is used, lost, found again and removed', async (transport, how, path) => {
    const port = await freePort()
    let everything = await startEverything(how, port)
    const name = newName()
    const added = await addServer(server, { name, transport, url: `http://127.0.0.1:${port}${path}` })
    expect(added).toMatchObject({ status: 'connected', error: null })
    expect(added.toolCount).toBeGreaterThan(10)
    const echo = callOf(`${name}.echo`, { message: 'hello' })
    const result = await run(server, RUN, echo)
    expect(result).toMatchObject({
      text: 'Echo: hello',
      toolCalls: [{ toolName: `${name}.echo`, result: 'Echo: hello' }],
    })

    await everything.kill()
    const failed = await post(server, RUN, echo)
    expect(JSON.parse(failed.text)).toMatchObject({ status: 502, code: 'tool_server_failed' })
    await untilStatus(server, added, 'error')
    expect(await toolNames(server, name)).toEqual([])

    everything = await startEverything(how, port)
    await untilStatus(server, added, 'connected')
    expect((await run(server, RUN, echo)).text).toBe('Echo: hello')
    await removeServer(server, added)
    expect((await post(server, RUN, echo)).status).toBe(404)
    await everything.stop()
  })

  it('that is killed in the middle of a call fails the run', async () => {
    const port = await freePort()
    const everything = await startEverything('streamableHttp', port)
    const added = await addServer(server, {
      name: newName(),
      transport: 'http',
      url: `http://127.0.0.1:${port}/mcp`,
    })
    const long = callOf(`${added.name}.trigger-long-running-operation`, { duration: 60, steps: 2 })
    const pending = post(server, RUN, long)
    const { body } = await fetch(`${server().url}/api/agents/caller/stream`, jsonRequest(long))
    await body?.getReader().read()
    await everything.kill()
    expect(JSON.parse((await pending).text)).toMatchObject({ status: 502, code: 'tool_server_failed' })
    await untilStatus(server, added, 'error')
    await removeServer(server, added)
  })
})

// workerd cannot start programs: `refusing.ts` asks it to.
describe.each([
  ['Node', node],
  ['Bun', bun],
  ['Deno', deno],
])('on %s, server-everything', (_, deploy) => {
  const server = served(() => deploy(''))

  it('over stdio is started, used and ended', async () => {
    const name = newName()
    const env = { WEATHER_KEY: 'key-of-the-weather' }
    const added = await addServer(server, { name, transport: 'stdio', command: 'mcp-server-everything', env })
    expect(added).toMatchObject({
      status: 'connected',
      error: null,
      command: 'mcp-server-everything',
      url: null,
    })
    expect((await run(server, RUN, callOf(`${name}.echo`, { message: 'hi' }))).text).toBe('Echo: hi')
    // It has what it was given, nothing else of the service's own, and cannot send it back.
    const seen = await (await fetch(`${server().url}${RUN}`, jsonRequest(callOf(`${name}.get-env`)))).text()
    expect(seen).toContain('WEATHER_KEY')
    expect(seen).not.toMatch(/key-of-the-weather|DATABASE/)

    const [pid] = await childrenOf(server(), 'server-everything')
    process.kill(pid!, 'SIGKILL')
    // The service has noticed once it has begun another.
    await eventually(async () => {
      const begun = await childrenOf(server(), 'server-everything')
      expect(begun).not.toContain(pid)
      expect(begun).not.toEqual([])
    })
    await untilStatus(server, added, 'connected')
    expect((await run(server, RUN, callOf(`${name}.echo`, { message: 'again' }))).text).toBe('Echo: again')
    await removeServer(server, added)
    await eventually(async () => expect(await childrenOf(server(), 'server-everything')).toEqual([]))
  })
})

/** Processes that a server started, itself or through others, whose command has this in it. */
async function childrenOf({ pid }: Deployment, text: string): Promise<number[]> {
  const found: number[] = []
  for (const each of await readdir('/proc')) {
    if (!/^\d+$/.test(each)) continue
    const command = await readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(text) && (await isBelow(Number(each), pid))) found.push(Number(each))
  }
  return found
}

async function isBelow(process: number, ancestor: number): Promise<boolean> {
  const stat = await readFile(`/proc/${process}/stat`, 'utf8').catch(() => '')
  const parent = Number(/\) \S (\d+)/.exec(stat)?.[1] ?? 0)
  return parent > 1 && (parent === ancestor || (await isBelow(parent, ancestor)))
}

describe('a tool server of the official package in workerd', () => {
  const tools = served(() => startWorkerd('test/runtimes/entries/tools-workerd.ts'))

  it.each([
    ['Node', node],
    ['workerd', workerd],
  ])('is used from %s', async (_, deploy) => {
    const running = await deploy('')
    const server = () => running
    const added = await addServer(server, { name: newName(), transport: 'http', url: tools().url })
    expect(added).toMatchObject({ status: 'connected', toolCount: 5 })
    expect((await run(server, RUN, callOf(`${added.name}.forecast`, { city: 'Oslo' }))).text).toBe(
      'Sunny in Oslo',
    )
    await running.stop()
  })
})

describe('tool servers that are kept', () => {
  const tools = served(() => serveTools())
  const definition = () => ({
    name: newName(),
    transport: 'http',
    url: `${tools().url}/mcp?key=secret-in-the-query`,
    headers: { authorization: 'Bearer secret-in-a-header' },
  })

  const use = async (server: Server, { name }: ToolServer) => {
    const { text } = await run(server, RUN, callOf(`${name}.forecast`, { city: 'Oslo' }))
    expect(text).toBe('Sunny in Oslo')
  }

  it('in one SQLite file are there for all its processes at once, and after a restart', async () => {
    const folder = await newFolder()
    const env = { DATABASE: `${folder.path}/admin.db` }
    const startOne = async () => {
      const running = {
        ...(await startNode('test/runtimes/entries/admin-server.ts', { env })),
        folder: folder.path,
      }
      return [running, () => running] as const
    }
    const [[first, one], [second, two]] = [await startOne(), await startOne()]
    const added = await addServer(one, definition())
    await use(two, added)
    expect(await toolNames(two, added.name)).toHaveLength(5)
    await first.stop()
    const [third, three] = await startOne()
    await use(three, added)
    expect(await expectAdmin<ToolServer[]>(three, 'GET', 'mcp')).toHaveLength(1)
    await removeServer(two, added)
    expect((await post(three, RUN, callOf(`${added.name}.forecast`, { city: 'Oslo' }))).status).toBe(404)
    await Promise.all([second.stop(), third.stop()])
    const kept = await Promise.all(
      (await readdir(folder.path)).map(name => readFile(join(folder.path, name), 'latin1')),
    )
    expect(kept.join('')).not.toContain('secret-in')
    await folder.remove()
  })

  it('in Durable Objects are there for all isolates at once, and after a restart', async () => {
    const folder = await newFolder()
    const startOne = () =>
      startWorkerd('test/contracts/admin/service.ts', { storage: folder.path, hasSecond: true })
    const first = await startOne()
    const one: Server = () => ({ ...first, folder: folder.path })
    const two: Server = () => ({ ...first, url: first.secondUrl, folder: folder.path })
    const added = await addServer(one, definition())
    await use(two, added)
    expect(await getServer(two, added)).toEqual(added)
    expect(await toolNames(two, added.name)).toHaveLength(5)
    const late = await addServer(two, definition())
    await use(one, late)
    await first.stop()
    const second = await startOne()
    const again: Server = () => ({ ...second, folder: folder.path })
    await use(again, added)
    await removeServer(again, added)
    expect((await expectAdmin<ToolServer[]>(again, 'GET', 'mcp')).map(({ id }) => id)).toEqual([late.id])
    await second.stop()
    const files = await readdir(folder.path, { recursive: true, withFileTypes: true })
    const kept = files
      .filter(file => file.isFile())
      .map(file => readFile(join(file.parentPath, file.name), 'latin1'))
    expect((await Promise.all(kept)).join('')).not.toContain('secret-in')
    await folder.remove()
  })

  const dev = (storage: string) => startWrangler({ env: { ADMIN_TOKEN }, storage })
  const started: Deployment[] = []
  afterAll(() => Promise.all(started.map(each => each.stop())))

  it('outlive a restart of the dev server, whose agents call their tools', async () => {
    const folder = await newFolder()
    const first = { ...(await dev(folder.path)), folder: folder.path }
    started.push(first)
    const added = await addServer(() => first, definition())
    await use(() => first, added)
    await first.stop()
    const second = { ...(await dev(folder.path)), folder: folder.path }
    started.push(second)
    await use(() => second, added)
    expect((await getServer(() => second, added)).status).toBe('connected')
    await second.stop()
    await folder.remove()
  })
})
