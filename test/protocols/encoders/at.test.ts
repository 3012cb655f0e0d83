/** The time of an event (`at`) is no field of other protocols. */
import { describe, expect, it } from 'vitest'
import { createHandler } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { speaker } from '../../support.ts'

const text = { type: 'text', text: 'part' } as const

/** Says one event of each type. */
const says = speaker(
  'says',
  'hello',
  { type: 'thinking', text: 'hm' },
  { type: 'tool_call_start', toolCall: { id: 'c', name: 'look' } },
  { type: 'tool_call_delta', toolCallId: 'c', argumentsDelta: '{}' },
  { type: 'tool_call_end', toolCallId: 'c', result: 'seen' },
  { type: 'model_call', model: 'p/m', durationMs: 1 },
  { type: 'step', name: 's', status: 'started' },
  { type: 'step', name: 's', status: 'completed', durationMs: 1 },
  { type: 'artifact', artifactId: 'a', parts: [text] },
  { type: 'message', parts: [text] },
)

const handler = createHandler({
  serve: [says],
  a2a: true,
  publicUrl: 'http://127.0.0.1',
  runs: { measure: true, disconnect: 'continue', listAnonymous: true },
  plugins: [agUi(), aiSdkUi(), openai(), mcp({ tools: true })],
  logger: false,
})

const user = { id: 'm', role: 'user', content: 'x' }
const part = { type: 'text', text: 'x' }
const rpc = { jsonrpc: '2.0', id: 1 }
const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }

describe('no event has `at`', () => {
  it.each<[string, string, object, Record<string, string>?]>([
    [
      'AG-UI',
      '/api/agents/says/ag-ui',
      { threadId: 't', runId: 'r', messages: [user], tools: [], context: [] },
    ],
    [
      'AI SDK UI',
      '/api/agents/says/chat',
      { id: 'chat', messages: [{ id: 'm', role: 'user', parts: [part] }] },
    ],
    ['Chat Completions', '/v1/chat/completions', { model: 'says', stream: true, messages: [user] }],
    ['Responses', '/v1/responses', { model: 'says', stream: true, input: 'x' }],
    [
      'MCP',
      '/mcp',
      { ...rpc, method: 'tools/call', params: { name: 'says', arguments: { input: 'x' } } },
      { 'mcp-protocol-version': '2025-06-18' },
    ],
    ['A2A', '/agents/says', { ...rpc, method: 'message/stream', params: { message } }],
  ])('in %s', async (_, path, body, headers = {}) => {
    const accept = 'application/json, text/event-stream'
    const request = new Request(`http://127.0.0.1${path}`, jsonRequest(body, { accept, ...headers }))
    const response = await handler(request)
    const told = await response.text()
    expect(response.status, told).toBe(200)
    expect(told).toContain('hello')
    // The metadata of A2A may be anything: there a step is told as it is.
    expect(told.replaceAll(/"metadata":\{"step":\{[^}]*\}\}/g, '')).not.toMatch(/"at":\d/)
  })
})

describe('the record of a run', () => {
  it.each<[string, string, object]>([
    [
      'ag-ui',
      '/api/agents/says/ag-ui',
      { threadId: 't', runId: 'r2', messages: [user], tools: [], context: [] },
    ],
    [
      'ai-sdk-ui',
      '/api/agents/says/chat',
      { id: 'c2', messages: [{ id: 'm', role: 'user', parts: [part] }] },
    ],
    ['openai', '/v1/chat/completions', { model: 'says', messages: [user] }],
    ['http', '/api/agents/says/run', { input: 'x' }],
    ['sse', '/api/agents/says/stream', { input: 'x' }],
  ])('says that it was asked for over %s', async (transport, path, body) => {
    const response = await handler(new Request(`http://127.0.0.1${path}`, jsonRequest(body)))
    await response.text()
    const list = await handler(new Request('http://127.0.0.1/api/runs?limit=1'))
    expect((await list.json()).runs).toMatchObject([{ transport }])
  })
})
