/** Whatever a run says, in whatever order, its stream and its state agree, and a client goes on after any frame. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/index.ts'
import { RunFrames, RunValues } from '../../../src/protocols/langgraph-api/frames.ts'
import { RunMessages } from '../../../src/protocols/langgraph-api/run-messages.ts'
import { type Frame, framesIn } from '../../contracts/langgraph-api.ts'
import { acts, endings, played } from '../ag-ui/orders.ts'

const MODES = ['values', 'messages-tuple', 'messages', 'updates', 'tasks', 'custom']
const human = { type: 'human', id: 'h1', content: 'hello' } as const
const before = () => ({ messages: [human], own: 1 })

function told(events: readonly RunEvent[], modes: readonly string[] = MODES, known?: number): Frame[] {
  const frames = new RunFrames({ runId: 'run', modes: new Set(modes), before, known })
  return framesIn(events.map((event, index) => frames.encode(event, index + 1)).join(''))
}

const text = (said: string): RunEvent => ({ type: 'text', text: said })
const stop: RunEvent = { type: 'finish', finishReason: 'stop' }
/** Runs that have ended. */
const any = fc.record({ all: acts, ending: endings.filter(ending => ending !== 'cut') })

describe('the frames of any run', () => {
  it('say the same as the state of its thread, and as an answer that is waited for', () => {
    fc.assert(
      fc.property(any, ({ all, ending }) => {
        const { events } = played(all, ending)
        const frames = told(events)
        const made = new RunMessages('run')
        for (const event of events) made.add(event)
        const states = frames.filter(({ event, data }) => event === 'values' && 'messages' in data)
        expect(states.at(-1)?.data.messages).toEqual(JSON.parse(JSON.stringify([human, ...made.messages])))
        const whole = new RunValues({ runId: 'run', before })
        const waited = JSON.parse(events.map((event, index) => whole.encode(event, index + 1)).join(''))
        if (!('__error__' in waited)) expect(waited.messages).toEqual(states.at(-1)?.data.messages)
      }),
      { numRuns: 300 },
    )
  })

  it('have pieces that make the whole messages', () => {
    fc.assert(
      fc.property(any, ({ all, ending }) => {
        const { events, text: said } = played(all, ending)
        const pieces = told(events).flatMap(({ event, data }) =>
          event === 'messages' && data[0].type === 'AIMessageChunk' ? [data[0].content] : [],
        )
        const textOf = (content: string | { readonly text?: string }[]) =>
          typeof content === 'string' ? content : content.map(block => block.text ?? '').join('')
        // Structured output alone is told as its JSON.
        expect([said, said || '{"a":null}']).toContain(pieces.map(textOf).join(''))
      }),
      { numRuns: 300 },
    )
  })

  it('rise in their numbers, and go on after any of them, in any modes', () => {
    fc.assert(
      fc.property(any, fc.subarray(MODES), fc.nat(), ({ all, ending }, modes, where) => {
        const { events } = played(all, ending)
        const frames = told(events)
        const numbers = frames.map(({ id }) => id)
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
        const known = numbers[where % numbers.length]
        const rest = told(events, modes, known)
        expect(rest).toEqual(told(events, modes).filter(({ id }) => id > (known ?? -1)))
        for (const frame of rest) expect(frames).toContainEqual(frame)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the frames of a run', () => {
  it('do not repeat what its process said before it died', () => {
    const frames = told([
      text('One. '),
      text('Two'),
      { type: 'resumed' },
      text('One. '),
      text('Two. '),
      text('Three.'),
      stop,
    ])
    const pieces = frames.flatMap(({ event, data }) => (event === 'messages' ? [data[0].content] : []))
    expect(pieces.join('')).toBe('One. Two. Three.')
    expect(frames.at(-2)?.data.messages).toMatchObject([human, { content: 'One. Two. Three.' }])
  })

  it('have the ids that a graph gives its messages, also where two are made at once', () => {
    const named = (id: string): RunEvent => ({ type: 'graph_message', id })
    const frames = told([
      named('a'),
      text('One. '),
      named('b'),
      text('Two. '),
      named('a'),
      text('Three. '),
      { type: 'tool_call_start', toolCall: { id: 'c', name: 'add' } },
      { type: 'tool_call_ready', toolCallId: 'c', args: {} },
      named('t'),
      { type: 'tool_call_end', toolCallId: 'c', result: 3 },
      text('Four.'),
      stop,
    ])
    const pieces = frames.flatMap(({ event, data }) =>
      event === 'messages' && data[0].content !== '' ? [[data[0].id, data[0].content]] : [],
    )
    expect(pieces).toEqual([
      ['a', 'One. '],
      ['b', 'Two. '],
      ['a', 'Three. '],
      ['t', '3'],
      ['run-1', 'Four.'],
    ])
    expect(frames.at(-2)?.data.messages).toMatchObject([
      human,
      { id: 'a', content: 'One. Three. ', tool_calls: [{ id: 'c' }] },
      { id: 'b', content: 'Two. ' },
      { id: 't', tool_call_id: 'c' },
      { id: 'run-1', content: 'Four.' },
    ])
  })

  it('of a long text, as messages so far, are at most so many times its length', () => {
    const events = [...Array.from({ length: 20_000 }, () => text('word ')), stop]
    const frames = new RunFrames({ runId: 'run', modes: new Set(['messages']), before })
    const length = events.reduce((sum, event, index) => sum + frames.encode(event, index + 1).length, 0)
    expect(length).toBeLessThan(80 * 20_000 * 5)
  })

  it('of pieces that became one after the end leave out what the client may have, and tell the values', () => {
    const joined = { type: 'text', text: 'One two', until: 5 } as RunEvent
    const frames = new RunFrames({ runId: 'run', modes: new Set(MODES), before, known: 2000 })
    const rest = framesIn(frames.encode(joined, 4) + frames.encode(stop, 5))
    expect(rest.filter(({ event }) => event === 'messages').map(({ data }) => data[0].content)).toEqual([''])
    expect(rest.find(({ event }) => event === 'values')?.data.messages[1]).toMatchObject({
      content: 'One two',
    })
  })
})
