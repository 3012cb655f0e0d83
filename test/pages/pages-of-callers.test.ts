/** What the pages for those who call a service, and who let them call, show does what they say. */
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import * as agents from '../../examples/agents.ts'
import { Agent, createHandler, type Handler } from '../../src/index.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { startIssuer } from '../contracts/jwt/issuer.ts'
import { root } from '../runtimes/process.ts'
import { commandsIn, fencesOf, load, PAGES_OF_CALLERS, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(PAGES_OF_CALLERS)
const snippets = snippetsIn(shown)
const commands = commandsIn(shown)
const DEV = 'http://127.0.0.1:8787'

/** The dev server's agents, and one that waits until it is stopped. */
const waiting = new Agent({
  name: 'waiting',
  run: (_, { signal }) => new Promise(resolve => signal?.addEventListener('abort', () => resolve(undefined))),
})

let server: RunningServer
let folder: string
beforeAll(async () => {
  const served = [...Object.values(agents), waiting]
  const handler = createHandler({ serve: served, registry: false, fileUpload: true, logger: false })
  server = await serve(handler, { port: 0 })
  folder = await writeSnippets(snippets, text => text.replaceAll(DEV, server.url))
  await writeFile(join(folder, '.curlrc'), 'silent\nfail-with-body\n')
})
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function ask(name: string, path: string, init?: RequestInit): Promise<Response> {
  const { handler } = await load<{ handler: Handler }>(folder, name)
  return handler(new Request(`http://127.0.0.1${path}`, init))
}

async function textOf(name: string, path: string, init?: RequestInit): Promise<unknown> {
  return (await (await ask(name, path, init)).json()).text
}

/** Starts a stored run on the server, and gives its id. */
async function start(name: string): Promise<string> {
  const asked = jsonRequest({ input: 'One. Two.' }, { prefer: 'respond-async' })
  return (await fetch(`${server.url}/api/agents/${name}/run`, asked)).headers.get('x-run-id') ?? ''
}

/** What a program prints. */
async function printed(name: string): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await load(folder, name)
  const text = log.mock.calls.flat().join('')
  log.mockRestore()
  return text
}

describe('the pages for callers', () => {
  it.each([...snippets].filter(([, text]) => text.includes('export const handler')).map(([name]) => name))(
    'show %s, which is served',
    async name => {
      const health = await Promise.all(['/api', '/v1'].map(prefix => ask(name, `${prefix}/health`)))
      expect(health.map(({ status }) => status)).toContain(200)
    },
  )

  it.each(commands)('show a command that works: %s', async command => {
    const runId = await start(command.includes('/cancel') ? 'waiting' : 'summarizer')
    const env = { ...process.env, CURL_HOME: folder, RUN_ID: runId }
    const { stdout } = await run('sh', ['-c', command.replaceAll(DEV, server.url)], { cwd: root, env })
    expect(stdout).toMatch(/^(\{|id: )/)
  })
})

describe('the page about authentication', () => {
  const asked = jsonRequest({ input: 'hi' })

  it.each([
    ['authentication-users.ts', { authorization: 'Bearer let-me-in' }],
    ['authentication-verify.ts', { authorization: 'Bearer token-of-ada' }],
    ['authentication-middleware.ts', { cookie: 'session=4711' }],
  ])('shows who may call (%s)', async (name, headers) => {
    expect((await ask(name, '/api/agents/echo/run', asked)).status).toBe(401)
    expect(await textOf(name, '/api/agents/echo/run', jsonRequest({ input: 'hi' }, headers))).toBe('hi')
  })

  it('shows how to log in with an identity provider', async () => {
    const issuer = await startIssuer()
    const own = await writeSnippets(snippets, text =>
      text.replaceAll(
        "issuer: 'https://login.example.com',",
        `issuer: '${issuer.url}',\n      allow: ['127.0.0.1'],`,
      ),
    )
    try {
      const { handler } = await load<{ handler: Handler }>(own, 'authentication-jwt.ts')
      const textOf = async (claims: object) => {
        const headers = { authorization: `Bearer ${await issuer.sign(claims)}` }
        const init = jsonRequest({ input: 'hi' }, headers)
        const response = await handler(new Request('http://127.0.0.1/api/agents/echo/run', init))
        return (await response.json()).text
      }
      expect(await textOf({ team: 'support' })).toBe('hi by ada')
      expect(await textOf({})).toBeUndefined()
    } finally {
      await issuer.stop()
      await rm(own, { recursive: true, force: true })
    }
  })

  it('shows how users log in with the console', async () => {
    const navigates = { headers: { 'sec-fetch-mode': 'navigate' } }
    const page = await ask('authentication-login.ts', '/api/console', navigates)
    expect(await page.text()).toContain('data-has-login')
    expect((await ask('authentication-login.ts', '/api/console/config')).status).toBe(401)
    const back = await ask('authentication-login.ts', '/api/console/callback?code=x')
    expect(back.headers.get('location')).toBe('https://agents.example.com/api/console?login=failed')
  })

  it('shows where else tokens of an identity provider are checked', async () => {
    const metadata = await ask('authentication-jwt-parts.ts', '/.well-known/oauth-protected-resource/mcp')
    expect(await metadata.json()).toMatchObject({ authorization_servers: ['https://login.example.com'] })
    for (const path of ['/mcp', '/api/admin/mcp'])
      expect((await ask('authentication-jwt-parts.ts', path, jsonRequest({}))).status, path).toBe(401)
  })

  it('shows which header carries a key', async () => {
    const path = '/api/agents/writer/run'
    expect(await textOf('authentication-providers.ts', path, asked)).toBe("The server's key")
    const headers = { 'x-openai-api-key': 'mine' }
    expect(await textOf('authentication-providers.ts', path, jsonRequest({ input: 'hi' }, headers))).toBe(
      'Your key',
    )
  })

  it('shows pages that may call', async () => {
    const from = (origin: string) => jsonRequest({ input: 'hi' }, { origin, 'sec-fetch-site': 'cross-site' })
    const path = '/api/agents/echo/run'
    expect((await ask('authentication-cors.ts', path, from('https://app.example.com'))).status).toBe(200)
    const refused = await ask('authentication-cors.ts', path, from('https://other.example.com'))
    expect(await refused.json()).toMatchObject({ status: 403, code: 'cross_site_request' })
  })
})

describe('the page about the client', () => {
  it('shows programs that print what agents say', async () => {
    expect(await printed('client-first.ts')).toContain('27')
    expect(await printed('client-stream.ts')).toContain('Hello through a client')
    expect(await printed('client-plain.ts')).toContain('Hello')
    expect(await printed('client-runs.ts')).not.toBe('')
  })

  it('shows a client that knows the names of a handler', async () => {
    expect(await load(folder, 'client-typed.ts')).toMatchObject({ text: 'hush' })
  })

  it('shows what to do with failures', async () => {
    const { answer } = await load<{ answer(input: string): Promise<string> }>(folder, 'client-failures.ts')
    expect(await answer('Hello')).toContain('Hello')
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await answer('')).toBe('Something went wrong.')
    expect(log.mock.calls[0]?.[0]).toBe('invalid_body')
  })
})

describe('the page about errors', () => {
  it('shows an agent whose text reaches the caller', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const asked = jsonRequest({ input: [{ type: 'text', text: '' }] })
    expect(await (await ask('errors-agent.ts', '/api/agents/weather/run', asked)).json()).toMatchObject({
      code: 'invalid_input',
      detail: '`input` must name a city',
    })
  })

  it('shows a client that matches codes', async () => {
    const { ask: askEcho } = await load<{ ask(input: string): Promise<string> }>(folder, 'errors-match.ts')
    expect(await askEcho('Hello')).toContain('Hello')
  })
})

describe('the page about the HTTP interface', () => {
  it('shows a documentation page', async () => {
    const page = await ask('http-docs.ts', '/api/docs', { headers: { accept: 'text/html' } })
    expect(page.headers.get('content-type')).toContain('text/html')
  })
})

describe('the page about files', () => {
  const form = (name: string, type: string, content: BlobPart) => {
    const body = new FormData()
    body.set('input', 'See')
    body.set('file', new File([content], name, { type }))
    return { method: 'POST', body }
  }

  it('shows what the agent gets', async () => {
    const sent = form('a.txt', 'text/plain', 'Hello')
    expect(await textOf('uploads-first.ts', '/api/agents/files/run', sent)).toBe('text, file')
  })

  it('shows files that are refused', async () => {
    const refused = await ask(
      'uploads-images.ts',
      '/api/agents/viewer/run',
      form('a.txt', 'text/plain', 'Hello'),
    )
    expect(await refused.json()).toMatchObject({ code: 'unsupported_media_type' })
  })
})
