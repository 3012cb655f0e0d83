/** What the streams of frameworks become, part by part. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AiParts } from '../../../src/adapters/frameworks/ai-sdk/ai-parts.ts'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { LangGraphItems } from '../../../src/adapters/frameworks/langgraph/langgraph-items.ts'
import { OpenAiEvents } from '../../../src/adapters/frameworks/openai-agents/openai-events.ts'
import { isRunEvent } from '../../../src/agents/event.ts'
import type { RunEvent } from '../../../src/index.ts'
import { drain, listenersOf, terminalsIn } from '../../support.ts'
import { aiAgent, graph, mastraAgent, openaiAgent, streaming, voltAgent } from './fakes.ts'

const eventsOfAi = (...parts: unknown[]) => drain(toAgent(aiAgent({ id: 'a', parts })).stream!(''))
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
const told = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
const finish = { type: 'finish', finishReason: 'stop' }

describe('AI SDK parts', () => {
  it('give each tool call one start, its arguments once and one end', async () => {
    const events = await eventsOfAi(
      { type: 'tool-input-start', id: '1', toolName: 'look' },
      { type: 'tool-input-delta', id: '1', delta: '{"a":' },
      { type: 'tool-input-delta', id: '1', delta: '1}' },
      { type: 'tool-call', toolCallId: '1', toolName: 'look', input: { a: 1 } },
      { type: 'tool-result', toolCallId: '1', output: 'half', preliminary: true },
      { type: 'tool-result', toolCallId: '1', output: 'whole' },
      { type: 'tool-error', toolCallId: '1', error: new Error('too late') },
      { type: 'tool-call', toolCallId: '2', toolName: 'listen', input: [] },
      { type: 'tool-error', toolCallId: '2', error: new Error('deaf') },
      { type: 'tool-call', toolCallId: '3', toolName: 'rm', input: {} },
      { type: 'tool-output-denied', toolCallId: '3' },
      { type: 'tool-result', toolCallId: 'never began', output: 1 },
      { type: 'finish', finishReason: 'tool-calls', totalUsage: usage },
    )
    expect(events).toEqual([
      { type: 'tool_call_start', toolCall: { id: '1', name: 'look' } },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '{"a":' },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '1}' },
      { type: 'tool_call_ready', toolCallId: '1', args: { a: 1 } },
      { type: 'tool_call_end', toolCallId: '1', result: 'whole' },
      { type: 'tool_call_start', toolCall: { id: '2', name: 'listen' } },
      { type: 'tool_call_delta', toolCallId: '2', argumentsDelta: '[]' },
      { type: 'tool_call_ready', toolCallId: '2', args: [] },
      { type: 'tool_call_end', toolCallId: '2', error: 'deaf' },
      { type: 'tool_call_start', toolCall: { id: '3', name: 'rm' } },
      { type: 'tool_call_delta', toolCallId: '3', argumentsDelta: '{}' },
      { type: 'tool_call_ready', toolCallId: '3', args: {} },
      {
        type: 'tool_call_end',
        toolCallId: '3',
        error: 'The call was not allowed',
        code: 'approval_denied',
      },
      { type: 'finish', finishReason: 'tool_calls', usage: told },
    ])
  })

  it('take an id that begins again after its call for another call', async () => {
    const call = (city: string) => [
      { type: 'tool-input-start', id: 'call_0', toolName: 'look' },
      { type: 'tool-input-delta', id: 'call_0', delta: `{"city":"${city}"}` },
      { type: 'tool-call', toolCallId: 'call_0', toolName: 'look', input: { city } },
      { type: 'tool-result', toolCallId: 'call_0', output: city },
      { type: 'tool-input-delta', id: 'call_0', delta: 'too late' },
    ]
    const whole = { type: 'tool-call', toolCallId: 'call_0', toolName: 'hear', input: {} }
    const agent = toAgent(aiAgent({ id: 'a', parts: [...call('a'), ...call('b'), whole] }))
    const { toolCalls } = await agent.run('')
    expect(toolCalls).toMatchObject([
      { toolCallId: 'call_0', toolName: 'look', args: { city: 'a' }, result: 'a' },
      { toolName: 'look', args: { city: 'b' }, result: 'b' },
      { toolName: 'hear', args: {} },
    ])
    expect(new Set(toolCalls.map(({ toolCallId }) => toolCallId)).size).toBe(3)
  })

  it('wait for a person where a tool needs to be allowed', async () => {
    const [last] = terminalsIn(
      await eventsOfAi({ type: 'tool-approval-request' }, { type: 'finish', finishReason: 'tool-calls' }),
    )
    expect(last).toEqual({ type: 'finish', finishReason: 'input_required' })
  })

  it('make artifacts of files', async () => {
    const [image, pdf] = await eventsOfAi(
      { type: 'file', file: { base64: 'AAAA', mediaType: 'image/png' } },
      { type: 'file', file: { base64: 'BBBB', mediaType: 'application/pdf' } },
      { type: 'file', file: {} },
    )
    expect(image).toMatchObject({ type: 'artifact', parts: [{ type: 'image', data: 'AAAA' }] })
    expect(pdf).toMatchObject({ parts: [{ type: 'file', data: 'BBBB', mimeType: 'application/pdf' }] })
  })

  it('fail the run with a part that is an error, and with a finish that is one', async () => {
    await expect(eventsOfAi({ type: 'error', error: new Error('broken') })).rejects.toThrow('broken')
    await expect(
      eventsOfAi({ type: 'error', error: { statusCode: 503, message: 'busy' } }),
    ).rejects.toMatchObject({
      code: 'provider_failed',
      message: 'busy',
    })
    await expect(eventsOfAi({ type: 'error' })).rejects.toMatchObject({ code: 'provider_failed' })
    await expect(eventsOfAi({ type: 'finish', finishReason: 'error' })).rejects.toMatchObject({
      code: 'provider_failed',
    })
  })

  it('tell of a run that the framework stopped', async () => {
    const events = await eventsOfAi({ type: 'abort' }, { type: 'finish', finishReason: 'stop' })
    expect(events).toEqual([{ type: 'finish', finishReason: 'cancelled' }])
  })

  it('come of an agent whose `onError` writes nothing to the console, and leave one that is given', async () => {
    const given = { model: 'm', prepareCall: async (call: object) => ({ kept: call }) }
    const agent = aiAgent({ id: 'a', settings: given }) as {
      settings: Record<string, (call?: unknown) => unknown>
    }
    await drain(toAgent(agent).stream!(''))
    expect(agent.settings.onError?.()).toBeUndefined()
    expect(await agent.settings.prepareCall?.(1)).toEqual({ onError: expect.any(Function), kept: 1 })
    expect(Object.keys(given)).toEqual(['model', 'prepareCall'])
    const settings = { onError() {} }
    const own = aiAgent({ id: 'a', settings }) as { settings: object }
    await drain(toAgent(own).stream!(''))
    expect(own.settings).toBe(settings)
    expect(await drain(toAgent(Object.freeze(aiAgent({ id: 'a', settings: {} }))).stream!(''))).toEqual([
      finish,
    ])
  })

  it('give an output that is an object, and fail where it does not fit', async () => {
    const agentWith = (output: unknown) => toAgent(aiAgent({ id: 'a', output }))
    expect((await agentWith(Promise.resolve({ a: 1 })).run('')).structured).toEqual({ a: 1 })
    expect((await agentWith(Promise.resolve('text')).run('')).structured).toBeNull()
    const none = Promise.reject(new Error('there is none'))
    expect((await agentWith(none).run('')).structured).toBeNull()
    const misfit = Promise.reject(Object.assign(new Error('no'), { name: 'AI_NoObjectGeneratedError' }))
    await expect(agentWith(misfit).run('')).rejects.toThrow('no')
  })

  it('leave no listener on the signal of the caller', async () => {
    const { signal } = new AbortController()
    await drain(
      toAgent(aiAgent({ id: 'a', parts: [{ type: 'text-delta', text: 'x' }] })).stream!('', { signal }),
    )
    expect(listenersOf(signal)).toBe(0)
  })
})

describe('VoltAgent parts', () => {
  it('show an error of a tool as one, without its stack', async () => {
    const parts = [
      { type: 'tool-call', toolCallId: '1', toolName: 'look', input: {} },
      {
        type: 'tool-result',
        toolCallId: '1',
        output: { error: true, message: 'dark', stack: 'at secret.ts' },
      },
    ]
    const events = await drain(toAgent(voltAgent({ name: 'a', parts })).stream!(''))
    expect(events[3]).toEqual({ type: 'tool_call_end', toolCallId: '1', error: 'dark' })
  })
})

describe('Mastra chunks', () => {
  it('say the same in other words', async () => {
    const payload = { toolCallId: '1', toolName: 'look' }
    const parts = [
      { type: 'reasoning-delta', payload: { text: 'hm' } },
      { type: 'tool-call-input-streaming-start', payload },
      { type: 'tool-call-delta', payload: { ...payload, argsTextDelta: '{}' } },
      { type: 'tool-call', payload: { ...payload, args: {} } },
      { type: 'tool-result', payload: { ...payload, result: 5 } },
      { type: 'file', payload: { data: 'AAAA', mimeType: 'audio/wav' } },
      { type: 'object-result', object: { a: 1 } },
      { type: 'finish', payload: { stepResult: { reason: 'length' }, output: { usage } } },
    ]
    const events = await drain(toAgent(mastraAgent({ name: 'a', parts })).stream!(''))
    expect(events.map(({ type }) => type)).toEqual([
      'thinking',
      'tool_call_start',
      'tool_call_delta',
      'tool_call_ready',
      'tool_call_end',
      'artifact',
      'finish',
    ])
    expect(events.at(-1)).toEqual({
      type: 'finish',
      finishReason: 'length',
      usage: told,
      structured: { a: 1 },
    })
  })

  it('tell of a run that a processor refused', async () => {
    const parts = [{ type: 'tripwire', payload: { reason: 'no' } }]
    expect(await drain(toAgent(mastraAgent({ name: 'a', parts })).stream!(''))).toEqual([
      { type: 'finish', finishReason: 'rejected' },
    ])
  })

  it('tell the tools once they are known, and survive not knowing them', async () => {
    const agent = toAgent(mastraAgent({ name: 'a', listTools: async () => ({ look: {} }) }))
    const shy = toAgent(mastraAgent({ name: 'b', listTools: () => Promise.reject(new Error('who asks?')) }))
    await new Promise(resolve => setImmediate(resolve))
    expect(agent.tools?.map(({ name }) => name)).toEqual(['look'])
    expect(shy.tools).toEqual([])
  })
})

const ai = (fields: object) => ({ type: 'ai', id: 'm', ...fields })
const message = (fields: object, metadata = {}) => ['messages', [ai(fields), metadata]]
const eventsOfGraph = (...parts: unknown[]) => drain(toAgent(graph({ name: 'g', parts })).stream!(''))

describe('LangGraph items', () => {
  it('follow the pieces of a call by their place, of two calls at once', async () => {
    const piece = (fields: object) => message({ content: '', tool_call_chunks: [fields] })
    const events = await eventsOfGraph(
      piece({ id: '1', name: 'look', args: '{"a"', index: 0 }),
      piece({ id: '2', name: 'hear', args: '{', index: 1 }),
      piece({ args: ':1}', index: 0 }),
      piece({ args: '}', index: 1 }),
      piece({ args: 'nobody knows', index: 2 }),
      ['messages', [{ type: 'tool', tool_call_id: '1', content: 'seen', status: 'success' }]],
      ['messages', [{ type: 'tool', tool_call_id: '2', content: 'deaf', status: 'error' }]],
    )
    const argsOf = (id: string) =>
      events.map(event =>
        event.type === 'tool_call_delta' && event.toolCallId === id ? event.argumentsDelta : '',
      )
    expect([argsOf('1').join(''), argsOf('2').join('')]).toEqual(['{"a":1}', '{}'])
    expect(events.slice(-3)).toEqual([
      { type: 'tool_call_end', toolCallId: '1', result: 'seen' },
      { type: 'tool_call_end', toolCallId: '2', error: 'deaf' },
      finish,
    ])
  })

  it('tell a call of an id again only where another message asks for it', async () => {
    const asks = (id: string, a: number) =>
      message({ id, content: '', tool_calls: [{ id: '0', name: 'look', args: { a } }] })
    const answers = ['messages', [{ type: 'tool', tool_call_id: '0', content: 'seen', status: 'success' }]]
    const events = await eventsOfGraph(
      ...[asks('m', 1), answers, asks('m', 1), answers],
      ...[asks('n', 2), answers],
    )
    expect(events.flatMap(event => (event.type === 'tool_call_delta' ? event.argumentsDelta : []))).toEqual([
      '{"a":1}',
      '{"a":2}',
    ])
    expect(events.filter(({ type }) => type === 'tool_call_end')).toHaveLength(2)
  })

  it('take a message that comes whole, with its calls, thoughts, usage and reason', async () => {
    const events = await eventsOfGraph(
      message({
        content: [
          { type: 'reasoning', reasoning: 'hm' },
          { type: 'text', text: 'well' },
        ],
        tool_calls: [{ id: '1', name: 'look', args: { a: 1 } }, { name: 'no id' }],
        usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
        response_metadata: { finish_reason: 'length' },
      }),
    )
    expect(events).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'well' },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'look' } },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '{"a":1}' },
      { type: 'tool_call_ready', toolCallId: '1', args: { a: 1 } },
      { type: 'model_call', usage: told, finishReason: 'length' },
      { type: 'finish', finishReason: 'length', usage: told },
    ])
  })

  it('say nothing for people, nor for the node that fills a schema', async () => {
    const events = await eventsOfGraph(
      ['messages', [{ type: 'human', content: 'me' }]],
      message({ content: '{"a":1}' }, { langgraph_node: 'generate_structured_response' }),
      ['updates', { generate_structured_response: { structuredResponse: { a: 1 } } }],
    )
    expect(events).toEqual([{ ...finish, structured: { a: 1 } }])
  })

  it('take a plain object of a node for a message', async () => {
    const messages = [
      { role: 'user', content: 'me' },
      { role: 'assistant', content: 'plain' },
    ]
    const events = await eventsOfGraph(['updates', { one: { messages }, two: { messages: messages[1] } }])
    expect(events).toEqual([{ type: 'text', text: 'plain' }, { type: 'text', text: 'plain' }, finish])
  })

  it('ask what an interrupt asks', async () => {
    const events = await eventsOfGraph([
      'updates',
      { __interrupt__: [{ id: 'i', value: 'Shall I?' }, { value: { a: 1 } }] },
    ])
    expect(events).toMatchObject([
      { type: 'text', text: 'Shall I?' },
      { type: 'artifact', name: 'interrupt', parts: [{ type: 'data', data: { a: 1 } }] },
      { type: 'finish', finishReason: 'input_required' },
    ])
  })
})

const openai = (stream: object | Promise<object>, options = {}) =>
  toAgent(openaiAgent({ name: 'a' }), { run: async () => stream, ...options })
const withEvents = (events: readonly unknown[], rest: object) => Object.assign(streaming(events), rest)

describe('OpenAI Agents events', () => {
  it('tell hosted tools and what the model thinks', async () => {
    const call = { type: 'hosted_tool_call', id: 'h', name: 'web_search', output: 'found' }
    const stream = withEvents(
      [
        {
          type: 'raw_model_stream_event',
          data: { type: 'model', event: { choices: [{ delta: { reasoning: 'hm' } }] } },
        },
        { type: 'run_item_stream_event', name: 'tool_called', item: { rawItem: call } },
        { type: 'run_item_stream_event', name: 'handoff_occurred', item: {} },
      ],
      { runContext: { usage }, finalOutput: { a: 1 }, interruptions: [] },
    )
    expect(await drain(openai(stream).stream!(''))).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'tool_call_start', toolCall: { id: 'h', name: 'web_search' } },
      { type: 'tool_call_ready', toolCallId: 'h' },
      { type: 'tool_call_end', toolCallId: 'h', result: 'found' },
      { ...finish, usage: told, structured: { a: 1 } },
    ])
  })

  it('wait where a tool needs to be allowed', async () => {
    const stream = withEvents([], { interruptions: [{}], finalOutput: { a: 1 } })
    expect(await drain(openai(stream).stream!(''))).toEqual([
      { type: 'finish', finishReason: 'input_required' },
    ])
  })

  it('tell of a run that a guardrail refused', async () => {
    class InputGuardrailTripwireTriggered extends Error {}
    const refused = Promise.reject(new InputGuardrailTripwireTriggered('no'))
    expect(await drain(openai(refused).stream!(''))).toEqual([{ type: 'finish', finishReason: 'rejected' }])
  })

  it('fail with what the run rejects with, once', async () => {
    const completed = Promise.reject(new Error('broken'))
    await expect(drain(openai(withEvents([], { completed })).stream!(''))).rejects.toThrow('broken')
  })
})

describe('what no framework should send', () => {
  const readers = { AiParts, LangGraphItems, OpenAiEvents }
  const types = fc.constantFrom(
    ...[
      'text-delta',
      'reasoning-delta',
      'tool-call',
      'tool-result',
      'tool-input-delta',
      'tool-error',
      'file',
      'abort',
    ],
    ...[
      'raw_model_stream_event',
      'run_item_stream_event',
      'messages',
      'updates',
      'tool_called',
      'tool_output',
      'ai',
      'tool',
    ],
  )
  const value = fc.letrec(tie => ({
    any: fc.oneof({ depthSize: 'small' }, types, fc.jsonValue({ maxDepth: 1 }), tie('record'), tie('list')),
    record: fc.dictionary(
      fc.constantFrom(
        'type',
        'text',
        'id',
        'toolCallId',
        'toolName',
        'input',
        'output',
        'error',
        'data',
        'name',
        'item',
        'rawItem',
        'delta',
        'content',
        'tool_calls',
        'tool_call_chunks',
        'tool_call_id',
        'file',
        'args',
        'index',
        'event',
        'choices',
        '__interrupt__',
      ),
      tie('any'),
    ),
    list: fc.array(tie('any'), { maxLength: 3 }),
  })).any

  it.each(Object.entries(readers))('makes %s say nothing, or events as they must be', (_, Reader) => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), parts => {
        const reader = new Reader()
        const events: RunEvent[] = parts.flatMap(part => [...reader.read(part)])
        expect(events.filter(event => !isRunEvent(event))).toEqual([])
      }),
    )
  })
})
