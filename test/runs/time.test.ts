/** What the pipeline adds to what a servable tells: times, complete arguments, ids of steps. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/index.ts'
import { eventToJson } from '../../src/runs/event-json.ts'
import { startRun } from '../../src/runs/run.ts'
import type { RunSettings } from '../../src/runs/run-settings.ts'
import { ToolArgs } from '../../src/runs/tool-args.ts'
import { codePoint } from '../code-point.ts'
import { drain, turn, untimed, untyped } from '../support.ts'

const settings: RunSettings = { production: false, timeoutMs: 60_000, maxEvents: 100_000, maxLength: 1000 }
const text: RunEvent = { type: 'text', text: 'x' }
const finish: RunEvent = { type: 'finish', finishReason: 'stop' }

const runOf = (stream: () => unknown, more: Partial<RunSettings> = {}) =>
  startRun({ kind: 'agent', name: 't', servable: untyped({ stream }) }, 'hi', {}, { ...settings, ...more })

const timesOf = (events: readonly RunEvent[]) => events.map(({ at }) => at ?? Number.NaN)

describe('the time of an event', () => {
  it('is there on every event, whole and never less than the one before', async () => {
    const all: RunEvent[] = [
      text,
      { type: 'thinking', text: 'y' },
      { type: 'message', parts: [] },
      text,
      finish,
    ]
    const events = await drain(
      runOf(async function* () {
        for (const event of all) {
          yield Object.freeze(event)
          await turn()
        }
      }),
    )
    const times = timesOf(events)
    expect(times.every(at => Number.isSafeInteger(at) && at >= 0)).toBe(true)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(events.map(untimed)).toEqual(all)
  })

  it('is there on the ends that the run itself makes', async () => {
    const cancelled = runOf(() => [text])
    cancelled.cancel()
    const failed = runOf(() => [{ type: 'none' }])
    for (const run of [cancelled, failed]) expect(timesOf(await drain(run))).toEqual([expect.any(Number)])
  })

  it("is the pipeline's, whatever the servable says", async () => {
    const [event] = await drain(runOf(() => [{ ...text, at: 1e9 }]))
    expect(event?.at).toBeLessThan(1e6)
  })

  it('is told to observers as well', async () => {
    const seen: RunEvent[] = []
    const observer = {
      start: () => ({ event: seen.push.bind(seen), end: (event: RunEvent) => seen.push(event) }),
    }
    const events = await drain(runOf(() => [text, finish], { observer: untyped(observer) }))
    expect(seen).toEqual(events)
  })

  it('fails a run whose event is not what a copy of it is', async () => {
    class Hidden {
      get type() {
        return 'finish'
      }
      finishReason = 'stop'
    }
    expect(await drain(runOf(() => [new Hidden()]))).toMatchObject([{ type: 'error', code: 'invalid_event' }])
  })
})

describe('a text event as JSON', () => {
  it('is what JSON.stringify makes of it', () => {
    const maybe = fc.option(fc.string({ unit: codePoint }), { nil: undefined })
    fc.assert(
      fc.property(
        maybe,
        maybe,
        fc.option(fc.nat(), { nil: undefined }),
        fc.string(),
        (agent, parentId, at, said) => {
          const event: RunEvent = { type: 'text', text: said, agent, parentId, at }
          expect(eventToJson(event)).toBe(JSON.stringify(event))
        },
      ),
    )
  })

  it('has no name that is none', () => {
    expect(eventToJson(untyped({ ...text, agent: 5, parentId: () => {}, at: 1 }))).toBe(
      '{"type":"text","text":"x","at":1}',
    )
  })
})

const start = (id: string): RunEvent => ({ type: 'tool_call_start', toolCall: { id, name: 't' } })
const delta = (toolCallId: string, argumentsDelta: string): RunEvent => ({
  type: 'tool_call_delta',
  toolCallId,
  argumentsDelta,
})
const ready = (toolCallId: string, args?: unknown): RunEvent => ({
  type: 'tool_call_ready',
  toolCallId,
  ...(args !== undefined && { args }),
})
const end = (toolCallId: string, more: object = {}): RunEvent => ({
  type: 'tool_call_end',
  toolCallId,
  ...more,
})

/** Whether an event is of this type and this call. */
const isOf = (type: RunEvent['type'], id: string) => (event: RunEvent) =>
  event.type === type &&
  (event.type === 'tool_call_start' ? event.toolCall.id : Object(event).toolCallId) === id

const toldOf = async (...events: RunEvent[]) => (await drain(runOf(() => events))).map(untimed).slice(0, -1)

describe('tool_call_ready', () => {
  it('comes right before the end of a call whose servable says nothing of it', async () => {
    const given = [start('1'), delta('1', '{"a"'), start('2'), delta('1', ':1}'), text]
    expect(await toldOf(...given, end('2'), end('1', { result: 1 }))).toEqual([
      ...given,
      ready('2'),
      end('2'),
      ready('1', { a: 1 }),
      end('1', { result: 1 }),
    ])
  })

  it('has the text of arguments that are no JSON, and says whose they are', async () => {
    const who = { agent: 'm', parentId: 's' }
    const events = await toldOf(start('1'), delta('1', '{"a'), end('1', who))
    expect(events.slice(2)).toEqual([{ ...ready('1', '{"a'), ...who }, end('1', who)])
  })

  it('is passed on where the servable says it, once', async () => {
    const given = [start('1'), delta('1', '1'), ready('1', 'own')]
    expect(await toldOf(...given, ready('1', 2), delta('1', '2'), end('1'), ready('1', 3))).toEqual([
      ...given,
      delta('1', '2'),
      end('1'),
    ])
  })

  it('is passed on for a call that nobody knows', async () => {
    expect(await toldOf(ready('1', 1), end('2'))).toEqual([ready('1', 1), end('2')])
  })

  it('comes again for a call that begins again with the same id', async () => {
    const call = [start('1'), delta('1', '1')]
    expect(await toldOf(...call, end('1'), ...call, end('1'))).toEqual([
      ...call,
      ready('1', 1),
      end('1'),
      ...call,
      ready('1', 1),
      end('1'),
    ])
  })

  it('and the end after it come one by one to who reads so, and neither after a cancel', async () => {
    const run = runOf(() => [start('1'), end('1'), finish])
    await run.next()
    expect((await run.next()).value).toMatchObject({ type: 'tool_call_ready' })
    run.cancel()
    expect(await drain(run)).toMatchObject([{ type: 'finish', finishReason: 'cancelled' }])
  })

  it('comes once for each call, before its end, however calls interleave', async () => {
    const id = fc.constantFrom('1', '2', '3')
    const event = fc.oneof(
      id.map(start),
      fc.tuple(id, fc.constantFrom('1', '{', ' ')).map(([call, piece]) => delta(call, piece)),
      id.map(call => ready(call, 0)),
      id.map(call => end(call)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async events => {
        const told = await toldOf(...events)
        for (const [place, event] of told.entries()) {
          if (event.type !== 'tool_call_end') continue
          const before = told.slice(0, place)
          const began = before.findLastIndex(isOf('tool_call_start', event.toolCallId))
          const ended = before.findLastIndex(isOf('tool_call_end', event.toolCallId))
          const isOpen = began > ended
          const readies = before.slice(began).filter(isOf('tool_call_ready', event.toolCallId))
          if (isOpen) expect(readies).toHaveLength(1)
        }
      }),
    )
  })

  it('keeps no more of arguments than an answer may hold', async () => {
    const events = await drain(runOf(() => [start('1'), delta('1', 'x'.repeat(1001)), end('1')]))
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'run_too_large' })
    const large = 'x'.repeat(900)
    const one = (id: string) => [start(id), delta(id, large), end(id)]
    expect(
      (await drain(runOf(() => [...one('1'), ...one('2'), start('3'), delta('3', large)]))).at(-1),
    ).toMatchObject(finish)
  })

  it('remembers so many calls and no more, those at work the longest', () => {
    const args = new ToolArgs(1e6)
    const see = (event: RunEvent) => args.see(untyped(event))
    see(start('open'))
    for (let id = 0; id < 5000; id++) {
      see(start(`${id}`))
      expect(see(end(`${id}`))).toMatchObject(ready(`${id}`))
      expect(see(end(`${id}`))).toMatchObject(end(`${id}`))
    }
    expect(see(end('open'))).toMatchObject(ready('open'))
    for (let id = 0; id < 1500; id++) see(start(`more ${id}`))
    expect(see(end('more 1200'))).toMatchObject(end('more 1200'))
  })
})

describe('the id of a step that has only a name', () => {
  const step = (name: string, status: 'started' | 'progress' | 'completed', more: object = {}): RunEvent => ({
    type: 'step',
    name,
    status,
    ...more,
  })

  it('is its path in the run', async () => {
    const events = await toldOf(
      step('a', 'started'),
      step('b', 'started', { parentId: 'a' }),
      step('b', 'completed', { parentId: 'a' }),
      step('a', 'progress'),
      step('a', 'completed'),
      step('a', 'started'),
      step('a', 'completed'),
      step('c', 'completed'),
      step('d', 'started', { id: 'own' }),
    )
    const ids = ['a', 'a/b', 'a/b', 'a', 'a', 'a#2', 'a#2', 'c', 'own']
    expect(events.map(event => event.type === 'step' && event.id)).toEqual(ids)
  })

  it('is given to so many and no more', async () => {
    const many = Array.from({ length: 1001 }, (_, index) => step(`${index}`, 'completed'))
    const ids = (await toldOf(...many)).map(event => event.type === 'step' && event.id)
    expect(ids.slice(-2)).toEqual(['999', undefined])
  })
})
