/** Servers that ask too much, at the wrong time or for the wrong thing. */
import { createServer, type ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { callDeclining, questionsIn } from '../../../src/adapters/mcp-client/elicitation.ts'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import type { KeptDefinition } from '../../../src/agents/tool-servers.ts'
import { eventually } from '../../eventually.ts'
import { listening } from '../../listening.ts'

const question = (more: object = {}) => ({
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema: { type: 'object', properties: {} }, ...more },
})

/** A server of 2025 that asks in the middle of a call, over the stream of its answer. */
interface Asking {
  readonly id: number
  readonly response: ServerResponse
  asked: number
}

let server: Awaited<ReturnType<typeof listening>>
/** The answers to what the server asked, and the calls that are open. */
const answers: unknown[] = []
let call: Asking | undefined
let capabilities: unknown

const send = (response: ServerResponse, message: object) =>
  response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)

function askAgain({ response, asked }: Asking): void {
  if (!response.destroyed) send(response, { id: `q${asked}`, ...question() })
}

/** Takes the answer to what was asked. */
function take(answer: unknown, isEndless: boolean): void {
  answers.push(answer)
  if (call === undefined) return
  call.asked++
  if (isEndless) return askAgain(call)
  send(call.response, { id: call.id, result: { content: [{ type: 'text', text: JSON.stringify(answer) }] } })
  call.response.end()
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'asks', version: '1' },
  },
  'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
}

beforeAll(async () => {
  server = await listening(
    createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method, params, ...answer } = JSON.parse(Buffer.concat(chunks).toString())
      if (method === 'initialize') capabilities = params.capabilities
      if (method === 'tools/call') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        call = { id, response, asked: 0 }
        return askAgain(call)
      }
      if (method === undefined) take(answer.result ?? answer.error, request.url === '/endless')
      if (method === undefined || id === undefined) return void response.writeHead(202).end()
      const result = RESULTS[method] ?? {}
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }),
  )
})
afterAll(() => server.stop())

let manager: ToolServerManager
afterEach(() => manager.close())

async function open(path: string, elicitation: 'ask' | 'refuse') {
  answers.length = 0
  call = undefined
  const kept = new Map<string, KeptDefinition>()
  manager = new ToolServerManager({ register: false, retryMs: 60_000 })
  manager.use(
    manager.open({
      store: {
        isShared: false,
        all: () => [...kept.values()],
        put: definition => void kept.set(definition.id, definition),
        change: id => kept.get(id),
        remove: id => void kept.delete(id),
      },
      policy: { allow: ['127.0.0.1'], commands: [] },
      onChange: () => {},
    }),
  )
  const { url } = server
  const added = await manager.servers.add({ name: 's', transport: 'http', url: `${url}${path}`, elicitation })
  expect(added).toMatchObject({ status: 'connected', elicitation })
  return { servers: manager.servers, id: added.id }
}

describe('a server that asks in the middle of a call', () => {
  it('is declined if it may ask, for no run can keep the call open', async () => {
    const { servers } = await open('/once', 'ask')
    expect(await servers.call('s.ask', {})).toBe('{"action":"decline"}')
    expect(capabilities).toMatchObject({ elicitation: { form: {} } })
  })

  it('gets an error if it may not', async () => {
    const { servers } = await open('/once', 'refuse')
    expect(JSON.parse(String(await servers.call('s.ask', {})))).toMatchObject({ code: -32601 })
    expect(capabilities).not.toHaveProperty('elicitation')
  })

  it.each(['ask', 'refuse'] as const)('is lost if it asks endlessly (%s)', async elicitation => {
    const { servers, id } = await open('/endless', elicitation)
    await expect(servers.call('s.ask', {})).rejects.toMatchObject({ code: 'tool_server_failed' })
    await eventually(async () =>
      expect(await servers.get(id)).toMatchObject({
        status: 'error',
        error: 'The tool server sends too many requests',
      }),
    )
    expect(answers.length).toBeLessThanOrEqual(101)
  })
})

it('calls a tool that asks in every round a few times', async () => {
  let calls = 0
  const asking = async () => {
    calls++
    return questionsIn({ inputRequests: { a: question() }, requestState: `${calls}` })
  }
  await expect(callDeclining(asking)).rejects.toMatchObject({
    code: 'tool_failed',
    message: 'The tool asks more than 3 questions in a call',
  })
  expect(calls).toBe(4)
})

describe('questionsIn', () => {
  const asking =
    (inputRequests: unknown, more: object = {}) =>
    () =>
      questionsIn({ inputRequests, ...more })

  it('gives the questions and the state', () => {
    expect(asking({ a: question({ mode: 'form' }) }, { requestState: 's' })()).toEqual({
      questions: [{ key: 'a', message: 'Which?', schema: { type: 'object', properties: {} } }],
      state: 's',
    })
  })

  it.each([
    ['nothing', undefined],
    ['no question', {}],
    ['four questions', { a: question(), b: question(), c: question(), d: question() }],
    ['an address', { a: question({ mode: 'url', url: 'https://evil.example.com' }) }],
    ['a model', { a: { method: 'sampling/createMessage', params: {} } }],
    ['a long text', { a: question({ message: 'x'.repeat(2001) }) }],
    ['a long schema', { a: question({ requestedSchema: { a: 'x'.repeat(16_384) } }) }],
    ['no schema', { a: question({ requestedSchema: 'object' }) }],
    ['a long key', { ['k'.repeat(201)]: question() }],
    ['null', { a: null }],
  ])('refuses %s', (_, requests) => {
    expect(asking(requests)).toThrow(expect.objectContaining({ code: 'tool_failed' }))
  })

  it('refuses a state that is too long or no text', () => {
    for (const requestState of ['x'.repeat(65_537), 7, {}])
      expect(asking({ a: question() }, { requestState })).toThrow(
        expect.objectContaining({ code: 'tool_failed' }),
      )
  })

  it('gives questions within bounds or throws with a code, whatever is sent', () => {
    const value = fc.record({
      inputRequests: fc.oneof(
        fc.jsonValue(),
        fc.dictionary(
          fc.string(),
          fc.record({ method: fc.constant('elicitation/create'), params: fc.jsonValue() }),
        ),
      ),
      requestState: fc.jsonValue(),
    })
    fc.assert(
      fc.property(value, answer => {
        try {
          expect(questionsIn(answer).questions.length).toBeLessThanOrEqual(3)
        } catch (error) {
          expect(error).toMatchObject({ code: 'tool_failed' })
        }
      }),
    )
  })
})
