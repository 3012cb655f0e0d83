import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputRequest, RunEvent } from '../../src/index.ts'
import {
  type AgentMatchers,
  assertEvents,
  assertRequest,
  assertText,
  assertToolCalls,
  matchers,
  transcript,
} from '../../src/testing/index.ts'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void>, T> extends AgentMatchers<R> {}
}

expect.extend(matchers)

const request = {
  id: 'r/approve:refund',
  kind: 'approval',
  toolName: 'refund',
  args: { order: 7 },
  digest: 'd',
} satisfies InputRequest

const call = (id: string, name: string, args: unknown, result: unknown): RunEvent[] => [
  { type: 'tool_call_start', toolCall: { id, name } },
  { type: 'tool_call_delta', toolCallId: id, argumentsDelta: JSON.stringify(args) },
  { type: 'tool_call_ready', toolCallId: id, args },
  { type: 'tool_call_end', toolCallId: id, result },
]

const events: RunEvent[] = [
  { type: 'thinking', text: 'hm' },
  ...call('c1', 'forecast', { city: 'Oslo' }, { sky: 'clear' }),
  { type: 'text', text: 'It will ' },
  { type: 'text', text: 'be clear.' },
  { type: 'text', text: 'Inner', agent: 'helper', parentId: 'c1' },
  { type: 'finish', finishReason: 'input_required', requests: [request] },
]

const LINES = [
  'thinking "hm"',
  'tool_call forecast {"city":"Oslo"}',
  'tool_result forecast {"sky":"clear"}',
  'text "It will be clear."',
  'helper: text "Inner"',
  'finish input_required approval refund {"order":7}',
]

describe('a transcript', () => {
  it('has one line for what belongs together', () => {
    expect(transcript(events).split('\n')).toEqual(LINES)
    expect(
      transcript([
        { type: 'tool_call_start', toolCall: { id: 'x', name: 'slow' } },
        { type: 'step', name: 'pack', status: 'failed', error: 'no box' },
        { type: 'tool_call_end', toolCallId: 'y', error: 'gone' },
        { type: 'error', error: 'no', code: 'agent_failed' },
      ]),
    ).toBe(
      'step pack failed no box\ntool_result y failed: gone\nerror agent_failed "no"\ntool_call slow (its arguments are not complete)',
    )
  })

  it('cuts long values', () => {
    const [line = ''] = transcript([{ type: 'text', text: 'x'.repeat(10_000) }]).split('\n')
    expect(line).toMatch(/^text "x{1999}… \(10002 characters\)$/)
  })
})

describe('assertions', () => {
  it('find events in order', () => {
    assertEvents(events)
    assertEvents(events, ...LINES)
    assertEvents(
      events,
      { type: 'tool_call_ready', args: { city: expect.any(String) } },
      { type: 'tool_call_end', result: { sky: /^cl/ } },
      { type: 'text', text: 'It will be clear.', agent: undefined },
      { type: 'finish', requests: [{ toolName: 'refund' }] },
    )
    expect(events).toHaveEvents(/be clear/, { type: 'finish' })
    expect(events).not.toHaveEvents({ type: 'finish' }, 'thinking "hm"')
  })

  it('show what there was instead', () => {
    expect(() => assertEvents(events, LINES[1]!, 'text "It will rain."', { type: 'finish' })).toThrow(
      [
        'The run did not do this in order (✓ was found):',
        '✓ tool_call forecast {"city":"Oslo"}',
        '✗ text "It will rain."',
        '  {"type":"finish"}',
        'It did:',
        '  thinking "hm"',
        '✓ tool_call forecast {"city":"Oslo"}',
        '  tool_result forecast {"sky":"clear"}',
        '  text "It will be clear."',
        '  helper: text "Inner"',
        '  finish input_required approval refund {"order":7}',
      ].join('\n'),
    )
  })

  it('compare the text', () => {
    assertText(events, 'It will be clear.')
    assertText({ text: 'Hello', toolCalls: [] }, /^hel/i)
    expect(events).toHaveText(/clear/g)
    expect(() => assertText({ text: 'Hello', toolCalls: [] }, 'Bye')).toThrow(
      'The text of the run is another one:\n- "Bye"\n+ "Hello"',
    )
    const again: RunEvent[] = [{ type: 'text', text: 'It w' }, { type: 'resumed' }, ...events]
    assertText(again, 'It will be clear.')
  })

  it('compare the tool calls', () => {
    assertToolCalls(events, 'forecast')
    assertToolCalls(events, { name: 'forecast', args: { city: 'Oslo' }, result: { sky: 'clear' } })
    const result = { text: '', toolCalls: [{ toolCallId: 'a', toolName: 'pay', args: { to: 'Ada' } }] }
    expect(result).toHaveToolCalls({ name: 'pay', args: { to: /A/ } })
    expect(result).not.toHaveToolCalls()
    expect(() => assertToolCalls(result, { name: 'pay', args: { to: 'Bob' } }, 'mail')).toThrow(
      'The run called other tools (- expected, + called):\n- pay {"to":"Bob"}\n+ pay {"to":"Ada"}\n- mail',
    )
  })

  it('find a request', () => {
    assertRequest(events)
    assertRequest(events, 'refund')
    assertRequest({ requests: [request] }, { kind: 'approval', args: { order: 7 } })
    expect({}).not.toHaveRequest()
    expect(() => assertRequest({ requests: [request] }, { args: { order: 8 } })).toThrow(
      'The run does not wait for this:\n- {"args":{"order":8}}\n+ approval refund {"order":7}',
    )
  })

  it('are errors of assertions for every runner', () => {
    expect(() => assertText(events, '')).toThrow(
      expect.objectContaining({ name: 'AssertionError', code: 'ERR_ASSERTION' }),
    )
  })

  it('hold for every part of a transcript, in its order alone', () => {
    const text = fc.record({ type: fc.constant('text' as const), text: fc.string() })
    const step = fc.record({
      type: fc.constant('step' as const),
      name: fc.string(),
      status: fc.constantFrom('started' as const, 'completed' as const),
    })
    const called = fc.tuple(fc.uuid(), fc.string(), fc.jsonValue(), fc.jsonValue())
    const some = fc.array(
      fc.oneof(
        text.map((event): RunEvent[] => [event]),
        step.map((event): RunEvent[] => [event]),
        called.map(([id, name, args, result]) => call(id, name, args, result)),
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(some, fc.array(fc.boolean()), (parts, kept) => {
        const events = parts.flat()
        const lines = transcript(events).split('\n')
        if (lines.length > 0 && lines[0] !== '') {
          assertEvents(events, ...lines.filter((_, place) => kept[place]))
          expect(() => assertEvents(events, ...lines, 'finish stop')).toThrow('✗ finish stop')
        }
        // Each event is itself, and nothing twice.
        assertEvents(events, ...events.filter(({ type }) => type === 'step').map(event => ({ ...event })))
        expect(() => assertEvents(events, ...events.map(() => /./), /./)).toThrow('✗ /./')
      }),
    )
  })
})
