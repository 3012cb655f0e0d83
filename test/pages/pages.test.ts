/** The snippets of the pages do what the pages say. */
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Express } from 'express'
import { generateKeyPair } from 'jose'
import { io } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { serveTools } from '../contracts/admin/served-tools.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { startNode } from '../runtimes/harness.ts'
import { fencesOf, load as loadFrom, PAGES_OF_PARTS, snippetsIn, writeSnippets } from './pages.ts'

/** The agents that snippets import. */
const AGENTS = `
import { Agent, textOf } from 'servable'
export const echo = new Agent({ name: 'echo', run: input => textOf(input) })
`

const snippets = snippetsIn(fencesOf(PAGES_OF_PARTS)).set('agents.ts', AGENTS)
const isForWorkers = (code: string) => code.includes("'servable/cloudflare'")
const namesOf = (isWanted: (code: string) => boolean) =>
  [...snippets].filter(([, code]) => isWanted(code)).map(([name]) => name)

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippets)
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const { key_ops: _, ...jwk } = await crypto.subtle.exportKey('jwk', privateKey)
  process.env.CARD_KEY = JSON.stringify({ ...jwk, kid: 'k1', alg: 'ES256' })
  process.env.WEBHOOK_SECRET = btoa('x'.repeat(32))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function load<T = { handler: Handler }>(name: string): Promise<T> {
  return loadFrom<T>(folder, name)
}

async function ask(name: string, path: string, init?: RequestInit): Promise<Response> {
  const { handler } = await load(name)
  return handler(new Request(`http://127.0.0.1${path}`, init))
}

async function get(name: string, path: string): Promise<string> {
  return (await ask(name, path)).text()
}

describe('the pages', () => {
  it.each(namesOf(code => /^export (const|async function) handler/m.test(code) && !isForWorkers(code)))(
    'show %s, which answers',
    async name => {
      expect((await ask(name, '/api/unknown')).status).toBeLessThan(500)
    },
  )

  it.each(namesOf(isForWorkers))('show %s, which can be bundled', async name => {
    const { outputFiles } = await build({
      entryPoints: [join(folder, name)],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['workerd', 'worker'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    })
    expect(outputFiles[0]?.text).toContain('ServableRun')
  })
})

it('the page about logs has an audit log that says who did what', async () => {
  const spy = vi.spyOn(console, 'log').mockReturnValue()
  try {
    const { acts } = await load<{ acts: object[] }>('logs.ts')
    acts.length = 0
    const path = '/api/agents/echo/run'
    expect((await ask('logs.ts', path, jsonRequest({ input: 'hello' }))).status).toBe(200)
    expect(acts).toMatchObject([{ event: 'run.started', outcome: 'ok', target: 'agents/echo', actor: null }])
    const lines = spy.mock.calls.map(([line]) => String(line))
    expect(lines.filter(line => / {2}agent {5}completed /.test(line))).toHaveLength(1)
    expect(lines.filter(line => line.includes(path))).toHaveLength(1)
  } finally {
    spy.mockRestore()
  }
})

describe('the pages about plugins', () => {
  it('show a plugin of one route', async () => {
    expect(await get('greeting-plugin.ts', '/api/greeting')).toBe('Hello from echo')
  })

  it('show a run in words of a plugin', async () => {
    const answer = await ask('plugins-words.ts', '/api/words/echo', jsonRequest({ input: 'hello' }))
    expect(await answer.text()).toBe('event: word\ndata: "hello"\n\nevent: end\ndata: \n\n')
  })

  it('show a run that is read on from a position', async () => {
    const input = { input: 'abc', background: true }
    const { runId: id } = await (
      await ask('plugins-positions.ts', '/api/agents/echo/run', jsonRequest(input))
    ).json()
    const lettersAfter = async (after: number) => {
      const text = await get('plugins-positions.ts', `/api/letters/${id}?after=${after}`)
      return [...text.matchAll(/id: (\d)\ndata: "(\w+)"/g)].map(([, at, value]) => `${at} ${value}`)
    }
    expect(await lettersAfter(0)).toEqual(['1 a', '2 b', '3 c', '4 end'])
    expect(await lettersAfter(2)).toEqual(['3 c', '4 end'])
  })

  it('show a WebSocket', async () => {
    const { handler } = await load<{ handler: Handler }>('plugins-socket.ts')
    const server = await serve(handler, { port: 0 })
    try {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/shell`)
      const texts: string[] = []
      socket.addEventListener('message', ({ data }) => texts.push(JSON.parse(data).type))
      socket.addEventListener('open', () => socket.send('hello'))
      await vi.waitFor(() => expect(texts).toEqual(['text', 'finish']))
      socket.close()
    } finally {
      await server.close()
    }
  })

  it('show the core with two plugins, and nothing else', async () => {
    expect(JSON.parse(await get('core.ts', '/.well-known/agent-card.json'))).toMatchObject({ name: 'echo' })
    expect(JSON.parse(await get('core.ts', '/api/metrics'))).toMatchObject({ status: 404 })
  })
})

describe('the page about schedules', () => {
  it('shows a server with two schedules, which administrators see', async () => {
    const { server } = await load<{ server: RunningServer }>('schedules-first.ts')
    try {
      const { schedules } = await (await fetch(`${server.url}/api/schedules`)).json()
      expect(schedules).toMatchObject([
        { name: 'report', timezone: 'Europe/Berlin', isPaused: false },
        { name: 'heartbeat', nextTickAt: expect.stringMatching(/:[0-5][05]:00/) },
      ])
    } finally {
      await server.close()
    }
    const path = '/api/schedules/tidy/run'
    expect((await ask('schedules-admin.ts', path, { method: 'POST' })).status).toBe(401)
    const headers = { authorization: 'Bearer a-token-for-this-page' }
    expect((await ask('schedules-admin.ts', path, { method: 'POST', headers })).status).toBe(202)
  })
})

describe('the page about A2A', () => {
  it('shows a message that is answered', async () => {
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const request = jsonRequest({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
    expect(await (await ask('a2a.ts', '/', request)).text()).toContain('HI')
  })

  it('shows partners that need a token, which the open card states', async () => {
    const card = JSON.parse(await get('a2a-partners.ts', '/.well-known/agent-card.json'))
    expect(card.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect((await ask('a2a-partners.ts', '/', jsonRequest({}))).status).toBe(401)
  })

  /** Sends a message of 1.0, and gives the answer as text. */
  const sent = async (name: string, params: object, headers: Record<string, string> = {}) => {
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'December' }] }
    const request = jsonRequest({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message, ...params },
    })
    return (await ask(name, '/', { ...request, headers: { ...request.headers, ...headers } })).text()
  }

  it('shows an agent that knows what its client takes, and says more than its answer', async () => {
    const configuration = { acceptedOutputModes: ['text/csv'] }
    const text = await sent('a2a-context.ts', { configuration })
    for (const word of ['report.csv', 'What December cost', 'EUR', 'The figures of December are missing']) {
      expect(text).toContain(word)
    }
    expect(await sent('a2a-context.ts', {})).toContain('report.txt')
  })

  it('shows an extension that must be named', async () => {
    expect(await sent('a2a-extensions.ts', {})).toContain('-32008')
    const headers = { 'a2a-extensions': 'https://example.com/consent/v1' }
    const metadata = { agentName: 'echo' }
    expect(await sent('a2a-extensions.ts', { metadata }, headers)).toContain('TASK_STATE_COMPLETED')
  })

  it('shows tenants with their members', async () => {
    const metadata = { agentName: 'echo' }
    const as = (user: string) => ({ authorization: `Bearer token-of-${user}` })
    const [acme, zeta] = ['acme', 'zeta'].map(tenant => ({ tenant, metadata }))
    expect(await sent('a2a-tenants.ts', acme!, as('ada'))).toContain('TASK_STATE_COMPLETED')
    expect(await sent('a2a-tenants.ts', zeta!, as('ada'))).toContain('You may not use this tenant')
    expect(await sent('a2a-tenants.ts', zeta!, as('bob'))).toContain('TASK_STATE_COMPLETED')
    const path = '/acme/.well-known/agent-card.json'
    const card = await ask('a2a-tenants.ts', path, { headers: as('ada') })
    expect(await card.json()).toMatchObject({ description: 'The agents of acme' })
    expect((await ask('a2a-tenants.ts', path)).status).toBe(401)
  })

  it('shows an extended card', async () => {
    const authorization = 'Bearer token-of-acme'
    const card = await ask('a2a-extended-card.ts', '/extendedAgentCard', { headers: { authorization } })
    expect(await card.json()).toMatchObject({ description: 'Agents for acme' })
    expect((await ask('a2a-extended-card.ts', '/extendedAgentCard')).status).toBe(401)
  })

  it('shows signed cards, and the keys to verify them with', async () => {
    const card = JSON.parse(await get('a2a-signed-cards.ts', '/.well-known/agent-card.json'))
    expect(card.signatures).toHaveLength(2)
    expect(JSON.parse(await get('a2a-signed-cards.ts', '/keys.json'))).toMatchObject({
      keys: [{ kid: 'k1' }],
    })
  })
})

describe('the page about the event socket', () => {
  it('shows a socket that answers', async () => {
    const path = '/socket.io/?EIO=4&transport=polling'
    expect(await get('event-socket.ts', path)).toMatch(/^0\{"sid":/)
  })

  it('shows a server of its own', async () => {
    const server = await startNode(join(folder, 'event-socket-own.ts'))
    const client = io(server.url)
    try {
      expect(await client.emitWithAck('hello', 1)).toBe('hello')
    } finally {
      client.disconnect()
      await server.stop()
    }
  })
})

describe('the page about metrics', () => {
  it('shows counts', async () => {
    await ask('metrics.ts', '/api/agents/echo/run', jsonRequest({ input: 'hi' }))
    expect(await get('metrics.ts', '/api/metrics')).toContain('service_agent_runs_total{agent="echo"} 1\n')
  })

  it('shows who may read', async () => {
    expect((await ask('metrics-users.ts', '/api/metrics')).status).toBe(401)
    const headers = { authorization: 'Bearer scraper' }
    expect((await ask('metrics-users.ts', '/api/metrics', { headers })).status).toBe(200)
  })

  it('shows runs of a program of its own', async () => {
    const { text } = await load<{ text: string }>('metrics-attach.ts')
    expect(text).toContain('service_agent_runs_total{agent="shout"} 1\n')
  })
})

describe('the page about tool servers', () => {
  it('shows an agent that calls a tool of one', async () => {
    const tools = await serveTools()
    const headers = { authorization: 'Bearer a-long-secret' }
    const definition = { name: 'weather', transport: 'http', url: tools.url }
    expect((await ask('tool-servers.ts', '/api/admin/mcp', jsonRequest(definition))).status).toBe(401)
    const answer = await ask('tool-servers.ts', '/api/admin/mcp', jsonRequest(definition, headers))
    const { id } = await answer.json()
    const told = await ask('tool-servers.ts', '/api/agents/forecaster/run', jsonRequest({ input: 'Oslo' }))
    expect(await told.json()).toMatchObject({ text: 'Sunny in Oslo' })
    await ask('tool-servers.ts', `/api/admin/mcp/${id}`, { method: 'DELETE', headers })
    await tools.stop()
  })
})

describe('the page about files', () => {
  it('shows an agent whose file is downloaded', async () => {
    const asked = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
    const { id } = await (await ask('files-first.ts', '/api/agents/painter/run', asked)).json()
    expect(await get('files-first.ts', `/api/runs/${id}/stream`)).toContain(
      `/api/runs/${id}/artifacts/picture`,
    )
    const { download, downloadFrom } = await load<{
      download(id: string): Promise<File>
      downloadFrom(address: string): Promise<File>
    }>('files-client.ts')
    const { handler } = await load('files-first.ts')
    vi.spyOn(globalThis, 'fetch').mockImplementation(request => handler(request as Request))
    const files = [await download(id), await downloadFrom(`/api/runs/${id}/artifacts/picture`)]
    vi.restoreAllMocks()
    expect(files.map(({ type, size }) => [type, size])).toEqual([
      ['image/png', 10_000],
      ['image/png', 10_000],
    ])
  })
})

describe('the page about stores', () => {
  it('shows runs that are kept in a file', async () => {
    const asked = jsonRequest({ input: 'kept' }, { prefer: 'respond-async' })
    const started = await ask('stores-sqlite.ts', '/api/agents/echo/run', asked)
    const events = await get('stores-sqlite.ts', `${started.headers.get('location')}/stream`)
    expect(events).toContain('"finishReason":"stop"')
  })
})

describe('the page about deploying', () => {
  it('shows a route of Next.js', async () => {
    const { POST } = await load<{ POST: Handler }>('deploy-route.ts')
    const answer = await POST(
      new Request('http://127.0.0.1/api/agents/echo/run', jsonRequest({ input: 'hi' })),
    )
    expect(await answer.json()).toMatchObject({ text: 'hi' })
  })
})

describe('the page about other apps', () => {
  const echoes = async (path: string, send: (path: string, init: RequestInit) => Promise<Response>) =>
    (await (await send(path, jsonRequest({ input: 'hi' }))).json()).text

  it.each(['hono', 'router', 'fallback'])('shows agents beside what an app has (%s)', async name => {
    const file = `express-and-hono-${name}.ts`
    expect(await echoes('/api/agents/echo/run', (path, init) => ask(file, path, init))).toBe('hi')
    expect(await get(file, '/')).toBe('The app')
  })

  it('shows agents in an Express app', async () => {
    const { app } = await load<{ app: Express }>('express-and-hono-express.ts')
    const server = app.listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      expect(await echoes('/api/agents/echo/run', (path, init) => fetch(url + path, init))).toBe('hi')
      expect((await fetch(`${url}/api`)).status).toBe(200)
      expect(await (await fetch(url)).text()).toBe('The app')
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('shows users of the app', async () => {
    const asked = jsonRequest({ input: 'hi' })
    expect((await ask('express-and-hono-users.ts', '/api/agents/echo/run', asked)).status).toBe(401)
    const known = jsonRequest({ input: 'hi' }, { cookie: 'session=s1' })
    expect((await ask('express-and-hono-users.ts', '/api/agents/echo/run', known)).status).toBe(200)
  })
})
