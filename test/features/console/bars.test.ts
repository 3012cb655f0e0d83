import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bar, Bars } from '../../../console/runs/bars.ts'
import type { RunEvent } from '../../../src/index.ts'

function fold(events: readonly RunEvent[]): Bars {
  const bars = new Bars()
  for (const event of events) bars.add(event)
  return bars
}

const shown = ({ all }: Bars) =>
  all.map(({ kind, label, from, to, state }) => `${kind} ${label} ${from}-${to} ${state}`)

const id = fc.constantFrom('a', 'b', 'c')
const place = { agent: fc.option(id, { nil: undefined }), parentId: fc.option(id, { nil: undefined }) }
const event = (at: fc.Arbitrary<number | undefined>): fc.Arbitrary<RunEvent> => {
  const facts = { ...place, at }
  return fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: fc.string(), ...facts }),
    fc.record({ type: fc.constant('thinking' as const), text: fc.string(), ...facts }),
    fc.record({
      type: fc.constant('tool_call_start' as const),
      toolCall: fc.record({ id, name: id }),
      ...facts,
    }),
    fc.record({ type: fc.constant('tool_call_ready' as const), toolCallId: id, args: fc.json(), ...facts }),
    fc.record({
      type: fc.constant('tool_call_end' as const),
      toolCallId: id,
      error: fc.option(fc.string(), { nil: undefined }),
      ...facts,
    }),
    fc.record({
      type: fc.constant('step' as const),
      name: id,
      status: fc.constantFrom('started', 'progress', 'completed', 'failed'),
      durationMs: fc.option(fc.nat(5000), { nil: undefined }),
      ...facts,
    }),
    fc.record({ type: fc.constant('model_call' as const), durationMs: fc.nat(5000), ...facts }),
    fc.record({
      type: fc.constant('artifact' as const),
      artifactId: id,
      parts: fc.constant([]),
      ...facts,
    }),
    fc.record({ type: fc.constant('resumed' as const), ...facts }),
  )
}

/** Runs as they are: with times that never go back, or without any. */
const runs = fc.oneof(
  fc.array(event(fc.nat(10_000))).map(events => {
    let now = 0
    return events.map(each => {
      now += each.at ?? 0
      return { ...each, at: now }
    })
  }),
  fc.array(event(fc.constant(undefined))),
)

describe('the bars of a run', () => {
  it('are tool calls, steps, model calls and text, with their times', () => {
    const bars = fold([
      { type: 'step', name: 'search', status: 'started', at: 5 },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'find' }, parentId: 'search', at: 10 },
      { type: 'tool_call_ready', toolCallId: '1', args: { q: 'x' }, at: 12 },
      { type: 'tool_call_end', toolCallId: '1', result: 'found', parentId: 'search', at: 40 },
      { type: 'step', name: 'search', status: 'completed', durationMs: 45, at: 50 },
      { type: 'thinking', text: 'Hm', at: 65 },
      { type: 'text', text: 'It ', at: 71 },
      { type: 'text', text: 'is', at: 75 },
      { type: 'model_call', model: 'openai/gpt', durationMs: 30, at: 90 },
      { type: 'text', text: '.', at: 95 },
      { type: 'finish', finishReason: 'stop', at: 100 },
    ])
    expect(shown(bars)).toEqual([
      'step search 5-50 done',
      'tool find 10-40 done',
      'model openai/gpt 60-90 done',
      'text text 95-95 done',
    ])
    const [step, tool, model, text] = bars.all
    expect([step?.depth, tool?.depth]).toEqual([0, 1])
    expect(tool?.shows).toEqual({ args: { q: 'x' }, result: 'found' })
    expect(model?.first).toBe(65)
    expect(model?.shows).toMatchObject({ thinking: 'Hm', text: 'It is' })
    expect(text?.shows).toEqual({ text: '.' })
    expect(bars.end).toBe(100)
    expect(bars.isTimed).toBe(true)
  })

  it('are in order where nobody knows the times', () => {
    const bars = fold([
      { type: 'tool_call_start', toolCall: { id: '1', name: 'find' } },
      { type: 'tool_call_end', toolCallId: '1', error: 'away' },
      { type: 'text', text: 'sorry' },
    ])
    expect(bars.isTimed).toBe(false)
    expect(shown(bars)).toEqual(['tool find 1-2 failed', 'text text 3-3 done'])
  })

  it('take the time of arrival where events have none', () => {
    const bars = new Bars()
    bars.add({ type: 'tool_call_start', toolCall: { id: '1', name: 'find' } }, 20)
    bars.add({ type: 'tool_call_end', toolCallId: '1' }, 50)
    expect(shown(bars)).toEqual(['tool find 20-50 done'])
  })

  it('stand below the one in which they happen, in the order of their begin', () => {
    const bars = fold([
      { type: 'step', id: 'a', name: 'a', status: 'started', at: 0 },
      { type: 'step', id: 'b', name: 'b', status: 'started', at: 1 },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'find' }, parentId: 'a', agent: 'ann', at: 2 },
      { type: 'tool_call_start', toolCall: { id: '2', name: 'inner' }, parentId: '1', at: 3 },
      { type: 'model_call', model: 'm', durationMs: 3, parentId: 'b', agent: 'bob', at: 4 },
    ])
    expect(bars.all.map(({ label, depth }) => `${depth} ${label}`)).toEqual([
      '0 a',
      '1 find',
      '2 inner',
      '0 b',
      '1 m',
    ])
  })

  it('are cut where the run ends, or goes on in another process', () => {
    const bars = fold([
      { type: 'tool_call_start', toolCall: { id: '1', name: 'find' }, at: 1 },
      { type: 'resumed', at: 5 },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'find' }, at: 6 },
      { type: 'error', error: 'away', code: 'interrupted', at: 9 },
    ])
    expect(shown(bars)).toEqual(['tool find 1-5 cut', 'tool find 6-9 cut'])
  })

  it('keep what two members say at a time apart', () => {
    const bars = fold([
      { type: 'text', text: 'a1', agent: 'ann', at: 1 },
      { type: 'text', text: 'b1', agent: 'bob', at: 2 },
      { type: 'text', text: 'a2', agent: 'ann', at: 3 },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'find' }, agent: 'ann', at: 4 },
      { type: 'text', text: 'b2', agent: 'bob', at: 5 },
      { type: 'text', text: 'a3', agent: 'ann', at: 6 },
    ])
    expect(bars.all.map(({ agent, shows }) => [agent, shows])).toEqual([
      ['ann', { text: 'a1a2' }],
      ['bob', { text: 'b1b2' }],
      ['ann', undefined],
      ['ann', { text: 'a3' }],
    ])
  })

  it('lie within the run, whatever happens', () => {
    fc.assert(
      fc.property(runs, events => {
        const bars = fold(events)
        for (const { from, to, depth } of bars.all) {
          expect(from).toBeGreaterThanOrEqual(0)
          expect(to).toBeGreaterThanOrEqual(from)
          expect(to).toBeLessThanOrEqual(bars.end)
          expect(depth).toBeLessThanOrEqual(8)
        }
      }),
    )
  })

  it('lose no text', () => {
    fc.assert(
      fc.property(runs, events => {
        const said = (all: readonly string[]) => all.join('').length
        const texts = events.flatMap(each => (each.type === 'text' ? [each.text] : []))
        const kept = fold(events).all.flatMap(bar =>
          bar.kind === 'text' || bar.kind === 'model' ? [String(Object(bar.shows).text ?? '')] : [],
        )
        expect(said(kept)).toBe(said(texts))
      }),
    )
  })

  it('are never open once the run has ended', () => {
    fc.assert(
      fc.property(runs, events => {
        const { all } = fold([...events, { type: 'finish', finishReason: 'stop' }])
        expect(all.filter(({ state }: Bar) => state === 'open')).toEqual([])
      }),
    )
  })
})

it('text whose pieces were joined lasts until its last piece', () => {
  const joined = fold([
    { type: 'text', text: 'all of it', at: 100, until: 900 },
    { type: 'step', name: 's', status: 'started', at: 1000 },
    { type: 'finish', finishReason: 'stop', at: 1200 },
  ])
  expect(shown(joined)[0]).toBe('text text 100-900 done')
})
