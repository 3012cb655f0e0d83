/** What the page about MCP shows does what it says. What it shows of the AI SDK is in `frameworks/page-of-mcp.test.ts`. */

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as agents from '../../examples/agents.ts'
import { createHandler, type Handler } from '../../src/index.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { serve } from '../../src/runtimes/node.ts'
import { serveTools } from '../contracts/admin/served-tools.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const DEV = 'http://127.0.0.1:8787'
const shown = fencesOf(['mcp.md'])
const snippets = snippetsIn(shown)
const ADA = { authorization: 'Bearer token-of-ada' }

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippets)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const handlerOf = async (name: string, from = folder) =>
  (await load<{ handler: Handler }>(from, name)).handler

/** The example agents, as the dev server offers them. */
const examples = () =>
  createHandler({
    serve: Object.values(agents),
    registry: false,
    logger: false,
    plugins: [mcp({ tools: true })],
  })

/** Serves a handler, and gives the snippets that call it. */
async function serving(
  handler: Handler,
  use: (url: string, own: string) => Promise<void>,
  place = DEV,
): Promise<void> {
  const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  const own = await writeSnippets(snippets, text => text.replaceAll(place, server.url))
  try {
    await use(server.url, own)
  } finally {
    await server.close()
    await rm(own, { recursive: true, force: true })
  }
}

type Headers = Readonly<Record<string, string>>

const send = (handler: Handler, method: string, params: object, headers: Headers = {}) =>
  handler(new Request(`${DEV}/mcp`, jsonRequest({ jsonrpc: '2.0', id: 1, method, params }, headers)))

/** What a request of an earlier revision is answered. */
async function ask(handler: Handler, method: string, params: object, headers?: Headers) {
  const { result, error } = await (await send(handler, method, params, headers)).json()
  return result ?? error
}

const call = (handler: Handler, name: string, args: object, headers?: Headers) =>
  ask(handler, 'tools/call', { name, arguments: args }, headers)

/** What a request of 2026-07-28 is answered, of a client with tasks. */
function askNow(
  handler: Handler,
  method: string,
  params: { readonly name?: string; readonly taskId?: string },
) {
  const own = 'io.modelcontextprotocol/'
  const capabilities = { extensions: { [`${own}tasks`]: {} } }
  const meta = { [`${own}protocolVersion`]: '2026-07-28', [`${own}clientCapabilities`]: capabilities }
  return ask(
    handler,
    method,
    { ...params, _meta: meta },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId ?? '',
    },
  )
}

it('the commands work', async () => {
  await serving(examples(), async url => {
    const answers: unknown[] = []
    for (const command of commandsIn(shown)) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll(DEV, url)])
      answers.push(JSON.parse(stdout).result)
    }
    expect(answers).toMatchObject([
      { tools: expect.arrayContaining([expect.objectContaining({ name: 'calculator' })]) },
      { content: [{ type: 'text', text: '3 * (4 + 5) = 27' }] },
    ])
  })
})

it('a program with a token calls a tool, and is told how far it is', async () => {
  const handler = await handlerOf('mcp-server.ts')
  await serving(handler, async (_, own) => {
    type Page = { ask(input: string, show: (progress: string) => void): Promise<string> }
    const page = await load<Page>(own, 'mcp-client.ts')
    const told: string[] = []
    expect(await page.ask('Hello', progress => told.push(progress))).toBe('You said: Hello')
    expect(told).not.toEqual([])
  })
  expect(await ask(handler, 'tools/list', {})).toMatchObject({ data: { code: 'unauthorized' } })
})

it('the files of editors name the endpoint, and a header for the token', () => {
  type Server = { readonly url: string; readonly headers: Headers }
  const files = shown.filter(({ language }) => language === 'json').map(({ text }) => JSON.parse(text))
  const servers: Server[] = files.flatMap(({ servers, mcpServers }) => Object.values(servers ?? mcpServers))
  expect(servers.map(({ url }) => url)).toEqual([`${DEV}/mcp`, `${DEV}/mcp`])
  for (const { headers } of servers) expect(headers.Authorization).toMatch(/^Bearer \$\{(input|env):\w+\}$/)
  const [{ inputs }] = files
  expect(servers[0]?.headers.Authorization).toContain(`{input:${inputs[0].id}}`)
})

describe('what is offered', () => {
  it('has a name, a description, schemas and hints', async () => {
    const handler = await handlerOf('mcp-tools.ts')
    const { tools } = await ask(handler, 'tools/list', {})
    expect(tools).toMatchObject([
      { name: 'helper', inputSchema: { required: ['input'] } },
      {
        ...{ name: 'refund', title: 'Refund', description: 'Refunds an order, in full or in part' },
        inputSchema: { type: 'object', required: ['order'] },
        outputSchema: { type: 'object', required: ['refunded'] },
        annotations: { destructiveHint: true, openWorldHint: false },
      },
    ])
    const structuredContent = { refunded: 100 }
    expect(await call(handler, 'refund', { order: '42' })).toMatchObject({ structuredContent })
    expect(await call(handler, 'refund', { order: 42 })).toMatchObject({ isError: true })
    expect(await ask(handler, 'initialize', {})).toMatchObject({ instructions: expect.any(String) })
  })

  it('may be tools of toolkits and of tool servers', async () => {
    const tools = await serveTools()
    const handler = await handlerOf('mcp-gateway.ts')
    const headers = { authorization: 'Bearer a-long-secret' }
    const definition = jsonRequest({ name: 'weather', transport: 'http', url: tools.url }, headers)
    const { id } = await (await handler(new Request(`${DEV}/api/admin/mcp`, definition))).json()
    const list = await ask(handler, 'tools/list', {}, ADA)
    expect(list.tools.map(({ name }: { name: string }) => name)).toEqual(['multiply', 'weather_forecast'])
    expect(await call(handler, 'multiply', { a: 6, b: 7 }, ADA)).toMatchObject({ content: [{ text: '42' }] })
    const told = await call(handler, 'weather_forecast', { city: 'Oslo' }, ADA)
    expect(told).toMatchObject({ content: [{ text: 'Sunny in Oslo' }] })
    await handler(new Request(`${DEV}/api/admin/mcp/${id}`, { method: 'DELETE', headers }))
    await tools.stop()
  })
})

it('a call becomes a task, which its client looks at', async () => {
  const handler = await handlerOf('mcp-tasks.ts')
  const params = { name: 'researcher', arguments: { input: 'bees' } }
  const { taskId, pollIntervalMs } = await askNow(handler, 'tools/call', params)
  expect(pollIntervalMs).toBe(5000)
  await eventually(async () =>
    expect(await askNow(handler, 'tasks/get', { taskId })).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'All about bees' }] },
    }),
  )
  expect(await ask(handler, 'tools/call', params)).toMatchObject({ code: -32021 })
})

describe('people', () => {
  it('are asked with forms, and approve with one', async () => {
    await serving(examples(), async (_, own) => {
      type Fill = (question: string, fields: readonly string[]) => Record<string, string>
      const { order } = await load<{ order(input: string, fill: Fill): Promise<unknown> }>(
        own,
        'mcp-answers.ts',
      )
      const asked: unknown[] = []
      const told = await order('A silk shirt', (question, fields) => {
        asked.push([question, fields])
        return fields.includes('decision') ? { decision: 'approve' } : { answer: 'M' }
      })
      expect(asked).toEqual([
        [expect.stringContaining('Which size'), ['answer']],
        [expect.stringContaining('sew'), ['decision', 'reason']],
      ])
      expect(told).toMatchObject([{ text: 'A silk shirt in M' }])
    })
  })

  it('are asked in words where a client has no forms', async () => {
    const handler = examples()
    const { content } = await call(handler, 'tailor', { input: 'A shirt' })
    const [, sessionId] = /`sessionId` `(.*)`/.exec(content[0].text) ?? []
    const told = await call(handler, 'tailor', { input: 'M', sessionId })
    expect(told).toMatchObject({ content: [{ text: 'A shirt in M' }] })
  })
})

describe('signing in', () => {
  const ISSUER = 'https://login.example.com'
  const RESOURCE = 'https://agents.example.com/mcp'

  it('needs a token of the authorization server, for this service and with its scope', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
    const login: Handler = async () => Response.json(keys)
    await serving(
      login,
      async (issuer, own) => {
        const handler = await handlerOf('mcp-auth.ts', own)
        const list = async (audience?: string, scope = 'agents') => {
          const token =
            audience &&
            (await new SignJWT({ scope })
              .setProtectedHeader({ alg: 'ES256' })
              .setIssuer(issuer)
              .setSubject('ada')
              .setAudience(audience)
              .sign(privateKey))
          const answer = await send(
            handler,
            'tools/list',
            {},
            token ? { authorization: `Bearer ${token}` } : {},
          )
          return [
            answer.status,
            answer.headers.get('www-authenticate') ?? (await answer.json()).result.tools.length,
          ]
        }
        expect(await list(RESOURCE)).toEqual([200, 1])
        const metadata =
          'resource_metadata="https://agents.example.com/.well-known/oauth-protected-resource/mcp"'
        expect(await list()).toEqual([401, `Bearer ${metadata}, scope="agents"`])
        expect(await list('https://other.example.com/mcp')).toEqual([401, expect.stringContaining(metadata)])
        const refused = [403, expect.stringContaining('error="insufficient_scope"')]
        expect(await list(RESOURCE, 'other')).toEqual(refused)
        for (const path of ['/mcp', '']) {
          const at = `${DEV}/.well-known/oauth-protected-resource${path}`
          const document = await (await handler(new Request(at))).json()
          expect(document).toMatchObject({ resource: RESOURCE, authorization_servers: [issuer] })
        }
      },
      ISSUER,
    )
  })

  it('does not keep pages of another origin out', async () => {
    const handler = await handlerOf('mcp-cors.ts')
    const headers = { origin: 'https://app.example.com' }
    const asked = { ...headers, 'access-control-request-method': 'POST' }
    const answer = await handler(new Request(`${DEV}/mcp`, { method: 'OPTIONS', headers: asked }))
    expect(answer.headers.get('access-control-allow-headers')).toContain('*')
    const begun = await send(handler, 'initialize', {}, headers)
    expect(begun.headers.get('access-control-expose-headers')).toContain('mcp-session-id')
  })
})
