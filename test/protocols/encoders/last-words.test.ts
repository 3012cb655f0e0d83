/** What a run says about its end reaches the clients of every protocol. */
import { describe, expect, it } from 'vitest'
import { endMessageOf } from '../../../src/agents/fold.ts'
import { Agent, createHandler, type RunInput } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

const agent = (name: string, text: string, message: RunInput) =>
  new Agent({ name, register: false, run: () => ({ text, message }) })

const handler = createHandler({
  serve: [
    agent('asks', '', 'Which city?'),
    agent('adds', 'It is sunny.', [{ type: 'text', text: 'Tomorrow is not known.' }]),
  ],
  registry: false,
  plugins: [agUi(), aiSdkUi(), mcp({ tools: true }), openai()],
  logger: false,
})

const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<string> => {
  const response = await handler(new Request(`http://127.0.0.1${path}`, jsonRequest(body, headers)))
  expect(response.status).toBe(200)
  return response.text()
}

const said = { role: 'user', content: 'hi' }

/** How the clients of each protocol ask an agent, whose answer is text. */
const WAYS: Readonly<Record<string, (agent: string) => Promise<string>>> = {
  'AG-UI': agent =>
    post(`/api/agents/${agent}/ag-ui`, {
      threadId: 't',
      runId: 'r',
      messages: [{ id: 'm', ...said }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  'the AI SDK': agent =>
    post(`/api/agents/${agent}/chat`, {
      id: 'c',
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    }),
  'chat completions': model => post('/v1/chat/completions', { model, messages: [said] }),
  'chat completions, as a stream': model =>
    post('/v1/chat/completions', { model, messages: [said], stream: true }),
  responses: model => post('/v1/responses', { model, input: 'hi', store: false }),
  MCP: name =>
    post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { input: 'hi' } } },
      { accept: 'application/json, text/event-stream' },
    ),
  'HTTP, as JSON': agent => post(`/api/agents/${agent}/run`, { input: 'hi' }),
  'HTTP, as a stream': agent => post(`/api/agents/${agent}/stream`, { input: 'hi' }),
}

describe.each(Object.entries(WAYS))('what a run says about its end: %s', (_, ask) => {
  it('is told where it says nothing else', async () => {
    expect(await ask('asks')).toContain('Which city?')
  })

  it('is told once, after the answer', async () => {
    const text = await ask('adds')
    const [before = '', after = '', ...rest] = text.split('Tomorrow is not known.')
    expect(before).toContain('It is sunny.')
    expect(after).not.toContain('It is sunny.')
    // The whole comes again at the end of some.
    expect(rest.length).toBeLessThan(3)
  })
})

describe('lastWordsOf', () => {
  it.each([undefined, '', []])('knows of none: %j', message => {
    expect(endMessageOf({ type: 'finish', finishReason: 'stop', message })).toBeUndefined()
  })
})
