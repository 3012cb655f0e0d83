/** What goes to the frameworks: messages, threads; and what comes back at the end: usage, reasons, failures. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toAiInput } from '../../../src/adapters/frameworks/ai-sdk/ai-messages.ts'
import { toFinishReason, toUsage } from '../../../src/adapters/frameworks/ending.ts'
import { threadOf } from '../../../src/adapters/frameworks/history.ts'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { toLangChainMessage } from '../../../src/adapters/frameworks/langgraph/langgraph-messages.ts'
import { toOpenAiInput } from '../../../src/adapters/frameworks/openai-agents/openai-messages.ts'
import { failureOf } from '../../../src/adapters/frameworks/to-agent.ts'
import { runContextOf } from '../../../src/agents/work/perform.ts'
import { createHandler, type RunInput, ServableError } from '../../../src/index.ts'
import { aiAgent, graph, mastraAgent, openaiAgent, streaming, voltAgent } from './fakes.ts'

const url = 'https://example.com/a.png'
const input: RunInput = [
  { type: 'text', text: 'see' },
  { type: 'data', data: { a: 1 } },
  { type: 'image', data: 'iVBORw0KGgoAAA' },
  { type: 'image', data: url },
  { type: 'audio', data: 'data:audio/mpeg;base64,AAAA' },
  { type: 'file', data: 'BBBB', mimeType: 'application/pdf', filename: 'a.pdf' },
  { type: 'file', data: url, mimeType: 'text/plain' },
]

describe('an input', () => {
  it('that is text stays text', () => {
    expect([toAiInput('hi'), toOpenAiInput('hi')]).toEqual(['hi', 'hi'])
    expect(toLangChainMessage('hi')).toEqual({ role: 'user', content: 'hi' })
  })

  it('becomes a message of the AI SDK', () => {
    const content = [
      { type: 'text', text: 'see' },
      { type: 'text', text: '{"a":1}' },
      { type: 'image', image: 'iVBORw0KGgoAAA', mediaType: 'image/png' },
      { type: 'image', image: url, mediaType: 'image/*' },
      { type: 'file', data: 'data:audio/mpeg;base64,AAAA', mediaType: 'audio/mpeg' },
      { type: 'file', data: 'BBBB', mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file', data: url, mediaType: 'text/plain' },
    ]
    expect(toAiInput(input)).toEqual([{ role: 'user', content }])
  })

  it('becomes a message of OpenAI Agents', () => {
    const content = [
      { type: 'input_text', text: 'see' },
      { type: 'input_text', text: '{"a":1}' },
      { type: 'input_image', image: 'data:image/png;base64,iVBORw0KGgoAAA' },
      { type: 'input_image', image: url },
      { type: 'audio', audio: 'AAAA', format: 'mp3' },
      { type: 'input_file', file: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' },
      { type: 'input_file', file: { url } },
    ]
    expect(toOpenAiInput(input)).toEqual([{ role: 'user', content }])
  })

  it('becomes a message of LangChain', () => {
    const content = [
      { type: 'text', text: 'see' },
      { type: 'text', text: '{"a":1}' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoAAA' } },
      { type: 'image_url', image_url: { url } },
      { type: 'audio', mime_type: 'audio/mpeg', source_type: 'base64', data: 'AAAA' },
      {
        type: 'file',
        mime_type: 'application/pdf',
        source_type: 'base64',
        data: 'BBBB',
        metadata: { filename: 'a.pdf', name: 'a.pdf' },
      },
      { type: 'file', mime_type: 'text/plain', source_type: 'url', url },
    ]
    expect(toLangChainMessage(input).content).toEqual(content)
  })
})

describe('a session', () => {
  const threadFor = (sessionId?: string, identity?: string) =>
    threadOf(runContextOf({ sessionId, userId: identity, identity }))

  it('is its user’s own, and no other’s, whatever they are called', () => {
    expect([threadFor(), threadFor(undefined, 'ada')]).toEqual([undefined, undefined])
    expect([threadFor('s'), threadFor('s', 'ada')]).toEqual(['s', 'ada/s'])
    expect(threadOf(runContextOf({ sessionId: 's', userId: 'ada' }))).toBe('/ada/s')
    const id = fc.string({ unit: 'grapheme-composite', maxLength: 6 })
    const who = fc.tuple(id, fc.option(id, { nil: undefined }))
    fc.assert(
      fc.property(who, who, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b))
        expect(threadFor(...a)).not.toBe(threadFor(...b))
      }),
    )
    expect(threadFor('\ud800')).toBe(encodeURIComponent('\ufffd'))
  })

  it('is a thread of Mastra, whose resource is the user', async () => {
    const calls: unknown[][] = []
    const agent = toAgent(mastraAgent({ name: 'a', calls }))
    await agent.run('hi', { sessionId: 's', userId: 'ada', identity: 'ada' })
    await agent.run('hi', { sessionId: 's' })
    await agent.run('hi', { userId: 'ada' })
    const memories = calls.map(([, options]) => (options as { memory?: unknown }).memory)
    expect(memories).toEqual([
      { thread: 'ada/s', resource: 'ada' },
      { thread: 's', resource: 's' },
      undefined,
    ])
  })

  it('is a conversation of VoltAgent', async () => {
    const calls: unknown[][] = []
    const agent = toAgent(voltAgent({ name: 'a', calls }))
    await agent.run('hi', { sessionId: 's', userId: 'ada', identity: 'ada' })
    expect(calls[0]?.[1]).toMatchObject({ conversationId: 'ada/s', userId: 'ada' })
    await agent.run('hi')
    expect(Object.keys(calls[1]?.[1] as object)).toEqual(['abortSignal'])
  })

  it('is a thread of LangGraph; a run without one has a thread of its own', async () => {
    const calls: unknown[][] = []
    const agent = toAgent(graph({ name: 'a', calls }))
    await agent.run('hi', { sessionId: 's', runId: 'r' })
    await agent.run('hi', { runId: 'r' })
    const threads = calls.map(([, config]) => (config as { configurable: object }).configurable)
    expect(threads).toEqual([{ thread_id: 's' }, { thread_id: 'r' }])
  })

  it('resumes a thread of LangGraph that waits', async () => {
    const calls: unknown[][] = []
    const getState = async () => ({ tasks: [{ interrupts: [{ value: '?' }] }] })
    const agent = toAgent(graph({ name: 'a', calls, checkpointer: {}, getState }))
    await agent.run('yes', { sessionId: 's' })
    expect(calls[0]?.[0]).toMatchObject({ lg_name: 'Command', resume: 'yes' })
    await agent.run('hi')
    expect(calls[1]?.[0]).toMatchObject({ messages: [{ role: 'user', content: 'hi' }] })
  })

  it('goes on in LangGraph as a protocol for graphs says', async () => {
    const calls: unknown[][] = []
    const getState = async () => ({ tasks: [{ interrupts: [{ value: '?' }] }] })
    const agent = toAgent(graph({ name: 'a', calls, checkpointer: {}, getState }))
    await agent.run('hi', { sessionId: 's', metadata: { graphInput: { color: 'red' } } })
    expect(calls[0]?.[0]).toMatchObject({ color: 'red', messages: [{ role: 'user', content: 'hi' }] })
    await agent.run('hi', { sessionId: 's', metadata: { graphInput: {}, graphStart: 'c1' } })
    expect(calls[1]).toMatchObject([null, { configurable: { thread_id: 's', checkpoint_id: 'c1' } }])
  })

  it('is what the option `session` opens for OpenAI Agents', async () => {
    const given: unknown[] = []
    const run = async (_agent: unknown, _input: unknown, { session }: { session?: unknown }) => {
      given.push(session)
      return streaming([])
    }
    const agent = toAgent(openaiAgent({ name: 'a' }), { run, session: async thread => ({ thread }) })
    await agent.run('hi', { sessionId: 's', userId: 'ada', identity: 'ada' })
    await agent.run('hi')
    expect(given).toEqual([{ thread: 'ada/s' }, undefined])
  })

  it('is told before the input where the framework keeps none: AI SDK, and OpenAI Agents without the option', async () => {
    const prompts: unknown[] = []
    const stream = (call: { prompt?: unknown; messages?: unknown }) => {
      prompts.push(call.messages ?? call.prompt)
      return { fullStream: streaming([{ type: 'text-delta', text: 'Yes' }]) }
    }
    const run = async (_agent: unknown, asked: unknown) => {
      prompts.push(asked)
      const said = { type: 'raw_model_stream_event', data: { type: 'output_text_delta', delta: 'Yes' } }
      return streaming([said])
    }
    const agents = {
      ai: toAgent({ ...aiAgent({ id: 'ai' }), stream }),
      openai: toAgent(openaiAgent({ name: 'openai' }), { run }),
    }
    const handler = createHandler({ registry: false, logger: false, agents })
    for (const name of ['ai', 'openai']) {
      for (const text of ['One', 'Two']) {
        const body = JSON.stringify({ input: text, sessionId: 's' })
        const headers = { 'content-type': 'application/json' }
        const path = `http://127.0.0.1/api/agents/${name}/run`
        expect((await handler(new Request(path, { method: 'POST', headers, body }))).status).toBe(200)
      }
    }
    const [one, two] = [
      { role: 'user', content: 'One' },
      { role: 'user', content: 'Two' },
    ]
    const said = { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Yes' }] }
    expect(prompts).toEqual([
      'One',
      [one, { role: 'assistant', content: 'Yes' }, two],
      'One',
      [one, said, two],
    ])
  })
})

describe('toUsage', () => {
  it('tells what was told, or follows from it, and nothing else', () => {
    const all = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
    expect(toUsage({ inputTokens: 1, outputTokens: 2, totalTokens: 3 })).toEqual(all)
    expect(toUsage({ input_tokens: 1, output_tokens: 2 })).toEqual(all)
    expect(toUsage({ inputTokens: 1, totalTokens: 3 })).toEqual(all)
    expect(toUsage({ outputTokens: 2, totalTokens: 3 })).toEqual(all)
    for (const told of [undefined, {}, { totalTokens: 3 }, { inputTokens: 1 }, { inputTokens: Number.NaN }]) {
      expect(toUsage(told)).toBeUndefined()
    }
    expect(toUsage({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })).toBeUndefined()
  })
})

describe('toFinishReason', () => {
  it.each([
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['tool-calls', 'tool_calls'],
    ['tool_use', 'tool_calls'],
    ['content-filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
    ['end_turn', 'stop'],
    ['other', 'stop'],
    [undefined, 'stop'],
    [7, 'stop'],
  ])('of %s is %s', (told, reason) => {
    expect(toFinishReason(told)).toBe(reason)
  })
})

describe('failureOf', () => {
  it.each([
    ['its status', { status: 429, message: 'busy' }],
    ['its status code', { statusCode: 500, message: 'busy' }],
    ['its name', { name: 'AI_APICallError', message: 'busy' }],
    ['the last of several', { lastError: { statusCode: 500 }, message: 'busy' }],
    ['its cause', new Error('busy', { cause: { status: 503 } })],
  ])('knows a provider’s failure by %s', (_, error) => {
    expect(failureOf(error)).toMatchObject({ code: 'provider_failed', message: 'busy', cause: error })
  })

  it.each([
    ['an error of another kind', new Error('mine')],
    ['a success', { status: 200 }],
    ['text', 'no'],
    ['nothing', undefined],
    [
      'an error of this library',
      new ServableError('invalid_input', 'name a city', { cause: { status: 500 } }),
    ],
  ])('leaves %s as it is', (_, error) => {
    expect(failureOf(error)).toBe(error)
  })

  it.each([
    ['no such key: sk-proj-0123456789abcdef', 'no such key: [redacted]'],
    ['sent Bearer 0123456789abcdef0123 there', 'sent [redacted] there'],
    ['AKIAIOSFODNN7EXAMPLE is off', '[redacted] is off'],
    ['AIzaSyA0123456789-bcdef, no', '[redacted], no'],
    ['Bearer authentication failed, ask-somebody-elsewhere', undefined],
  ])('keeps what looks like a key to itself: %s', (text, told = text) => {
    expect(failureOf({ status: 401, message: text })).toMatchObject({
      code: 'provider_failed',
      message: told,
    })
    const error = new Error(text)
    const other = failureOf(error)
    if (told === text) expect(other).toBe(error)
    else expect(other).toMatchObject({ code: 'agent_failed', message: told, cause: error })
  })

  it('ends, also where an error is its own cause', () => {
    const error: { cause?: unknown } = {}
    error.cause = error
    expect(failureOf(error)).toBe(error)
  })
})
