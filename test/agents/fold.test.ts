import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fold } from '../../src/agents/fold.ts'
import { addUsage, NO_USAGE } from '../../src/agents/usage.ts'
import type { ArtifactEvent, RunEvent } from '../../src/index.ts'
import { codePoint } from '../code-point.ts'

const facts = { runId: 'r', durationMs: 7 }

function fold(events: readonly RunEvent[], maxLength?: number) {
  const folded = new Fold(maxLength)
  for (const event of events) folded.add(event)
  return folded.result(facts)
}

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

describe('Fold', () => {
  it('gives an empty answer for no events', () => {
    expect(fold([])).toEqual({
      text: '',
      toolCalls: [],
      usage: NO_USAGE,
      structured: null,
      durationMs: 7,
      finishReason: 'stop',
      runId: 'r',
    })
  })

  it('joins text, and the text of messages', () => {
    const events: RunEvent[] = [
      { type: 'text', text: 'a' },
      { type: 'thinking', text: 'not this' },
      {
        type: 'message',
        parts: [
          { type: 'text', text: 'b' },
          { type: 'image', data: 'not this' },
        ],
      },
      { type: 'error', error: 'nor this', code: 'agent_failed' },
    ]
    const folded = new Fold()
    for (const event of events) folded.add(event)
    expect(folded.text).toBe('ab')
    expect(folded.result(facts).text).toBe('ab')
  })

  it('counts text that is said again once', () => {
    const said = { type: 'text', text: '12345678' } as const
    expect(fold([said, { type: 'resumed' }, said], 10).text).toBe('12345678')
    expect(() => fold([said, { type: 'resumed' }, said, said], 10)).toThrow('larger than 10')
  })

  it('takes over what the finish says', () => {
    expect(fold([{ type: 'finish', finishReason: 'length', usage, structured: { a: 1 } }])).toMatchObject({
      finishReason: 'length',
      usage,
      structured: { a: 1 },
    })
  })

  it('collects tool calls with the arguments as JSON', () => {
    const { toolCalls } = fold([
      { type: 'tool_call_start', toolCall: { id: '1', name: 'add' } },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '{"a":' },
      { type: 'tool_call_start', toolCall: { id: '2', name: 'fail' } },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '1}' },
      { type: 'tool_call_end', toolCallId: '1', result: 2 },
      { type: 'tool_call_end', toolCallId: '2', error: 'broken' },
    ])
    expect(toolCalls).toEqual([
      { toolCallId: '1', toolName: 'add', args: { a: 1 }, result: 2 },
      { toolCallId: '2', toolName: 'fail', error: 'broken' },
    ])
  })

  it.each<[string, RunEvent[], object]>([
    [
      'arguments that are no JSON as text',
      [{ type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '{"a' }],
      { args: '{"a' },
    ],
    ['a result that is nothing as null', [{ type: 'tool_call_end', toolCallId: '1' }], { result: null }],
    ['a call that never ends without a result', [], {}],
  ])('gives %s', (_, events, expected) => {
    const start: RunEvent = { type: 'tool_call_start', toolCall: { id: '1', name: 't' } }
    expect(fold([start, ...events]).toolCalls).toEqual([{ toolCallId: '1', toolName: 't', ...expected }])
  })

  it('ignores deltas and ends of calls that never started', () => {
    const { toolCalls } = fold([
      { type: 'tool_call_delta', toolCallId: '__proto__', argumentsDelta: '1' },
      { type: 'tool_call_end', toolCallId: 'constructor', result: 1 },
    ])
    expect(toolCalls).toEqual([])
  })

  it('lists steps in the order in which they end', () => {
    const { steps } = fold([
      { type: 'step', name: 'a', status: 'started' },
      { type: 'step', name: 'b', status: 'progress', text: 'x' },
      { type: 'step', name: 'b', status: 'failed', durationMs: 2 },
      { type: 'step', name: 'a', status: 'completed' },
    ])
    expect(steps).toEqual([
      { name: 'b', status: 'failed', durationMs: 2 },
      { name: 'a', status: 'completed', durationMs: 0 },
    ])
  })

  it('takes any number of chunks of an artifact, and changes no event', () => {
    const event = (n: number, append: boolean): ArtifactEvent => ({
      type: 'artifact',
      artifactId: 'f',
      parts: Object.freeze([{ type: 'data', data: n } as const]),
      append,
    })
    const count = 32_000
    const folded = new Fold()
    for (let n = 0; n < count; n++) folded.add(event(n, n > 0))
    const before = folded.result(facts)
    folded.add(event(count, true))
    expect(before.artifacts?.[0]?.parts).toHaveLength(count)
    const parts = folded.result(facts).artifacts?.[0]?.parts
    expect(parts?.map(part => part.type !== 'text' && part.data)).toEqual(
      Array.from({ length: count + 1 }, (_, n) => n),
    )
  })

  it('joins the chunks of an artifact, and replaces one that is told anew', () => {
    const chunk = (text: string, more: Partial<ArtifactEvent> = {}): ArtifactEvent => ({
      type: 'artifact',
      artifactId: 'f',
      parts: [{ type: 'text', text }],
      ...more,
    })
    const named = fold([chunk('a', { name: 'file' }), chunk('b', { append: true, lastChunk: true })])
    expect(named.artifacts).toEqual([
      {
        artifactId: 'f',
        name: 'file',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
    expect(fold([chunk('a'), chunk('b')]).artifacts).toMatchObject([{ parts: [{ text: 'b' }] }])
    expect(fold([chunk('a', { append: true })]).artifacts).toMatchObject([{ parts: [{ text: 'a' }] }])
  })

  it.each<[string, RunEvent[]]>([
    ['text', [{ type: 'text', text: 'x'.repeat(11) }]],
    ['text in pieces', Array(11).fill({ type: 'text', text: 'x' })],
    ['message text', [{ type: 'message', parts: [{ type: 'text', text: 'x'.repeat(11) }] }]],
    ['tool names', [{ type: 'tool_call_start', toolCall: { id: '1', name: 'x'.repeat(11) } }]],
    [
      'tool arguments',
      [
        { type: 'tool_call_start', toolCall: { id: '1', name: '' } },
        { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: 'x'.repeat(11) },
      ],
    ],
    ['step names', [{ type: 'step', name: 'x'.repeat(11), status: 'completed' }]],
    [
      'artifact text',
      [{ type: 'artifact', artifactId: '1', parts: [{ type: 'text', text: 'x'.repeat(11) }] }],
    ],
    [
      'artifact data',
      [{ type: 'artifact', artifactId: '1', parts: [{ type: 'image', data: 'x'.repeat(11) }] }],
    ],
  ])('throws when it is to keep more %s than its bound', (_, events) => {
    expect(() => fold(events, 10)).toThrow(expect.objectContaining({ code: 'run_too_large' }))
    expect(() => fold(events, 11)).not.toThrow()
  })

  it('gives the same text however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: codePoint })), texts => {
        expect(fold(texts.map(text => ({ type: 'text', text }))).text).toBe(texts.join(''))
      }),
    )
  })
})

describe('addUsage', () => {
  it('adds tokens, and costs where one is known', () => {
    expect(addUsage(usage, usage)).toEqual({ promptTokens: 2, completionTokens: 4, totalTokens: 6 })
    expect(addUsage({ ...usage, cost: 1 }, usage).cost).toBe(1)
    expect(addUsage(usage, { ...usage, cost: 2 }).cost).toBe(2)
    expect(addUsage({ ...usage, cost: 1 }, { ...usage, cost: 2 }).cost).toBe(3)
  })
})
