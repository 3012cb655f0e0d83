/** Whatever a run says, clients of Responses get it once, in the order that strict ones demand. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FinishEvent, RunEvent } from '../../../src/index.ts'
import { approvalIdOf, callIdOf, runOf } from '../../../src/protocols/models/ids.ts'
import { ResponseEncoder, type ResponseOptions } from '../../../src/protocols/openai/responses/encoder.ts'
import { acts, endings, expectSaid, played, REQUESTS, RUN_ID } from './any-run.ts'
import { eventsIn, type Item, type ResponseObject, readStrictly } from './response-stream.ts'

const about: ResponseOptions = {
  ...{ runId: RUN_ID, model: 'm', createdMs: 1_700_000_000_000, isStream: true, isJson: false },
  ...{ isStored: true, maxLength: 1_000_000, body: {}, clientTools: undefined, previous: undefined },
  ...{ isBackground: false, isQueued: false, isKept: true, toolCalls: 'mcp_call', answered: [] },
}

/** A run as a stream. */
function streamed(events: readonly RunEvent[], more: Partial<ResponseOptions> = {}): string {
  const encoder = new ResponseEncoder({ ...about, ...more })
  return encoder.begin() + events.map(event => encoder.encode(event)).join('')
}

/** A run as one object. */
function answered(events: readonly RunEvent[], more: Partial<ResponseOptions> = {}): ResponseObject {
  const encoder = new ResponseEncoder({ ...about, ...more, isStream: false })
  for (const event of events) expect(encoder.encode(event)).toBe('')
  return JSON.parse(JSON.stringify(encoder.answer))
}

const itemsOf = ({ output }: ResponseObject, type: string) => output.filter(item => item.type === type)
const spoken = (items: readonly Item[]) =>
  items
    .flatMap(item => (item.content ?? item.summary) as { text: string }[])
    .map(({ text }) => text)
    .join('')

const STATUS: Readonly<Record<string, string>> = {
  ...{ error: 'failed', timeout: 'failed', cancelled: 'cancelled' },
  ...{ length: 'incomplete', tool_calls: 'incomplete', rejected: 'incomplete' },
}

const modes = fc.record({
  isStored: fc.boolean(),
  isBackground: fc.boolean(),
  toolCalls: fc.constantFrom('mcp_call' as const, 'hidden' as const),
  isJson: fc.boolean(),
})

describe('a response of any run', () => {
  it('is told in order, and its last event has what its object is', () => {
    fc.assert(
      fc.property(acts, endings, modes, (all, ending, mode) => {
        const { events } = played(all, ending, mode.isStored)
        const last = readStrictly(streamed(events, mode))
        expect(answered(events, mode)).toEqual(last)
        expect(last.status).toBe(STATUS[ending] ?? 'completed')
        expect(last.error !== null).toBe(last.status === 'failed')
        expect(last.incomplete_details !== null).toBe(last.status === 'incomplete')
        for (const { id, type } of last.output) expect([type, runOf(id)]).toEqual([type, RUN_ID])
      }),
      { numRuns: 1500 },
    )
  })

  it('has all text, all thoughts, and each call once', () => {
    fc.assert(
      fc.property(acts, endings, fc.boolean(), (all, ending, isStored) => {
        const body = played(all, ending, isStored)
        const last = answered(body.events, { isStored })
        expectSaid(spoken(itemsOf(last, 'message')), body.text, ending)
        expectSaid(spoken(itemsOf(last, 'reasoning')), body.thoughts, 'length')
        expect(itemsOf(last, 'mcp_call')).toHaveLength(body.ended.length)
        const asked = REQUESTS[ending] ?? []
        const idsOfKind = (kind: string) =>
          asked.flatMap(request => (request.kind === kind ? (request.toolCallId ?? '') : []))
        expect(itemsOf(last, 'mcp_approval_request').map(({ id }) => id)).toEqual(
          idsOfKind('approval').map(id => approvalIdOf(RUN_ID, id)),
        )
        expect(itemsOf(last, 'function_call').map(item => item.call_id)).toEqual(
          idsOfKind('client_tool').map(id => callIdOf(RUN_ID, id)),
        )
      }),
      { numRuns: 1000 },
    )
  })

  it('is told from its log in the same words, after any event', () => {
    fc.assert(
      fc.property(acts, endings, modes, fc.nat(60), (all, ending, mode, after) => {
        const { events } = played(all, ending, true)
        const stored = { ...mode, isStored: true }
        const whole = streamed(events, stored)
        expect(streamed(structuredClone(events), stored)).toBe(whole)
        const messages = whole.split('\n\n').filter(message => message.startsWith('event:'))
        const tail = messages.slice(after + 1).map(message => `${message}\n\n`)
        const done = tail.length > 0 ? 'data: [DONE]\n\n' : ''
        expect(streamed(events, { ...stored, after })).toBe(tail.join('') + done)
      }),
      { numRuns: 500 },
    )
  })

  it('has no tools of the server where they are hidden, and no text where JSON is asked for', () => {
    fc.assert(
      fc.property(acts, endings, (all, ending) => {
        const { events } = played(all, ending, true)
        expect(itemsOf(answered(events, { toolCalls: 'hidden' }), 'mcp_call')).toEqual([])
        const said = spoken(itemsOf(answered(events, { isJson: true }), 'message'))
        const isAsked = (REQUESTS[ending] ?? []).some(({ kind }) => kind === 'question')
        expect(said).toBe(ending === 'stop' ? '{"a":null}' : isAsked ? 'Which?' : '')
      }),
    )
  })
})

const text = (told: string, agent?: string): RunEvent => ({
  type: 'text',
  text: told,
  ...(agent && { agent }),
})
const stop = (more: Partial<FinishEvent> & { readonly at?: number } = {}): RunEvent => ({
  ...{ type: 'finish', finishReason: 'stop' },
  ...more,
})
const start = (id: string, isClientTool?: true): RunEvent => ({
  ...{ type: 'tool_call_start', toolCall: { id, name: 'pay' } },
  ...(isClientTool && { isClientTool }),
})

describe('a response', () => {
  it('has every field that Open Responses demands', () => {
    const body = { user: 'u', instructions: 'Be brief', metadata: { a: 'b' }, conversation: 'c', x: 1 }
    expect(answered([text('a'), stop({ at: 2000 })], { body })).toEqual({
      ...{ id: `resp_${RUN_ID.replaceAll('-', '')}`, object: 'response', model: 'm', status: 'completed' },
      ...{ created_at: 1_700_000_000, completed_at: 1_700_000_002, error: null, incomplete_details: null },
      ...{
        previous_response_id: null,
        instructions: 'Be brief',
        conversation: { id: 'c' },
        user: 'u',
        safety_identifier: null,
      },
      ...{ prompt_cache_key: null, tools: [], tool_choice: 'auto', text: { format: { type: 'text' } } },
      ...{
        metadata: { a: 'b' },
        store: true,
        background: false,
        truncation: 'disabled',
        service_tier: 'default',
      },
      ...{ parallel_tool_calls: true, reasoning: null, temperature: 1, top_p: 1, presence_penalty: 0 },
      ...{ frequency_penalty: 0, top_logprobs: 0, max_output_tokens: null, max_tool_calls: null },
      usage: {
        ...{ input_tokens: 0, input_tokens_details: { cached_tokens: 0 }, output_tokens: 0 },
        ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 },
      },
      output: [
        {
          ...{ type: 'message', id: `msg_${RUN_ID.replaceAll('-', '')}_0`, role: 'assistant' },
          status: 'completed',
          content: [{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }],
        },
      ],
    })
  })

  it('goes on in the middle of a text after a crash', () => {
    const events: RunEvent[] = [
      ...[text('Hello '), text('wor')],
      { type: 'resumed' },
      ...[text('Hello world'), text('!'), stop()],
    ]
    const { events: told } = eventsIn(streamed(events))
    expect(told.flatMap(({ delta }) => delta ?? [])).toEqual(['Hello ', 'wor', 'ld', '!'])
    expect(itemsOf(readStrictly(streamed(events)), 'message')).toHaveLength(1)
  })

  it('has what a run says instead after a crash', () => {
    const events: RunEvent[] = [text('Hello'), { type: 'resumed' }, text('Other'), stop()]
    expect(spoken(readStrictly(streamed(events)).output)).toBe('HelloOther')
  })

  it('has what members say, in its order, once, also after a crash', () => {
    const events = [text('a', 'ann'), text('b', 'bob'), text('c', 'ann')]
    const again: RunEvent[] = [{ type: 'resumed' }, text('b', 'bob'), text('ac', 'ann'), text('d', 'bob')]
    expect(spoken(readStrictly(streamed([...events, ...again, stop()])).output)).toBe('abcd')
  })

  it('tells a call of a tool with its output, or with what it failed with', () => {
    const events: RunEvent[] = [
      start('one'),
      { type: 'tool_call_ready', toolCallId: 'one', args: { a: 1 } },
      { type: 'tool_call_end', toolCallId: 'one', result: { b: 2 } },
      start('two'),
      { type: 'tool_call_ready', toolCallId: 'two' },
      { type: 'tool_call_end', toolCallId: 'two', error: 'no' },
      stop(),
    ]
    expect(readStrictly(streamed(events)).output).toMatchObject([
      {
        type: 'mcp_call',
        name: 'pay',
        arguments: '{"a":1}',
        output: '{"b":2}',
        error: null,
        status: 'completed',
      },
      { type: 'mcp_call', name: 'pay', arguments: '{}', output: null, error: 'no', status: 'failed' },
    ])
  })

  it('names the approval of a call that was asked for', () => {
    const answer = REQUESTS.approval ?? []
    const end: RunEvent = { type: 'tool_call_end', toolCallId: 'approved-call', result: 'paid' }
    const { output } = readStrictly(streamed([start('approved-call'), end, stop()], { answered: answer }))
    expect(output).toMatchObject([
      { name: 'pay', arguments: '{"amount":5}', approval_request_id: approvalIdOf(RUN_ID, 'approved-call') },
    ])
  })

  it('gives a client arguments that are JSON, whatever its agent says of them', () => {
    const requests = (REQUESTS.client_tool ?? []).map(({ args: _, ...request }) => request)
    const asks: RunEvent = { type: 'finish', finishReason: 'input_required', requests }
    expect(answered([asks]).output).toMatchObject([{ type: 'function_call', arguments: '{}' }])
  })

  it('does not tell again what the client has answered', () => {
    const end: RunEvent = { type: 'tool_call_end', toolCallId: 'late-call', result: 'red' }
    const events = [start('late-call', true), end, text('Red.'), stop()]
    const { output } = readStrictly(streamed(events, { answered: REQUESTS.client_tool ?? [] }))
    expect(output.map(({ type }) => type)).toEqual(['message'])
  })

  it('has a bound, also as a stream', () => {
    const encoder = new ResponseEncoder({ ...about, isStored: false, maxLength: 5 })
    encoder.encode(text('12345'))
    expect(() => encoder.encode(text('6'))).toThrow(expect.objectContaining({ code: 'run_too_large' }))
    const error: RunEvent = { type: 'error', code: 'run_too_large', error: 'Too large' }
    expect(encoder.encode(error)).toContain('response.failed')
  })
})
