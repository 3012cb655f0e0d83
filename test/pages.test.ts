/** The snippets of the pages do what the pages say. */
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Express } from 'express'
import { generateKeyPair } from 'jose'
import { io } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../src/index.ts'
import { serveTools } from './contracts/admin/served-tools.ts'
import { jsonRequest } from './contracts/http/client.ts'
import { checkTypes, fencesOf, load as loadFrom, PAGES_OF_PARTS, snippetsIn, writeSnippets } from './pages.ts'
import { startNode } from './runtimes/harness.ts'

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
  it('have snippets that type-check', async () => {
    await checkTypes(folder)
  })

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

describe('the pages about plugins', () => {
  it('show a plugin of one route', async () => {
    expect(await get('greeting-plugin.ts', '/api/greeting')).toBe('Hello from echo')
  })

  it('show the core with two plugins, and nothing else', async () => {
    expect(JSON.parse(await get('core.ts', '/.well-known/agent-card.json'))).toMatchObject({ name: 'echo' })
    expect(JSON.parse(await get('core.ts', '/api/metrics'))).toMatchObject({ status: 404 })
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
