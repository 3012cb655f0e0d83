/** How far a call is: told often enough for clients that wait, and not more often than they can show it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Agent, type RunEvent } from '../../../src/index.ts'
import { streamOf, within } from '../../../src/protocols/mcp/progress.ts'
import { RunReader } from '../../../src/protocols/mcp/run-reader.ts'
import { untyped } from '../../support.ts'
import { type Json, messagesIn, serve } from './calling.ts'

/** A run whose events a test tells. */
function running() {
  const waiting: RunEvent[] = []
  let wake = () => {}
  let hasLeft = false
  let isOver = false
  let read = 0
  const events: AsyncIterableIterator<RunEvent> = {
    [Symbol.asyncIterator]: () => events,
    async next() {
      while (waiting.length === read && !hasLeft && !isOver)
        await new Promise<void>(resolve => (wake = resolve))
      const value = waiting[read]
      if (value !== undefined) read++
      // The next call finds the end.
      isOver ||= value?.type === 'finish' || value?.type === 'error'
      return value === undefined || hasLeft ? { done: true, value: undefined } : { done: false, value }
    },
    async return() {
      hasLeft = true
      wake()
      return { done: true, value: undefined }
    },
  }
  const tell = (...more: RunEvent[]) => {
    waiting.push(...more)
    wake()
  }
  return { started: untyped<never>({ id: 'run', events: () => events }), tell, hasLeft: () => hasLeft }
}

const text = (said: string): RunEvent => ({ type: 'text', text: said })
const FINISH: RunEvent = { type: 'finish', finishReason: 'stop' }

const readingOf = (run: ReturnType<typeof running>, tracksChanges = true) =>
  new RunReader(run.started, { continueRun: async () => undefined, maxLength: 1e9, tracksChanges })

/** A stream with a reader that takes all messages as they come. */
function streaming(options: { readonly token?: unknown; readonly asked?: object[] } = {}) {
  const { token, asked = [] } = { token: 'p', ...options }
  const run = running()
  const reading = readingOf(run, token !== undefined)
  const last = reading.done.then(outcome => ({ id: 1, outcome }))
  const left = vi.fn(() => reading.leave())
  const source = streamOf({ reading, last, token, asked, leave: left })
  const told: { at: number; message: Json }[] = []
  const state = { isEnded: false, hasRoom: true, left }
  const take = (line: string | undefined) => {
    if (line === undefined) state.isEnded = true
    else told.push({ at: Date.now(), message: messagesIn(line)[0] })
    return state.hasRoom && line !== undefined
  }
  const progress = () => told.filter(({ message }) => message.method === 'notifications/progress')
  return { ...run, reading, source, told, progress, state, read: () => source.read(take) }
}

describe('progress', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    return () => vi.useRealTimers()
  })

  it('is told at most four times a second, and grows', async () => {
    const { tell, progress, read, told, state } = streaming()
    read()
    for (let ms = 0; ms < 10_000; ms += 10) {
      tell(text(`${ms} `))
      await vi.advanceTimersByTimeAsync(10)
    }
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(0)
    const all = progress()
    expect(all.length).toBeGreaterThan(30)
    expect(all.length).toBeLessThanOrEqual(41)
    for (const [at, { message, at: when }] of all.entries()) {
      expect(message.params).toMatchObject({ progressToken: 'p', progress: at + 1 })
      if (at > 0) expect(when - (all[at - 1]?.at ?? 0)).toBeGreaterThanOrEqual(250)
    }
    expect(told.at(-1)?.message).toMatchObject({ id: 1 })
    expect(state.isEnded).toBe(true)
  })

  it('is told at least every five seconds, though nothing happens', async () => {
    const { progress, read, tell, told } = streaming()
    const begun = Date.now()
    read()
    await vi.advanceTimersByTimeAsync(60_000)
    const times = [begun, ...progress().map(({ at }) => at)]
    expect(times.length).toBeGreaterThanOrEqual(12)
    for (const [at, when] of times.entries()) expect(when - (times[at - 1] ?? when)).toBeLessThanOrEqual(5000)
    for (const { message } of progress()) expect(message.params.message).toBe('Works')
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(0)
    expect(told.at(-1)?.message).toMatchObject({ id: 1 })
  })

  it('is told on though the clock is set back by a day', async () => {
    const { progress, read, tell } = streaming()
    read()
    tell(text('a'))
    await vi.advanceTimersByTimeAsync(500)
    vi.setSystemTime(Date.now() - 86_400_000)
    const before = progress().length
    tell(text('b'))
    await vi.advanceTimersByTimeAsync(5000)
    expect(progress().length).toBeGreaterThan(before)
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(0)
  })

  it('is not told after the end, whenever it comes', async () => {
    for (const endsAt of [0, 1, 249, 250, 251, 4999, 5000, 5001]) {
      const { read, tell, told, state } = streaming()
      read()
      tell(text('a'))
      await vi.advanceTimersByTimeAsync(endsAt)
      tell(text('b'), FINISH)
      await vi.advanceTimersByTimeAsync(20_000)
      expect(state.isEnded).toBe(true)
      expect(told.findIndex(({ message }) => message.id === 1)).toBe(told.length - 1)
      expect(vi.getTimerCount()).toBe(0)
    }
  })

  it('says what the run does', async () => {
    const { read, tell, progress } = streaming()
    read()
    const say = async (...events: RunEvent[]) => {
      tell(...events)
      await vi.advanceTimersByTimeAsync(250)
      return progress().at(-1)?.message.params.message
    }
    expect(await say(text('Hello'))).toBe('Hello')
    expect(await say(text(' there '))).toBe('Hello there')
    expect(await say({ type: 'tool_call_start', toolCall: { id: '1', name: 'search' } })).toBe('Calls search')
    expect(await say(untyped({ type: 'step', id: 's', name: 'check', status: 'started' }))).toBe('check')
    expect(await say(text('x'.repeat(1000)))).toBe('x'.repeat(100))
    const before = progress().length
    await say({ type: 'thinking', text: 'hm' })
    expect(progress().length).toBe(before)
  })

  it('is told to nobody who has no token', async () => {
    const { read, tell, told } = streaming({ token: undefined })
    read()
    tell(text('a'))
    await vi.advanceTimersByTimeAsync(30_000)
    expect(told).toEqual([])
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(0)
    expect(told.map(({ message }) => message.id)).toEqual([1])
  })

  it('is told under any token', async () => {
    for (const token of [0, -1, '', 'x']) {
      const { read, progress, tell } = streaming({ token })
      read()
      await vi.advanceTimersByTimeAsync(5000)
      expect(progress()[0]?.message.params.progressToken).toEqual(token)
      tell(FINISH)
      await vi.advanceTimersByTimeAsync(0)
    }
  })

  it('comes after what is asked', async () => {
    const asked: object[] = []
    const { read, told, reading, tell } = streaming({ asked })
    read()
    tell(text('a'))
    await vi.advanceTimersByTimeAsync(100)
    const before = told.length
    asked.push({ method: 'elicitation/create', id: 'a' }, { method: 'elicitation/create', id: 'b' })
    reading.wake()
    await vi.advanceTimersByTimeAsync(250)
    expect(told.slice(before, before + 2).map(({ message }) => message.id)).toEqual(['a', 'b'])
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(0)
  })

  it('waits for a slow reader, and gathers nothing for it', async () => {
    const { read, tell, told, state, reading } = streaming()
    state.hasRoom = false
    read()
    for (let ms = 0; ms < 60_000; ms += 100) {
      tell(text('word '))
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(told.length).toBe(1)
    // The run is read all the same.
    expect(reading.text.length).toBe(5 * 600)
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(0)
    state.hasRoom = true
    read()
    await vi.advanceTimersByTimeAsync(0)
    expect(told.length).toBeLessThanOrEqual(3)
    expect(told.at(-1)?.message).toMatchObject({ id: 1 })
  })

  it('ends with its reader', async () => {
    const { read, tell, told, state, source, hasLeft } = streaming()
    read()
    tell(text('a'))
    await vi.advanceTimersByTimeAsync(300)
    source.cancel()
    expect(state.left).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(6000)
    expect([hasLeft(), vi.getTimerCount()]).toEqual([true, 0])
    const before = told.length
    tell(text('b'))
    await vi.advanceTimersByTimeAsync(20_000)
    expect([told.length - before, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('costs a run of 100,000 texts no timer each', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { read, tell, told, reading } = streaming()
    read()
    for (let at = 0; at < 100_000; at++) tell(text('a'))
    tell(FINISH)
    await vi.advanceTimersByTimeAsync(1000)
    expect(reading.text.length).toBe(100_000)
    expect(told.at(-1)?.message).toMatchObject({ id: 1 })
    expect(timers.mock.calls.length).toBeLessThan(20)
    timers.mockRestore()
  })

  it('leaves no timer where the work ends before, or fails', async () => {
    expect(await within(Promise.resolve(1), 1000)).toBe(1)
    await expect(within(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no')
    const late = within(new Promise(() => {}), 1000)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await late).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a reading', () => {
  it('is one of all runs that go on from each other', async () => {
    const [first, second] = [running(), running()]
    const request = { id: 'run/q', kind: 'question' as const, digest: 'd' }
    const continueRun = vi.fn(async () => untyped<never>({ ...Object(second.started), id: 'next' }))
    const reading = new RunReader(first.started, { continueRun, maxLength: 1e6, tracksChanges: false })
    first.tell(text('one '), { type: 'finish', finishReason: 'input_required', requests: [request] })
    second.tell(text('two'), FINISH)
    expect(await reading.done).toMatchObject({
      result: { text: 'one two', finishReason: 'stop', runId: 'next' },
    })
    expect(continueRun).toHaveBeenCalledExactlyOnceWith([request], 'run')
  })

  it('ends with a failure, and with too much said', async () => {
    const run = running()
    const { done } = readingOf(run)
    run.tell(text('a'), { type: 'error', error: 'It failed', code: 'agent_failed' })
    expect(await done).toMatchObject({ error: { error: 'It failed', code: 'agent_failed' } })
    const long = running()
    const reading = new RunReader(long.started, {
      continueRun: async () => undefined,
      maxLength: 10,
      tracksChanges: false,
    })
    long.tell(text('x'.repeat(11)), FINISH)
    await expect(reading.done).rejects.toMatchObject({ code: 'run_too_large' })
  })

  it('tells no moves to nobody', async () => {
    const run = running()
    const reading = readingOf(run, false)
    run.tell(text('a'), FINISH)
    await reading.done
    expect(reading.changes).toBe(0)
  })
})

describe('an answer', () => {
  const gate = Promise.withResolvers<void>()
  const agents = {
    soon: new Agent({ name: 'soon', register: false, run: () => 'x' }),
    late: new Agent({
      ...{ name: 'late', register: false },
      async *run() {
        yield 'at work'
        await gate.promise
        yield ', done'
      },
    }),
    waits: new Agent({
      ...{ name: 'waits', register: false },
      async *run(_, { signal }) {
        yield 'begun'
        await new Promise(resolve => signal.addEventListener('abort', resolve))
        stopped.resolve()
      },
    }),
  }
  let stopped = Promise.withResolvers<void>()
  const served = serve({ tools: true }, { agents })
  const accepting = (accept: string) => ({ headers: { accept } })

  afterEach(() => {
    stopped = Promise.withResolvers()
  })

  it('is JSON where it comes soon, and where nothing else is taken', async () => {
    const typeOf = async (name: string, accept: string) =>
      (await served.open(name, { input: 'x' }, accepting(accept))).headers.get('content-type')
    expect(await typeOf('soon', 'application/json, text/event-stream')).toBe('application/json')
    const late = served.call(
      'late',
      { input: 'x' },
      { ...accepting('application/json'), meta: { progressToken: 1 } },
    )
    gate.resolve()
    const { headers, result } = await late
    expect(headers.get('content-type')).toBe('application/json')
    expect(result.content[0].text).toBe('at work, done')
  })

  it('is a stream where progress is asked for', async () => {
    const asked = { meta: { progressToken: 'p' } }
    const { headers, text: told, result } = await served.call('soon', { input: 'x' }, asked)
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect(messagesIn(told).at(-1).result).toEqual(result)
    expect(headers.get('x-run-id')).toBe(result._meta['servable/runId'])
  })

  it('that nobody reads any more stops its run', async () => {
    const response = await served.open('waits', { input: 'x' }, { meta: { progressToken: 1 } })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await stopped.promise
  })

  it('that a notification cancels stops its run, in its session alone', async () => {
    const session = (id: string) => ({ 'mcp-session-id': id })
    const meta = { name: 'waits', arguments: { input: 'x' }, _meta: { progressToken: 1 } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: meta })
    const response = await served.send(body, { headers: session('of-ann') })
    const reader = response.body?.getReader()
    await reader?.read()
    let isStopped = false
    void stopped.promise.then(() => (isStopped = true))
    const cancel = (requestId: unknown, headers: Record<string, string>) =>
      served.post(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
        { headers },
      )
    for (const [id, headers] of [
      [7, session('of-bob')],
      [7, {}],
      ['7', session('of-ann')],
      [8, session('of-ann')],
      [undefined, session('of-ann')],
      [{}, session('of-ann')],
    ] as const)
      expect((await cancel(id, headers)).status).toBe(202)
    expect(isStopped).toBe(false)
    expect((await cancel(7, session('of-ann'))).status).toBe(202)
    await stopped.promise
    await reader?.cancel()
  })
})
