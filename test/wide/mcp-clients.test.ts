/** Stock clients of MCP against the service, on Node and on workerd. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAuthorizationServer } from '../contracts/mcp-clients/authorization-server.ts'
import { managerCases } from '../contracts/mcp-clients/manager.ts'
import { READERS, readingCases } from '../contracts/mcp-clients/reading.ts'
import { type Server, TOKEN } from '../contracts/mcp-clients/server.ts'
import { taskCases } from '../contracts/mcp-clients/tasks.ts'
import { longCalls, longFate, shortCases, type Traits, wayCases } from '../contracts/mcp-clients/ways.ts'
import { served } from '../contracts/served.ts'
import type { Connect, Place, Reading, SigningIn, Tasks } from '../frameworks/mcp-clients/way.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { type Deploy, deploymentsOf } from '../runtimes/deployments.ts'
import { freePort, type Runtime, startBun, startDeno, startNode } from '../runtimes/harness.ts'
import { ELSEWHERE } from '../tags.ts'

/** What `mcp-clients/clients.ts` exports. */
interface Clients {
  readonly WAYS: Readonly<Record<string, Connect>>
  readonly SIGNING_IN: Readonly<Record<string, () => SigningIn>>
  readonly READING: Readonly<Record<string, (place: Place) => Promise<Reading>>>
  tasksAt(place: Place): Promise<Tasks>
  modelCalls(place: Place, names: readonly string[]): Promise<unknown[]>
}

const WAYS: Readonly<Record<string, Traits>> = {
  'client 2, 2026-07-28': { revision: '2026-07-28', callsAgain: true },
  'client 2, whatever there is': { revision: '2026-07-28', callsAgain: true },
  'client 2, 2025-11-25': { revision: '2025-11-25' },
  'client 2, 2025-06-18': { revision: '2025-06-18' },
  'client 2, 2025-03-26': { revision: '2025-03-26' },
  'sdk 1, 2025-11-25': { revision: '2025-11-25' },
  'sdk 1, 2025-06-18': { revision: '2025-06-18' },
  'sdk 1, 2025-03-26': { revision: '2025-03-26' },
  '@ai-sdk/mcp 1': { isPlain: true },
  '@ai-sdk/mcp 2': { isPlain: true, callsAgain: true },
}

/** Those that differ in what a runtime sees of them. */
const FEW = ['client 2, 2026-07-28', 'client 2, 2025-11-25', 'sdk 1, 2025-03-26', '@ai-sdk/mcp 2']

const SIGNING_IN = ['client 2, 2026-07-28', 'client 2, 2025-11-25', 'sdk 1', '@ai-sdk/mcp 1', '@ai-sdk/mcp 2']

let installed: Installed
let clients: Clients
beforeAll(async () => {
  installed = await install('mcp-clients', [])
  clients = await import(join(installed.folder, 'test/frameworks/mcp-clients/clients.ts'))
})
afterAll(() => installed?.remove())

const { nodeInMemory, workerd } = deploymentsOf('mcp-clients')

describe('Node, in memory', () => clientCases(nodeInMemory, Object.keys(WAYS)))

describe('workerd, in Durable Objects', ELSEWHERE, () => clientCases(workerd, FEW))

describe('once more on Node', () => {
  const server = served(() => nodeInMemory(''))

  describe('the inspector', () => inspectorCases(server))

  it('a model of the AI SDK is shown what tools give', async () => {
    const names = ['says', 'draws', 'weighs', 'refuses']
    const said = await clients.modelCalls({ url: `${server().url}/mcp`, token: TOKEN }, names)
    const text = (told: string) => ({ type: 'text', text: told })
    const picture = { type: expect.stringMatching(/^(image-data|file|file-data)$/), mediaType: 'image/png' }
    const given = [
      [text('Hello, Ann!')],
      [text('Here it is.'), picture],
      [text('{"grams":12}')],
      [text('Internal server error')],
    ]
    const content = given.map((value, at) => ({ toolName: names[at], output: { type: 'content', value } }))
    const messages = [{ role: 'assistant' }, { role: 'tool', content }]
    expect(said).toMatchObject([messages, messages])
  })
})

describe('Bun', ELSEWHERE, () => smokeCases(() => startBun('test/contracts/mcp-clients/service.ts')))

describe('Deno', ELSEWHERE, () =>
  smokeCases(() => startDeno('test/contracts/mcp-clients/service.ts', { names: ['DATABASE', 'SETTINGS'] })),
)

it('clients have types that fit', () => installed.check())

function clientCases(deploy: Deploy, names: readonly string[]): void {
  const server = served(() => deploy(''))
  const chosen = Object.entries(WAYS).filter(([name]) => names.includes(name))
  const connect = (name: string) => clients.WAYS[name] as Connect

  // They take their time: meanwhile the others have their turn.
  let long: Promise<PromiseSettledResult<object>[]>
  beforeAll(() => {
    const ways = chosen.map(([name, traits]) => [name, [traits, connect(name)] as const])
    long = Promise.allSettled([longCalls(Object.fromEntries(ways), server)])
  })

  describe.concurrent.each(chosen)('%s', (name, traits) => {
    wayCases(traits, () => connect(name), server)
  })

  describe.concurrent('what clients read', () => {
    for (const name of Object.keys(READERS))
      readingCases(name, () => clients.READING[name] as (place: Place) => Promise<Reading>, server)
  })

  describe('ext-tasks', () => taskCases(place => clients.tasksAt(place), server))

  describe('our own manager', () => managerCases(server))

  it('stops what clients leave, and keeps them patient with progress', async () => {
    const [fates] = await long
    const value = Object.fromEntries(chosen.map(([name, traits]) => [name, longFate(traits)]))
    expect(fates).toEqual({ status: 'fulfilled', value })
  })
}

/** One client of each era. */
function smokeCases(start: () => Promise<Runtime>): void {
  const server = served(start)
  describe.each(['client 2, 2026-07-28', 'sdk 1, 2025-06-18'])('%s', name => {
    shortCases(WAYS[name] as Traits, () => clients.WAYS[name] as Connect, server)
  })
}

function inspectorCases(server: Server): void {
  const inspect = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const inspector = join(installed.folder, 'node_modules/.bin/mcp-inspector')
    const place = [`${server().url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${TOKEN}`]
    // It keeps a list of servers.
    const env = { ...process.env, HOME: installed.folder }
    const { stdout } = await promisify(execFile)(inspector, ['--cli', ...place, ...args], { env })
    return JSON.parse(stdout)
  }

  it('lists tools, and calls one', async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'says', '--tool-arg', 'input=Ann']
    const [{ tools }, { content }] = await Promise.all([inspect('--method', 'tools/list'), inspect(...call)])
    expect(tools).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'says' })]))
    expect(content).toEqual([{ type: 'text', text: 'Hello, Ann!' }])
  })

  it('lists and reads resources, and gets a prompt', async () => {
    const get = ['--method', 'prompts/get', '--prompt-name', 'define', '--prompt-args', 'word=lamp']
    const [{ resources }, { contents }, { messages }] = await Promise.all([
      inspect('--method', 'resources/list'),
      inspect('--method', 'resources/read', '--uri', 'words://all'),
      inspect(...get),
    ])
    expect(resources).toEqual(expect.arrayContaining([expect.objectContaining({ uri: 'words://all' })]))
    expect(contents).toEqual([{ uri: 'words://all', mimeType: 'text/plain', text: 'lamp, oil' }])
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'What is lamp?' } }])
  })
}

describe('signing in', () => {
  const giver = served(() => startAuthorizationServer(TOKEN))
  let resource: string
  const server = served(async () => {
    const PORT = String(await freePort())
    resource = `http://127.0.0.1:${PORT}/mcp`
    const SETTINGS = JSON.stringify({ resource, issuer: giver().issuer })
    return startNode('test/contracts/mcp-clients/service.ts', { env: { PORT, SETTINGS } })
  })

  it.each(SIGNING_IN)('%s finds the authorization server, and comes in with its token', async name => {
    const before = giver().resources.length
    const signingIn = clients.SIGNING_IN[name]?.() as SigningIn
    const sentTo = await signingIn.ask(resource)
    expect(sentTo.searchParams.get('resource')).toBe(resource)
    const client = await signingIn.finish(resource, giver().permit(sentTo))
    expect(await client.call('says', { input: 'Ann' })).toMatchObject({ content: [{ text: 'Hello, Ann!' }] })
    await client.close()
    expect(giver().resources.slice(before)).toEqual([resource])
    expect(server().log()).not.toContain('request.failed')
  })
})
