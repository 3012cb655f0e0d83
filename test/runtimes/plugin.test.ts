/** A plugin of others: the one of the examples, with the packed library, on every runtime. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/index.ts'
import { chatting, isEnd, textIn } from '../contracts/chat/client.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { onDisk } from '../contracts/run-host/folder.ts'
import { pack } from '../repository/packing.ts'
import { ELSEWHERE } from '../tags.ts'
import { denoPath, type Runtime, startBun, startNode, startWorkerd } from './harness.ts'
import { root, start } from './process.ts'

/** The files of the plugin and of who serves it. */
const FILES = [
  'examples/ndjson.ts',
  'examples/chat-socket.ts',
  ...['server', 'node', 'bun', 'deno', 'workerd'].map(name => `test/runtimes/entries/plugin-${name}.ts`),
]

/** A project that has the packed library. */
let project: string
const entry = (runtime: string) => join(project, `test/runtimes/entries/plugin-${runtime}.ts`)

beforeAll(async () => {
  project = await mkdtemp(join(onDisk(), 'servable-plugin-'))
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const { tarball } = await pack()
  const args = ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline']
  await promisify(execFile)('npm', args, { cwd: project })
  for (const file of FILES) {
    await mkdir(dirname(join(project, file)), { recursive: true })
    await writeFile(join(project, file), await withPackage(await readFile(join(root, file), 'utf8')))
  }
})
afterAll(() => rm(project, { recursive: true, force: true }))

/** The same, with imports of the package for those of the sources. */
async function withPackage(code: string): Promise<string> {
  const { name, exports } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8'))
  const subpaths = new Map(Object.entries<string>(exports).map(([subpath, source]) => [source, subpath]))
  return code.replace(/'(?:\.\.\/)+(src\/[^']+)'/g, (_, path: string) => {
    const subpath = subpaths.get(`./${path}`)
    if (subpath === undefined) throw new Error(`${path} is no entry of the package`)
    return `'${join(name, subpath)}'`
  })
}

/** The plugins import the public interface, and nothing else. */
it.each([
  ['ndjson', ['servable/core']],
  ['chat-socket', ['servable/core', 'servable/encoders']],
])('needs entries alone: %s', async (name, entries) => {
  const code = await readFile(join(project, `examples/${name}.ts`), 'utf8')
  expect(Array.from(code.matchAll(/\bfrom '(.*)'$/gm), ([, from]) => from)).toEqual(entries)
})

const runtimes: Readonly<Record<string, (storage: string) => Promise<Runtime>>> = {
  Node: storage => startNode(entry('node'), { env: { DATABASE: join(storage, 'plugin.db') } }),
  Bun: storage => startBun(entry('bun'), { env: { DATABASE: join(storage, 'plugin.db') } }),
  Deno: startOnDeno,
  workerd: storage => startWorkerd(entry('workerd'), { storage }),
}

/** Deno, with the packages of the project. */
async function startOnDeno(storage: string): Promise<Runtime> {
  const env = { PORT: '0', DATABASE: join(storage, 'plugin.db'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }
  const allowed = [`--allow-read=${storage},${project}`, `--allow-write=${storage}`]
  const flags = [
    '--no-prompt',
    '--node-modules-dir=manual',
    '--allow-net=127.0.0.1',
    '--allow-env=PORT,DATABASE',
  ]
  const started = await start({
    command: await denoPath(),
    args: ['run', ...flags, ...allowed, entry('deno')],
    cwd: project,
    env,
    until: /listening (http:\/\/127\.0\.0\.1:\d+)/,
  })
  return { runtime: 'deno', url: started.ready[1] ?? '', ...started }
}

describe.each(Object.entries(runtimes))('a plugin of others on %s', ELSEWHERE, (_, deploy) => {
  let storage: string
  let server: Runtime
  beforeAll(async () => {
    storage = await mkdtemp(join(onDisk(), 'servable-plugin-state-'))
    server = await deploy(storage)
  })
  afterAll(async () => {
    await server?.stop()
    await rm(storage, { recursive: true, force: true })
  })

  const post = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}/api/agents/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'hello' }),
      ...init,
    })
  const counts = async (): Promise<unknown> => (await fetch(`${server.url}/api/ndjson/counts`)).json()

  it('streams the events of a run in their order, to the one that ends it', async () => {
    const answer = await post('counting/ndjson')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(answer.headers.get('x-run-id')).toMatch(/^[\da-f-]{36}$/)
    const lines = (await answer.text()).trimEnd().split('\n')
    const events = lines.map(line => JSON.parse(line) as RunEvent)
    const said = events.flatMap(event => (event.type === 'text' ? [event.text] : []))
    expect(said).toEqual(['one ', 'two ', 'three'])
    expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
  })

  it('chats over a WebSocket', async () => {
    const talk = await chatting(server.url)
    talk.send({ type: 'send', agent: 'counting', session: 's', input: 'hello' })
    expect(textIn(await talk.until(isEnd))).toBe('one two three')
    talk.close()
    expect(await talk.closed).toBe(1005)
  })

  it('answers for an agent that is not there as every route does', async () => {
    const answer = await post('nobody/ndjson')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    expect(await answer.json()).toMatchObject({ code: 'agent_not_found' })
  })

  it('keeps what it is given, apart by its names, whatever they are', async () => {
    const call = async (method: string, ...args: unknown[]) => {
      const answer = await fetch(`${server.url}/shelf`, jsonRequest({ method, args }))
      const { value, code } = await answer.json()
      return code ?? value
    }
    const odd = ['\ud800', '\udfff', '\ufffd', '', '","', '__proto__', '\0', '/../x', '😀'.repeat(500)]
    for (const name of odd) await call('put', name, name, name, { name })
    for (const name of odd) {
      expect(await call('get', name, name, name)).toEqual({ name })
      expect(await call('list', name, name)).toEqual([name])
    }
    const text = '"ä'.repeat(350_000)
    await call('put', 'large', 'c', 'id', { text })
    expect(await call('get', 'large', 'c', 'id')).toEqual({ text })
    expect(await call('spoil', 'large', 'c', 'id')).toBe('forbidden')
    expect(await call('count', 'large', 'c')).toBe(1)
    await call('put', 'large', 'c', 'gone', 1, Date.now() - 1)
    expect(await call('get', 'large', 'c', 'gone')).toBeNull()
    expect([await call('list', 'large', 'c'), await call('count', 'large', 'c')]).toEqual([['id'], 1])
  })

  it('cancels the run when the client leaves', async () => {
    const stops = async () => Number((await (await post('stops/run')).json()).text)
    expect(await stops()).toBe(0)
    const leaving = new AbortController()
    const answer = await post('endless/ndjson', { signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
    await expect.poll(stops).toBe(1)
  })

  it('counts what was asked, each once, and on after a restart', async () => {
    const at = (counting: number) => [
      { agent: 'counting', count: counting },
      { agent: 'endless', count: 1 },
    ]
    const sorted = async () =>
      ((await counts()) as { agent: string }[]).toSorted((one, other) => (one.agent < other.agent ? -1 : 1))
    await expect.poll(sorted).toEqual(at(1))
    await Promise.all(Array.from({ length: 20 }, async () => (await post('counting/ndjson')).text()))
    await expect.poll(sorted).toEqual(at(21))
    await server.stop()
    server = await deploy(storage)
    expect(await sorted()).toEqual(at(21))
    await (await post('counting/ndjson')).text()
    await expect.poll(sorted).toEqual(at(22))
  })
})
