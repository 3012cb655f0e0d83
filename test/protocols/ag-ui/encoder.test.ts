/** What the encoder of AG-UI says, and what it keeps. */
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/index.ts'
import { AgUiEncoder, type AgUiRun } from '../../../src/protocols/ag-ui/encoder.ts'
import { eventsIn } from './told.ts'

const client = { threadId: 'thread', runId: 'theirs' }
const make = (more: Partial<AgUiRun> = {}) => new AgUiEncoder({ runId: 'run', client, ...more })
const tell = (encoder: AgUiEncoder, ...events: RunEvent[]) =>
  eventsIn(events.map(event => encoder.encode(event)).join(''))
const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type)

const text = (said: string, facts: object = {}): RunEvent => ({ type: 'text', text: said, ...facts })
const call = (id: string, facts: object = {}): RunEvent => ({
  type: 'tool_call_start',
  toolCall: { id, name: 'add' },
  ...facts,
})
const ready = (toolCallId: string, args?: unknown): RunEvent => ({
  type: 'tool_call_ready',
  toolCallId,
  args,
})
const result = (toolCallId: string, value: unknown): RunEvent => ({
  type: 'tool_call_end',
  toolCallId,
  result: value,
})
const state = (data: unknown, append = false): RunEvent => ({
  type: 'artifact',
  artifactId: 'state',
  append,
  parts: [{ type: 'data', data }],
})
const stop: RunEvent = { type: 'finish', finishReason: 'stop' }

describe('the encoder of AG-UI', () => {
  it('puts calls into the message of the text before them, until one has a result', () => {
    const told = tell(
      make(),
      ...[
        text('I add. '),
        call('a'),
        ready('a', { x: 1 }),
        call('b'),
        result('a', 1),
        call('c'),
        text('Done'),
      ],
    )
    const starts = told.filter(({ type }) => /^(TOOL_CALL|TEXT_MESSAGE)_START$/.test(type))
    expect(starts.map(({ parentMessageId, messageId }) => parentMessageId ?? messageId)).toEqual([
      'run/1',
      'run/1',
      'run/1',
      'run/3',
      'run/4',
    ])
    expect(told.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
      messageId: 'run/2',
      content: '1',
    })
  })

  it('leaves out what the client has of a run that goes on', () => {
    const known = { calls: new Set(['a', 'b']), results: new Set(['b']) }
    const again = [
      call('a'),
      ready('a', {}),
      call('b'),
      ready('b', {}),
      result('a', 'yes'),
      result('b', 'no'),
    ]
    expect(tell(make(known), ...again)).toEqual([
      { type: 'TOOL_CALL_RESULT', messageId: 'run/1', toolCallId: 'a', content: 'yes', role: 'tool' },
    ])
  })

  it('tells a state, and what changes it', () => {
    const patch = [{ op: 'add', path: '/a', value: 1 }]
    const told = tell(make(), state({ b: null }), state(patch, true), state(null), state('none', true))
    expect(told).toMatchObject([
      { type: 'STATE_SNAPSHOT', snapshot: { b: null } },
      { type: 'STATE_DELTA', delta: patch },
      { type: 'STATE_SNAPSHOT', snapshot: null },
      { type: 'CUSTOM', name: 'servable.artifact', value: { artifactId: 'state', append: true } },
    ])
  })

  it('tells text inside of a call or a step apart, and ends it with that', () => {
    const told = tell(
      make(),
      ...[text('a'), call('c'), text('b', { agent: 'ann', parentId: 'c' }), text('d'), result('c', null)],
    )
    expect(types(told)).toEqual([
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'TOOL_CALL_START'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT'],
      ...['TEXT_MESSAGE_END', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'],
    ])
  })

  it('tells a member inside of a member as a subagent of a subagent', () => {
    const outer = { agent: 'ann', parentId: 'c' }
    const told = tell(
      make({ isVersion1: true }),
      ...[call('c'), call('d', outer), text('x', { agent: 'bob', parentId: 'd' }), text('y', outer), stop],
    )
    const [ann, bob] = told.filter(({ type }) => type === 'SUBAGENT_STARTED')
    expect(ann).toMatchObject({ name: 'ann', parentToolCallId: 'c' })
    expect(bob).toMatchObject({ name: 'bob', parentToolCallId: 'd', parentSubagentRunId: ann?.subagentRunId })
    expect(types(told.slice(-3))).toEqual(['SUBAGENT_FINISHED', 'SUBAGENT_FINISHED', 'RUN_FINISHED'])
  })

  it('takes places that are inside of each other', () => {
    const told = tell(
      make({ isVersion1: true }),
      ...[call('a', { agent: 'ann', parentId: 'b' }), call('b', { agent: 'bob', parentId: 'a' })],
      ...[text('x', { agent: 'cy', parentId: 'a' }), stop],
    )
    expect(types(told).at(-1)).toBe('RUN_FINISHED')
  })

  it('says nothing of an event that is no JSON, and goes on', () => {
    const encoder = make()
    const no = 1n as unknown
    tell(encoder, text('a'), call('c'))
    const events: RunEvent[] = [
      ready('c', no),
      result('c', no),
      state(no),
      { type: 'artifact', artifactId: 'x', parts: [{ type: 'data', data: no }] },
      { type: 'message', parts: [{ type: 'data', data: no }] },
      { type: 'finish', finishReason: 'stop', structured: { no } },
    ]
    for (const event of events) expect(() => encoder.encode(event)).toThrow('BigInt')
    expect(types(tell(encoder, { type: 'error', error: 'It failed', code: 'invalid_event' }))).toEqual([
      'TOOL_CALL_END',
      'RUN_ERROR',
    ])
  })

  it('keeps a thousand of each that are open, and closes the oldest', () => {
    const encoder = make({ isVersion1: true })
    const many = Array.from({ length: 1500 }, (_, at) => `${at}`)
    const told = many.flatMap(id =>
      tell(encoder, text('x', { agent: 'ann', parentId: id }), call(id), {
        type: 'step',
        id: `s${id}`,
        name: id,
        status: 'started',
      }),
    )
    const count = (type: string) => told.filter(event => event.type === type).length
    expect(count('SUBAGENT_STARTED') - count('SUBAGENT_FINISHED')).toBe(1000)
    expect(count('TOOL_CALL_START') - count('TOOL_CALL_END')).toBe(1000)
    expect(count('STEP_STARTED') - count('STEP_FINISHED')).toBe(1000)
    expect(count('TEXT_MESSAGE_START') - count('TEXT_MESSAGE_END')).toBeLessThanOrEqual(1000)
    expect(types(tell(encoder, stop)).at(-1)).toBe('RUN_FINISHED')
  })
})

describe('the end of a run', () => {
  const end = (more: object) => tell(make({ isVersion1: true }), { ...stop, ...more } as RunEvent).at(-1)

  it('tells the tokens of each model, in whole numbers', () => {
    const models = [{ model: 'a/b', promptTokens: 1.5, completionTokens: -1, totalTokens: Number.NaN }]
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, models }
    expect(end({ usage })).toMatchObject({
      usage: [{ model: 'a/b', inputTokens: 1, outputTokens: 0, totalTokens: 0 }],
    })
    expect(end({ usage: { ...usage, models: [] } })).toMatchObject({ usage: [{ totalTokens: 3 }] })
  })

  it('has no null', () => {
    const told = end({ structured: null, usage: undefined })
    expect(told).toEqual({
      type: 'RUN_FINISHED',
      ...client,
      outcome: { type: 'success' },
      metadata: { servable: { finishReason: 'stop' } },
    })
  })

  it.each([
    ['length', 'success'],
    ['auth_required', 'success'],
    ['rejected', 'success'],
    ['cancelled', 'cancelled'],
  ])('with the reason %s is %s', (finishReason, type) => {
    expect(end({ finishReason })).toMatchObject({
      outcome: { type },
      metadata: { servable: { finishReason } },
    })
  })

  it('says what an approval takes', () => {
    const schema = { type: 'object' }
    const request = { id: 'run/a', kind: 'approval', toolCallId: 'c', schema, editable: true, digest: 'd' }
    expect(end({ finishReason: 'input_required', requests: [request] })).toMatchObject({
      outcome: {
        type: 'interrupt',
        interrupts: [{ id: 'run/a', responseSchema: { properties: { editedArgs: schema } } }],
      },
    })
  })
})
