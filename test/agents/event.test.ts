import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorOf, FINISH_REASONS, isRunEvent, isTerminal } from '../../src/agents/event.ts'
import type { RunEvent } from '../../src/index.ts'

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

const good: RunEvent[] = [
  { type: 'text', text: '' },
  { type: 'thinking', text: 'x' },
  { type: 'tool_call_start', toolCall: { id: '1', name: 't' } },
  { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '' },
  { type: 'tool_call_end', toolCallId: '1' },
  { type: 'tool_call_end', toolCallId: '1', error: 'x' },
  { type: 'step', name: 's', status: 'progress', text: 'x' },
  { type: 'artifact', artifactId: '1', parts: [] },
  { type: 'artifact', artifactId: '1', parts: [{ type: 'file', data: 'x', mimeType: 'a/b' }] },
  {
    type: 'message',
    parts: [
      { type: 'text', text: 'x' },
      { type: 'image', data: 'x' },
    ],
  },
  { type: 'finish', finishReason: 'stop', usage, structured: null },
  { type: 'error', error: 'x', code: 'made_up' },
]

const bad: unknown[] = [
  undefined,
  null,
  5,
  'text',
  [],
  {},
  { type: undefined },
  { type: 'constructor' },
  { type: '__proto__' },
  { type: ['text'], text: 'x' },
  { type: 'text' },
  { type: 'text', text: 5 },
  { type: 'thinking', text: null },
  { type: 'tool_call_start', toolCall: null },
  { type: 'tool_call_start', toolCall: { id: 1, name: 't' } },
  { type: 'tool_call_start', toolCall: { id: '1' } },
  { type: 'tool_call_delta', toolCallId: '1' },
  { type: 'tool_call_delta', argumentsDelta: '' },
  { type: 'tool_call_end' },
  { type: 'tool_call_end', toolCallId: '1', error: {} },
  { type: 'step', name: 's', status: 'done' },
  { type: 'step', status: 'started' },
  { type: 'artifact', artifactId: 1, parts: [] },
  { type: 'artifact', artifactId: '1', parts: {} },
  { type: 'artifact', artifactId: '1', parts: [null] },
  { type: 'artifact', artifactId: '1', parts: [{ type: 'text' }] },
  { type: 'message', parts: [{ type: 'image' }] },
  { type: 'finish' },
  { type: 'finish', finishReason: 'tired' },
  { type: 'finish', finishReason: 'stop', usage: {} },
  { type: 'finish', finishReason: 'stop', usage: { ...usage, totalTokens: Number.NaN } },
  { type: 'finish', finishReason: 'stop', usage: { ...usage, promptTokens: '1' } },
  { type: 'finish', finishReason: 'stop', structured: 'x' },
  { type: 'error', error: 'x' },
  { type: 'error', code: 'x' },
]

describe('isRunEvent', () => {
  it.each(good)('takes %j', event => {
    expect(isRunEvent(event)).toBe(true)
  })

  it.each(bad.map(value => [value]))('refuses %j', value => {
    expect(isRunEvent(value)).toBe(false)
  })

  it('lets unknown fields through', () => {
    expect(isRunEvent({ type: 'text', text: 'x', extra: 1 })).toBe(true)
  })

  it.each(FINISH_REASONS)('takes the finish reason %s', finishReason => {
    expect(isRunEvent({ type: 'finish', finishReason })).toBe(true)
  })

  it('answers for anything', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), value => {
        expect(typeof isRunEvent(value)).toBe('boolean')
      }),
    )
  })
})

describe('isTerminal', () => {
  it('is true for finish and error only', () => {
    expect(good.filter(isTerminal).map(({ type }) => type)).toEqual(['finish', 'error'])
  })
})

describe('errorOf', () => {
  it('keeps a code of this library, and makes any other an agent failure', () => {
    expect(errorOf({ type: 'error', error: 'x', code: 'invalid_input' }).code).toBe('invalid_input')
    expect(errorOf({ type: 'error', error: 'x', code: 'made_up' }).code).toBe('agent_failed')
    expect(errorOf({ type: 'error', error: 'x', code: 'constructor' }).code).toBe('agent_failed')
  })
})
