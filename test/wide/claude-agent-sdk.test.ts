/** The Claude Agent SDK with its binary, against a scripted server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { toAgent } from '../../src/adapters/frameworks/index.ts'
import { createHandler, memoryState, type RunEvent, type RunResult, type State } from '../../src/index.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { type Listening, listening } from '../listening.ts'
import { drain } from '../support.ts'

let installed: Installed
let query: (given: object) => unknown
let server: Listening
let home: string
const children: ChildProcess[] = []
const bodies: string[] = []
beforeAll(async () => {
  installed = await install('claude-code', ['claude-agent.ts'])
  home = await mkdtemp(join(installed.folder, 'home-'))
  const sdk = join(installed.folder, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs')
  query = (await import(/* @vite-ignore */ pathToFileURL(sdk).href)).query
  server = await listening(
    createServer(async (request, response) => {
      const body = await text(request)
      bodies.push(body)
      if (request.url?.startsWith('/v1/messages')) answer(response, body)
      else response.writeHead(404).end()
    }),
  )
})
afterAll(async () => {
  await server?.stop()
  await installed?.remove()
})

function answer(response: ServerResponse, body: string): void {
  response.setHeader('content-type', 'text/event-stream')
  const send = (type: string, rest: object = {}) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`)
  const block = (index: number, start: object, ...deltas: object[]) => {
    send('content_block_start', { index, content_block: start })
    for (const delta of deltas) send('content_block_delta', { index, delta })
  }
  const usage = { input_tokens: 3, output_tokens: 0 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-x', content: [], usage }
  send('message_start', { message: { ...message, stop_reason: null } })
  const says = (said: string) => block(0, { type: 'text', text: '' }, { type: 'text_delta', text: said })
  if (body.includes('NEVER-ENDS')) {
    says('Half')
    return
  }
  const isLast = body.includes('"tool_result"')
  if (isLast) says('Done.')
  else {
    const thought = { type: 'thinking_delta', thinking: 'Hm.' }
    block(0, { type: 'thinking', thinking: '', signature: '' }, thought, {
      type: 'signature_delta',
      signature: 's',
    })
    send('content_block_stop', { index: 0 })
    const command = body.includes('TOUCH') ? 'touch made' : 'echo hi'
    const args = { type: 'input_json_delta', partial_json: JSON.stringify({ command }) }
    block(1, { type: 'tool_use', id: 't1', name: 'Bash', input: {} }, args)
  }
  send('content_block_stop', { index: isLast ? 0 : 1 })
  send('message_delta', {
    delta: { stop_reason: isLast ? 'end_turn' : 'tool_use' },
    usage: { output_tokens: 2 },
  })
  send('message_stop')
  response.end()
}

/** Resolves once no process of the SDK is left. */
async function haveEnded() {
  const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null
  await vi.waitFor(() => expect(children.every(hasEnded)).toBe(true), 20_000)
}

function agentOf(config = join(home, 'one')) {
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' },
    CLAUDE_CONFIG_DIR: config,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
  const spawnClaudeCodeProcess = ({ command, args, ...rest }: { command: string; args: string[] }) => {
    const child = spawn(command, args, { ...rest, stdio: ['pipe', 'pipe', 'ignore'] })
    children.push(child)
    return child
  }
  const options = {
    spawnClaudeCodeProcess,
    env,
    cwd: home,
    model: 'claude-x',
    settingSources: [],
    allowedTools: ['Bash(echo:*)'],
  }
  return toAgent({ name: 'coder', query, processes: 1, options })
}

it('takes the types of the package, in the example too', () => installed.check(), 120_000)

it('tells text, thinking, tools and tokens', async () => {
  const events = await drain(agentOf().stream!('go'))
  expect(events).toEqual(
    expect.arrayContaining([
      { type: 'thinking', text: 'Hm.' },
      { type: 'tool_call_start', toolCall: { id: 't1', name: 'Bash' } },
      { type: 'tool_call_ready', toolCallId: 't1', args: { command: 'echo hi' } },
      { type: 'tool_call_end', toolCallId: 't1', result: 'hi' },
      { type: 'text', text: 'Done.' },
    ]),
  )
  const usage = { promptTokens: 6, completionTokens: 4, totalTokens: 10 }
  expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop', usage })
})

it('bounds its processes, and gives the place back after an abort', async () => {
  const agent = agentOf()
  const client = new AbortController()
  const events: RunEvent[] = []
  const stopped = async () => {
    for await (const event of agent.stream!('NEVER-ENDS', { signal: client.signal })) {
      events.push(event)
      if (event.type !== 'text') continue
      await expect(drain(agent.stream!('go'))).rejects.toMatchObject({ code: 'too_many_runs' })
      client.abort()
    }
  }
  await stopped().catch(() => {})
  expect(events).toContainEqual({ type: 'text', text: 'Half' })
  expect(await drain(agent.stream!('go'))).toContainEqual({ type: 'text', text: 'Done.' })
})

it('ends the process when the reader leaves, and has left none of any run', async () => {
  const before = children.length
  for await (const event of agentOf().stream!('NEVER-ENDS')) if (event.type === 'text') break
  expect(children.length).toBe(before + 1)
  await haveEnded()
})

/** A service whose processes keep their files in a folder of their own, as on another machine. */
function serviceOf(state: State, config: string) {
  const handler = createHandler({ serve: [agentOf(join(home, config))], state })
  return async (path: string, body: object) => {
    const init = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }
    const response = await handler(new Request(`http://127.0.0.1/api/${path}`, init))
    return (await response.json()) as RunResult & { readonly runId: string }
  }
}

it.each(['approve', 'deny'] as const)('asks for a permission, and goes on elsewhere: %s', async decision => {
  const state = memoryState()
  const first = await serviceOf(state, 'one')('agents/coder/run', { input: 'TOUCH', sessionId: decision })
  expect(first).toMatchObject({
    finishReason: 'input_required',
    requests: [{ kind: 'approval', toolName: 'Bash', toolCallId: 't1', args: { command: 'touch made' } }],
  })
  expect(existsSync(join(home, 'made'))).toBe(false)
  await haveEnded()
  const answers = [{ id: first.requests?.[0]?.id, decision, reason: 'Ann says no' }]
  const second = await serviceOf(state, 'two')(`runs/${first.runId}/answers`, { answers })
  expect(second).toMatchObject({ text: 'Done.', finishReason: 'stop' })
  expect(existsSync(join(home, 'made'))).toBe(decision === 'approve')
  await rm(join(home, 'made'), { force: true })
  if (decision === 'deny') expect(bodies.at(-1)).toContain('Ann says no')
  const third = await serviceOf(state, 'three')('agents/coder/run', {
    input: 'And now?',
    sessionId: decision,
  })
  expect(third).toMatchObject({ text: 'Done.', finishReason: 'stop' })
  const told = JSON.stringify(JSON.parse(bodies.at(-1) ?? '').messages)
  expect(told.match(/TOUCH|"tool_use"|"tool_result"|And now/g)).toEqual([
    'TOUCH',
    '"tool_use"',
    '"tool_result"',
    'And now',
  ])
})

it('gets files and the history of a client', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const input = [
    { type: 'text', text: 'What is it?' },
    { type: 'image', data: png },
  ]
  const history = [
    { role: 'user', content: 'My name is Ann' },
    { role: 'assistant', content: 'Hello Ann' },
  ]
  await serviceOf(memoryState(), 'four')('agents/coder/run', { input, history })
  expect(bodies.at(-1)).toContain('Hello Ann')
  expect(bodies.at(-1)).toContain('"type":"image"')
})

it('ends its process with a server that is killed, which goes on with what waits and with the session', async () => {
  vi.stubEnv('CLAUDE_URL', server.url)
  const served = await installed.serve()
  onTestFinished(() => served.stop())
  const post = async (path: string, body: object, more: object = {}) => {
    const headers = { 'content-type': 'application/json', ...more }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${served.url}/api/${path}`, init)).json()
  }
  const waits = await post('agents/coder/run', { input: 'TOUCH', sessionId: 's1' })
  const { id } = await post('agents/coder/run', { input: 'NEVER-ENDS' }, { prefer: 'respond-async' })
  const recordOf = async () => (await fetch(`${served.url}/api/runs/${id}`)).json()
  const pid = await vi.waitFor(() => {
    expect(bodies.at(-1)).toContain('NEVER-ENDS')
    return Number(readFileSync(join(served.state, 'pid'), 'utf8'))
  }, 20_000)
  expect(isAlive(pid)).toBe(true)
  await served.restartKilled()
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 20_000)
  await vi.waitFor(
    async () => expect(await recordOf()).toMatchObject({ error: { code: 'interrupted' } }),
    60_000,
  )
  const answers = [{ id: waits.requests[0].id, decision: 'approve' }]
  expect(await post(`runs/${waits.runId}/answers`, { answers })).toMatchObject({ text: 'Done.' })
  expect(existsSync(join(served.state, 'made'))).toBe(true)
  await served.restartKilled()
  expect(await post('agents/coder/run', { input: 'And now?', sessionId: 's1' })).toMatchObject({
    text: 'Done.',
  })
  expect(bodies.at(-1)).toContain('touch made')
}, 120_000)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
