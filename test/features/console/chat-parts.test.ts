import { describe, expect, it } from 'vitest'
import { answerOf, fold, goingOn, NEW_ANSWER, type Part, toolCallsIn } from '../../../console/chat/parts.ts'
import type { RunEvent } from '../../../src/client/index.ts'

/** The parts after these events, told at once and one by one. */
function partsAfter(...events: RunEvent[]): readonly Part[] {
  const { parts } = fold(NEW_ANSWER, events)
  expect(events.reduce((answer, event) => fold(answer, [event]), NEW_ANSWER).parts).toEqual(parts)
  return parts
}

const start = (id: string, more = {}): RunEvent => ({
  type: 'tool_call_start',
  toolCall: { id, name: 'forecast' },
  ...more,
})
const end = (toolCallId: string, more = {}): RunEvent => ({ type: 'tool_call_end', toolCallId, ...more })
const text = (text: string, agent?: string): RunEvent => ({ type: 'text', text, ...(agent && { agent }) })

describe('the parts of an answer', () => {
  it('are in the order in which they happened', () => {
    const parts = partsAfter(
      { type: 'thinking', text: 'hm' },
      { type: 'thinking', text: 'm' },
      text('a'),
      text('b'),
      start('1', { at: 10 }),
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '{"city":' },
      { type: 'tool_call_delta', toolCallId: '1', argumentsDelta: '"Oslo"}' },
      { type: 'tool_call_ready', toolCallId: '1', args: { city: 'Oslo' } },
      end('1', { result: 'clear', at: 168 }),
      text('c'),
      { type: 'message', parts: [{ type: 'data', data: 1 }] },
      { type: 'finish', finishReason: 'stop', structured: { is: 1 }, message: 'that is all' },
    )
    expect(parts.map(({ kind }) => kind)).toEqual([
      'reasoning',
      'text',
      'tool',
      'text',
      'message',
      'structured',
      'message',
    ])
    expect(parts.map(({ key }) => key)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(parts[1]).toMatchObject({ text: 'ab' })
    expect(parts[2]).toMatchObject({
      args: { city: 'Oslo' },
      argsText: '{"city":"Oslo"}',
      result: 'clear',
      durationMs: 158,
      isDone: true,
    })
  })

  it('keep what members say apart', () => {
    const parts = partsAfter(text('a', 'ada'), text('b', 'bob'), text('c', 'bob'))
    expect(parts).toMatchObject([
      { agent: 'ada', text: 'a' },
      { agent: 'bob', text: 'bc' },
    ])
  })

  it('tell calls that overlap apart, and what one failed with', () => {
    const parts = partsAfter(
      start('1'),
      start('2'),
      end('1', { error: 'away', code: 'tool_failed' }),
      end('2'),
    )
    expect(parts).toMatchObject([{ id: '1', error: 'away', code: 'tool_failed' }, { id: '2' }])
    expect(toolCallsIn(fold(NEW_ANSWER, [start('1'), start('2')]))).toBe(2)
  })

  it('have one part for a step, and one for each time that it runs', () => {
    const parts = partsAfter(
      { type: 'step', name: 'a', status: 'started' },
      { type: 'step', name: 'a', status: 'progress', text: 'half' },
      { type: 'step', name: 'a', status: 'completed', durationMs: 4 },
      { type: 'step', name: 'a', status: 'started' },
    )
    expect(parts).toMatchObject([
      { name: 'a', status: 'completed', text: 'half', durationMs: 4 },
      { name: 'a', status: 'started' },
    ])
  })

  it('join the chunks of an artifact', () => {
    const artifact = (text: string, append: boolean): RunEvent => ({
      type: 'artifact',
      artifactId: 'x',
      append,
      parts: [{ type: 'text', text }],
    })
    expect(partsAfter(artifact('a', false), artifact('b', true))).toMatchObject([
      { parts: [{ type: 'text', text: 'ab' }] },
    ])
    expect(partsAfter(artifact('a', false), artifact('b', false))).toMatchObject([
      { parts: [{ type: 'text', text: 'b' }] },
    ])
  })

  it('begin again, but for what was complete, when a run is resumed', () => {
    const parts = partsAfter(
      text('lost'),
      start('1'),
      end('1'),
      start('2'),
      { type: 'step', name: 'a', status: 'started' },
      { type: 'resumed' },
      start('2'),
      text('told again'),
    )
    expect(parts).toMatchObject([
      { kind: 'tool', id: '1', isDone: true },
      { kind: 'tool', id: '2', isDone: false },
      { kind: 'text', text: 'told again' },
    ])
    expect(new Set(parts.map(({ key }) => key)).size).toBe(3)
  })

  it('go on in the run that has the answers', () => {
    const requests = [{ id: 'r/1', kind: 'approval', digest: 'x' } as const]
    const waiting = fold(NEW_ANSWER, [
      start('1', { at: 100 }),
      { type: 'finish', finishReason: 'input_required', requests },
    ])
    expect(waiting).toMatchObject({ status: 'input_required', requests })
    const events: RunEvent[] = [
      start('1', { at: 3 }),
      end('1', { result: 'done', at: 8 }),
      { type: 'finish', finishReason: 'stop' },
    ]
    expect(fold(goingOn(waiting, 'next'), events)).toMatchObject({
      status: 'completed',
      runId: 'next',
      requests: [],
      parts: [{ kind: 'tool', id: '1', result: 'done', durationMs: 5 }],
    })
  })
})

it.each([
  [{ type: 'finish', finishReason: 'stop' }, 'completed'],
  [{ type: 'finish', finishReason: 'length' }, 'completed'],
  [{ type: 'finish', finishReason: 'cancelled' }, 'cancelled'],
  [{ type: 'finish', finishReason: 'auth_required' }, 'input_required'],
  [{ type: 'error', error: 'no', code: 'run_failed' }, 'failed'],
] as const)('%j ends an answer as %s', (event, status) => {
  expect(fold(NEW_ANSWER, [event]).status).toBe(status)
})

it.each([
  [{ status: 'completed', finishReason: 'stop' }, 'completed'],
  [{ status: 'completed', finishReason: 'input_required' }, 'input_required'],
  [{ status: 'cut' }, 'cancelled'],
  [{ status: 'cut', error: 'run_failed' }, 'failed'],
  [{ status: 'failed', error: 'run_failed' }, 'failed'],
  [{ status: 'interrupted' }, 'failed'],
  [{ status: 'running' }, 'running'],
] as const)('a turn %j is an answer that is %s', (turn, status) => {
  const calls = [{ toolCallId: '1', toolName: 'forecast' }]
  const whole = {
    runId: 'r',
    kind: 'agent',
    name: 'a',
    input: 'b',
    at: 0,
    text: 'c',
    toolCalls: calls,
  } as const
  const answer = answerOf({ ...whole, ...turn })
  expect(answer).toMatchObject({ status, runId: 'r' })
  expect(answer.parts).toMatchObject([
    { kind: 'tool', name: 'forecast', isDone: true },
    { kind: 'text', text: 'c' },
  ])
})
