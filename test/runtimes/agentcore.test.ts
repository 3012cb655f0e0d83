import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HttpAgent } from '@ag-ui/client'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Agent, createHandler, type Handler, memoryState, textOf } from '../../src/core-entry.ts'
import { a2a } from '../../src/protocols/a2a/plugin.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { eventSocket } from '../../src/protocols/event-socket/gateway/plugin.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { type AgentCoreOptions, agentCore } from '../../src/runtimes/agentcore.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { eventually } from '../eventually.ts'
import { commandsIn, fencesOf, fromSources, snippetsIn, writeSnippets } from '../pages/pages.ts'
import { untyped } from '../support.ts'
import { startNode } from './harness.ts'

/** A session as AgentCore names it. */
const SESSION = 'session-0123456789-0123456789-0123456789'
const HEADER = 'X-Amzn-Bedrock-AgentCore-Runtime-Session-Id'
const RUNTIME = 'https://bedrock.example/runtimes/arn%3Aaws%3Aagent/invocations'

let server: RunningServer | undefined
let release: () => void
let aborted: boolean

beforeEach(() => {
  aborted = false
  release = () => {}
})
afterEach(() => server?.close())

/** Says what it got, and the session. `wait` waits until `release`, or its caller leaves. */
const helper = new Agent({
  name: 'helper',
  async *run(input, { sessionId, signal }) {
    const text = textOf(input)
    yield `${sessionId ?? 'none'}: `
    if (text === 'wait') {
      await new Promise<void>(resolve => {
        release = resolve
        signal.addEventListener('abort', () => {
          aborted = true
          resolve()
        })
      })
    }
    yield text
  },
})

/** Plays AgentCore: it knows the address of the container, and nothing else. */
async function deployed(options?: AgentCoreOptions, more: object = {}): Promise<string> {
  const handler = createHandler({
    agents: { helper },
    registry: false,
    state: memoryState(),
    plugins: [a2a({ publicUrl: RUNTIME }), agUi(), mcp({ tools: true }), eventSocket()],
    ...more,
  })
  server = await serve(agentCore(handler, options), { port: 0 })
  return server.url
}

const invoke = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [HEADER]: SESSION, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const ping = async (url: string) => (await fetch(`${url}/ping`)).json()

describe('a container of AgentCore', () => {
  it('answers invocations as JSON, in the session of the header', async () => {
    const url = await deployed()
    const response = await invoke(url, { prompt: 'Hello' })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ text: `${SESSION}: Hello` })
    // The members of servable's own interface are there, too.
    const again = await invoke(url, { input: 'Hi', metadata: { a: 1 }, sessionId: SESSION })
    expect(await again.json()).toMatchObject({ text: `${SESSION}: Hi` })
  })

  it('streams events if the caller asks for them', async () => {
    const url = await deployed()
    const response = await invoke(url, { prompt: 'Hello' }, { accept: 'text/event-stream' })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const text = await response.text()
    expect(text).toContain('"text":"Hello"')
    expect(text).toContain('"type":"finish"')
  })

  it('is busy while a run is at work, also one in the background, and then healthy', async () => {
    const url = await deployed()
    const before = await ping(url)
    expect(before).toEqual({ status: 'Healthy', time_of_last_update: expect.any(Number) })
    expect(Math.abs(before.time_of_last_update - Date.now() / 1000)).toBeLessThan(60)
    const started = await invoke(url, { prompt: 'wait' }, { prefer: 'respond-async' })
    expect(started.status).toBe(202)
    await eventually(async () => expect((await ping(url)).status).toBe('HealthyBusy'))
    release()
    await eventually(async () => expect((await ping(url)).status).toBe('Healthy'))
  })

  it('stops the run of a caller that leaves', async () => {
    const url = await deployed()
    const left = new AbortController()
    const body = JSON.stringify({ prompt: 'wait' })
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
    const response = await fetch(`${url}/invocations`, { method: 'POST', headers, body, signal: left.signal })
    await response.body!.getReader().read()
    left.abort()
    await eventually(() => expect(aborted).toBe(true))
  })

  it('lets runs end when it closes, as the handler itself does', async () => {
    const url = await deployed()
    const answer = invoke(url, { prompt: 'wait' })
    await eventually(async () => expect((await ping(url)).status).toBe('HealthyBusy'))
    const closing = server!.close({ graceMs: 30_000 })
    release()
    expect((await (await answer).json()).text).toBe(`${SESSION}: wait`)
    await closing
  })

  it('runs a team or a workflow, or the agent that is named', async () => {
    const echo = new Agent({ name: 'echo', run: input => `echo ${textOf(input)}` })
    const url = await deployed({ agent: 'agent/echo' }, { agents: { helper, echo } })
    expect((await (await invoke(url, { prompt: 'a' })).json()).text).toBe('echo a')
  })

  it('says that an agent must be named if there are several', async () => {
    const echo = new Agent({ name: 'echo', run: textOf })
    const url = await deployed({}, { agents: { helper, echo } })
    const response = await invoke(url, { prompt: 'a' })
    expect(response.status).toBe(404)
    expect((await response.json()).detail).toContain('agentCore(handler, { agent })')
  })

  it('answers AG-UI', async () => {
    const url = await deployed({ protocol: 'ag-ui' })
    const agent = new HttpAgent({ url: `${url}/invocations`, headers: { [HEADER]: SESSION } })
    agent.addMessage({ id: 'm1', role: 'user', content: 'Hello' })
    let said = ''
    await agent.runAgent(
      {},
      {
        onTextMessageContentEvent({ event }) {
          said += event.delta
        },
      },
    )
    expect(said).toContain('Hello')
  })

  it('answers MCP at /mcp', async () => {
    const url = await deployed()
    const client = new McpClient({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('helper')
    await client.close()
  })

  it('answers A2A at /, and its card names the address of the runtime', async () => {
    const url = await deployed()
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json()
    expect(card.url).toBe(RUNTIME)
    const message = { role: 'user', messageId: 'm1', kind: 'message', parts: [{ kind: 'text', text: 'Hi' }] }
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }),
    })
    expect(JSON.stringify(await response.json())).toContain('Hi')
  })

  it('opens the event socket at /ws', async () => {
    const url = await deployed()
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`)
    const frames: { event: string; data: { chunk?: string } }[] = []
    socket.onmessage = ({ data }) => frames.push(JSON.parse(data))
    await new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = reject
    })
    socket.send(JSON.stringify({ event: 'agent.run', data: { name: 'helper', input: 'Hello' }, id: 1 }))
    await eventually(() => expect(frames.map(({ event }) => event)).toContain('agent.done'))
    socket.close()
  })

  it('leaves all other paths to the handler', async () => {
    const url = await deployed()
    expect((await fetch(`${url}/api/health`)).status).toBe(200)
    expect((await fetch(`${url}/invocations/x`)).status).toBe(404)
  })
})

describe('the page', () => {
  it('shows a server, and what AgentCore asks it', async context => {
    const shown = fencesOf(['deploy-agentcore.md'])
    const folder = await writeSnippets(snippetsIn(shown), text =>
      text.replace("port: 8080, hostname: '0.0.0.0'", 'port: 0'),
    )
    context.onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const agents =
      "export const shout = new Agent({ name: 'shout', run: input => String(input).toUpperCase() })"
    await writeFile(join(folder, 'agents.ts'), fromSources(`import { Agent } from 'servable'\n${agents}`))
    const node = await startNode(join(folder, 'agentcore-server.ts'))
    context.onTestFinished(() => node.stop())
    const code = commandsIn(shown).join('\n').replaceAll('http://127.0.0.1:8080', node.url)
    const { stdout } = await promisify(execFile)('sh', ['-ec', code.replaceAll('curl', 'curl -s')])
    expect(stdout).toContain('"text":"HELLO YOU"')
    expect(stdout).toContain('"type":"finish"')
    expect(stdout).toContain('"status":"Healthy"')
  })
})

describe('a bad invocation', () => {
  const deep = `{"prompt":${'['.repeat(6000)}${']'.repeat(6000)}}`
  it.each([
    ['not JSON', '{', 400, 'invalid_body'],
    ['an array', [], 400, 'invalid_body'],
    ['null', null, 400, 'invalid_body'],
    ['no input', {}, 400, 'invalid_body'],
    ['two inputs', { prompt: 'a', input: 'b' }, 400, 'invalid_body'],
    ['another session', { prompt: 'a', sessionId: 'other' }, 400, 'invalid_body'],
    ['JSON 6,000 deep', deep, 400, 'invalid_body'],
    ['a body of 12 MB', { prompt: 'x'.repeat(12 * 1024 * 1024) }, 413, 'body_too_large'],
    ['small items up to the limit', { prompt: Array(500_000).fill(0) }, 400, 'invalid_body'],
  ])('with %s is refused as by the handler', async (_, body, status, code) => {
    const url = await deployed()
    const response = await invoke(url, body)
    const problem = await response.json()
    expect([response.status, problem.code]).toEqual([status, code])
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(problem.requestId).toEqual(expect.any(String))
  })

  it('of another type or method is refused', async () => {
    const url = await deployed()
    expect((await invoke(url, 'a', { 'content-type': 'text/plain' })).status).toBe(415)
    const other = await fetch(`${url}/invocations`)
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
  })

  it('gets no further than the identity of the handler', async () => {
    const url = await deployed({}, { middleware: [() => new Response('no', { status: 401 })] })
    expect((await invoke(url, { prompt: 'a' })).status).toBe(401)
    // AgentCore's health check has no credentials.
    expect((await ping(url)).status).toBe('Healthy')
  })
})

describe('agentCore', () => {
  const handler = () => createHandler({ agents: { helper }, registry: false })

  it.each([
    [{ agent: 'crew/x' }, '`agent` must be a name'],
    [{ agent: 'team/' }, '`agent` must be a name'],
    [{ agent: '__proto__/x' }, '`agent` must be a name'],
    [{ agent: 7 }, '`agent` must be a name'],
    [{ protocol: 'grpc' }, '`protocol` must be'],
    [{ port: 8080 }, '`port` is not an option'],
  ])('refuses %j', (options, message) => {
    expect(() => agentCore(handler(), untyped(options))).toThrow(message)
  })

  it('refuses what is no handler', () => {
    expect(() => agentCore(untyped<Handler>({ fetch: handler() }))).toThrow('give its `fetch`')
    const around = (request: Request) => handler()(request)
    expect(() => agentCore(around)).toThrow('give the handler itself')
  })
})
