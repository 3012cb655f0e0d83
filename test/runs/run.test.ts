import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { breathe, deferred } from '../../src/base/wake.ts'
import { Agent, type AgentConfig, type RunEvent, type RunOptions, ServableError } from '../../src/index.ts'
import type { RunFailure } from '../../src/runs/failures.ts'
import { startRun } from '../../src/runs/run.ts'
import type { RunSettings } from '../../src/runs/run-settings.ts'
import type { Target } from '../../src/runs/target.ts'
import { eventually } from '../eventually.ts'
import {
  drain as drainAll,
  listenersOf,
  never,
  terminalsIn,
  textIn,
  turn,
  untimed,
  untyped,
} from '../support.ts'

const settings: RunSettings = { production: false, timeoutMs: 60_000, maxEvents: 100_000, maxLength: 1e6 }
const text: RunEvent = { type: 'text', text: 'x' }
const finish: RunEvent = { type: 'finish', finishReason: 'stop' }

/** All events, without their times. */
const drain = async (source: AsyncIterable<RunEvent>) => (await drainAll(source)).map(untimed)

/** The next event, without its time. */
async function nextOf(run: AsyncIterator<RunEvent>): Promise<IteratorResult<RunEvent>> {
  const { done, value } = await run.next()
  return done ? { done, value } : { done: false, value: untimed(value) }
}

type Stream = (input: unknown, options: RunOptions) => unknown

const target = (servable: object): Target => ({ kind: 'agent', name: 'tested', servable: untyped(servable) })

const start = (servable: object, { signal, ...options }: RunOptions = {}, more: Partial<RunSettings> = {}) =>
  startRun(target(servable), 'hi', options, { ...settings, ...more }, signal && { signal })

const stream = (source: Stream, options?: RunOptions, more?: Partial<RunSettings>) =>
  start({ stream: source }, options, more)

/** An agent that notes its signal, says one thing and waits for ever. */
const waiter = (signals: AbortSignal[]): AgentConfig => ({
  name: 'waiter',
  register: false,
  async *run(_, { signal }) {
    signals.push(signal)
    yield 'x'
    await never()
  },
})

/** An async iterator made by hand, for what generators cannot do. */
const byHand = (iterator: object) => () => ({ [Symbol.asyncIterator]: () => iterator })

const rejecting = (thrown: unknown) => byHand({ next: () => Promise.reject(thrown) })

const throwing = (thrown: unknown) => () => {
  throw thrown
}

const unhandled: unknown[] = []
const noteUnhandled = (reason: unknown) => unhandled.push(reason)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', noteUnhandled)
})

// A rejection that nobody handles is told after the turn in which it happened.
afterEach(async () => {
  vi.useRealTimers()
  await turn()
  process.off('unhandledRejection', noteUnhandled)
  expect(unhandled).toEqual([])
})

/** What no run may do, whatever its servable does: more or less than one terminal event, or one not at the end. */
function expectOneEnd(events: readonly RunEvent[]) {
  expect(terminalsIn(events)).toHaveLength(1)
  expect(terminalsIn([events.at(-1)!])).toHaveLength(1)
}

const hostile = Object.create(Error.prototype, {
  message: {
    get() {
      throw new Error('no message')
    },
  },
})
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

const ENDS_WELL: [string, object, Partial<RunEvent>][] = [
  ['finishes', { stream: () => [text, finish] }, finish],
  ['never says that it is done', { stream: () => [text] }, finish],
  ['says nothing', { stream: () => [] }, finish],
  ['finishes twice', { stream: () => [finish, finish] }, finish],
  ['goes on after its end', { stream: () => [text, finish, text, text] }, finish],
  [
    'fails after its end',
    {
      stream: async function* () {
        yield finish
        throw new Error('late')
      },
    },
    finish,
  ],
  [
    'finishes, then tells an error',
    { stream: () => [finish, { type: 'error', error: 'x', code: 'x' }] },
    finish,
  ],
  ['has only `run`', { run: async () => ({ text: 'x' }) }, finish],
  [
    'has a `run` that returns at once',
    { run: () => ({ text: 'x', finishReason: 'length' }) },
    { finishReason: 'length' },
  ],
  ['has a `run` that returns text', { run: () => 'x' }, finish],
  ['has a `run` that returns nothing', { run: () => {} }, finish],
  ['is neither', {}, finish],
  [
    'has a `return` that throws',
    { stream: byHand({ next: async () => ({ value: finish }), return: throwing(new Error('no')) }) },
    finish,
  ],
  [
    'has a `return` that rejects',
    {
      stream: byHand({
        next: async () => ({ value: finish }),
        return: () => Promise.reject(new Error('no')),
      }),
    },
    finish,
  ],
  [
    'has a `return` that hangs',
    { stream: byHand({ next: async () => ({ value: finish }), return: never }) },
    finish,
  ],
  [
    'has a `return` that gives nothing',
    { stream: byHand({ next: async () => ({ value: finish }), return: () => {} }) },
    finish,
  ],
  [
    'has a `return` that is none',
    { stream: byHand({ next: async () => ({ value: finish }), return: 5 }) },
    finish,
  ],
]

const ENDS_BADLY: [string, object, string][] = [
  ['throws at once', { stream: throwing(new Error('no')) }, 'agent_failed'],
  [
    'throws before its first event',
    {
      stream: rejecting(new Error('no')),
    },
    'agent_failed',
  ],
  [
    'throws late',
    {
      stream: async function* () {
        yield text
        throw new Error('no')
      },
    },
    'agent_failed',
  ],
  [
    'throws undefined',
    {
      stream: rejecting(undefined),
    },
    'agent_failed',
  ],
  [
    'throws null',
    {
      stream: rejecting(null),
    },
    'agent_failed',
  ],
  [
    'throws text',
    {
      stream: rejecting('no'),
    },
    'agent_failed',
  ],
  ['throws a symbol', { run: () => Promise.reject(Symbol('no')) }, 'agent_failed'],
  [
    'throws an object without a prototype',
    { run: () => Promise.reject(Object.create(null)) },
    'agent_failed',
  ],
  ['throws an error whose message cannot be read', { run: () => Promise.reject(hostile) }, 'agent_failed'],
  [
    'throws an error whose message is no text',
    { run: () => Promise.reject(Object.assign(new Error('x'), { message: 42 })) },
    'agent_failed',
  ],
  ['throws a proxy that answers nothing', { run: () => Promise.reject(revoked) }, 'agent_failed'],
  ['throws on purpose', { run: throwing(new ServableError('invalid_input', 'no')) }, 'invalid_input'],
  [
    'tells an error',
    { stream: () => [{ type: 'error', error: 'no', code: 'provider_failed' }] },
    'provider_failed',
  ],
  [
    'tells an error of its own code',
    { stream: () => [{ type: 'error', error: 'no', code: 'made_up' }] },
    'agent_failed',
  ],
  [
    'tells two errors',
    { stream: () => Array(2).fill({ type: 'error', error: 'no', code: 'agent_failed' }) },
    'agent_failed',
  ],
  ['returns a rejected promise', { stream: () => Promise.reject(new Error('no')) }, 'agent_failed'],
  ['streams nothing that can be read', { stream: () => 5 }, 'invalid_event'],
  ['resolves with no outcome', { run: async () => 5 }, 'invalid_event'],
  [
    'resolves with an unknown finish reason',
    { run: async () => ({ finishReason: 'tired' }) },
    'invalid_event',
  ],
  [
    'yields after an event that is none',
    { stream: () => [text, { type: 'made_up' }, text, finish] },
    'invalid_event',
  ],
  ['has a `next` that is none', { stream: byHand({ next: 5 }) }, 'agent_failed'],
  ['has a `next` that throws', { stream: byHand({ next: throwing(new Error('no')) }) }, 'agent_failed'],
]

describe('a run', () => {
  // Well above what any of them takes; those that hang would end in `run_timeout`.
  const timeoutMs = 2000

  it.each(ENDS_WELL)('ends once when its servable %s', async (_, servable, expected) => {
    const caller = new AbortController()
    const events = await drain(start(servable, { signal: caller.signal }, { timeoutMs }))
    expectOneEnd(events)
    expect(events.at(-1)).toMatchObject(expected)
    expect(listenersOf(caller.signal)).toBe(0)
  })

  it.each(ENDS_BADLY)('ends once when its servable %s', async (_, servable, code) => {
    const caller = new AbortController()
    const onFailure = vi.fn()
    const run = start(servable, { signal: caller.signal, apiKey: 'key' }, { timeoutMs, onFailure })
    const events = await drain(run)
    expectOneEnd(events)
    expect(events.at(-1)).toEqual({ type: 'error', code, error: expect.stringMatching(/./) })
    expect(listenersOf(caller.signal)).toBe(0)
    expect(onFailure).toHaveBeenCalledTimes(1)
  })

  it.each(ENDS_BADLY)('rejects with the code when its servable %s', async (_, servable, code) => {
    await expect(start(servable, {}, { timeoutMs }).result()).rejects.toMatchObject({ code })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'x'],
    ['a function', () => {}],
    ['an array', [text]],
    ['an event without its fields', { type: 'text' }],
    ['a type without a text', { type: Object.create(null) }],
    ['a type that is a symbol', { type: Symbol('text') }],
    [
      'a type that cannot be read',
      {
        get type() {
          throw new Error('no')
        },
      },
    ],
    ['a proxy that answers nothing', revoked],
  ])('ends in one error when its servable yields %s', async (_, garbage) => {
    const events = await drain(
      stream(
        async function* () {
          yield text
          yield garbage
        },
        {},
        { timeoutMs },
      ),
    )
    expectOneEnd(events)
    expect(events).toMatchObject([
      text,
      { type: 'error', code: expect.stringMatching(/invalid_event|agent_failed/) },
    ])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['text', 'x'],
    [
      'a result whose value cannot be read',
      {
        done: false,
        get value() {
          throw new Error('no')
        },
      },
    ],
  ])('ends in one error when `next` resolves with %s', async (_, item) => {
    const events = await drain(stream(byHand({ next: async () => item }), {}, { timeoutMs }))
    expectOneEnd(events)
    expect(events).toMatchObject([
      { type: 'error', code: expect.stringMatching(/invalid_event|agent_failed/) },
    ])
  })

  it('ends once whatever its servable yields', async () => {
    const garbage = fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true })
    const halfEvent = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom(
            'text',
            'step',
            'finish',
            'error',
            'artifact',
            'message',
            'tool_call_start',
            'tool_call_end',
          ),
          garbage,
        ),
        text: garbage,
        name: garbage,
        toolCallId: garbage,
        toolCall: garbage,
        parts: garbage,
        finishReason: fc.oneof(fc.constant('stop'), garbage),
        error: garbage,
        code: garbage,
      },
      { requiredKeys: ['type'] },
    )
    const yielded = fc.array(fc.oneof(halfEvent, garbage, fc.constant(text)), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(yielded, fc.boolean(), async (items, fails) => {
        const source = async function* () {
          yield* items
          if (fails) throw items
        }
        const events = await drain(stream(source, { apiKey: 'key' }, { timeoutMs }))
        expectOneEnd(events)
        expect(events.at(-1)).not.toMatchObject({ code: 'run_timeout' })
      }),
      // A run that hangs lasts until its time-out, so one is enough.
      { numRuns: 500, endOnFailure: true },
    )
  })

  it('gives nothing after its end, however often it is asked', async () => {
    const run = stream(() => [text, finish])
    await drain(run)
    for (let i = 0; i < 3; i++) expect(await nextOf(run)).toEqual({ done: true, value: undefined })
    run.cancel()
    run.fail(new Error('late'))
    expect(await nextOf(run)).toEqual({ done: true, value: undefined })
  })

  it('passes events on as they come', async () => {
    const gate = Promise.withResolvers<void>()
    const run = stream(async function* () {
      yield text
      await gate.promise
      yield finish
    })
    expect(await nextOf(run)).toEqual({ done: false, value: text })
    gate.resolve()
    expect(await nextOf(run)).toEqual({ done: false, value: finish })
  })

  it('starts its servable at the first `next` only', async () => {
    const source = vi.fn(() => [finish])
    const run = stream(source)
    await turn()
    expect(source).not.toHaveBeenCalled()
    await run.next()
    expect(source).toHaveBeenCalledTimes(1)
  })

  it('tells its servable who asks, in which run', async () => {
    const seen: RunOptions[] = []
    const options = { sessionId: 's', userId: 'u', metadata: { a: 1 } }
    const run = stream((_, given) => [void seen.push(given)].slice(1), options)
    await drain(run)
    expect(seen).toMatchObject([{ ...options, runId: run.id }])
    expect(run.id).toMatch(/^[\da-f-]{36}$/)
    expect(stream(() => [], { runId: 'mine' }).id).toBe('mine')
  })

  it('chooses the key of the provider of its model', async () => {
    const seen: (string | undefined)[] = []
    const keyed = (provider: string | undefined, options: RunOptions) => {
      const note = (_: unknown, given: RunOptions) => void seen.push(given.apiKey)
      return drain(start({ model: provider && { provider, id: 'm' }, run: note }, options))
    }
    const apiKeys = { 'provider-a': 'a', '*': 'any' }
    await keyed('provider-a.chat', { apiKeys })
    await keyed('provider-b', { apiKeys })
    await keyed(undefined, { apiKeys })
    await keyed('provider-b', { apiKeys: { 'provider-a': 'a' }, apiKey: 'own' })
    expect(seen).toEqual(['a', 'any', 'any', 'own'])
  })

  it('folds its events into a result', async () => {
    const result = await stream(() => [text, text, { ...finish, structured: { a: 1 } }]).result()
    expect(result).toMatchObject({ text: 'xx', structured: { a: 1 }, finishReason: 'stop' })
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('fails when it gives more events than it may', async () => {
    const events = await drain(stream(() => Array(10).fill(text), {}, { maxEvents: 3 }))
    expect(events).toMatchObject([text, text, text, { type: 'error', code: 'run_too_large' }])
  })

  it('fails, and stops its servable, when its result grows larger than it may', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const source: Stream = async function* (_, { signal }) {
      signals.push(signal)
      while (true) yield text
    }
    await expect(stream(source, {}, { maxLength: 10 }).result()).rejects.toMatchObject({
      code: 'run_too_large',
    })
    expect(signals.map(signal => signal?.aborted)).toEqual([true])
  })

  it('fails for an event that its encoder cannot write', async () => {
    const run = stream(() => [text, text, finish])
    await run.next()
    run.fail(new TypeError('no JSON'))
    expect(await drain(run)).toEqual([{ type: 'error', code: 'agent_failed', error: 'no JSON' }])
  })
})

describe('a run that is left', () => {
  const aborted = () => {
    const signals: (AbortSignal | undefined)[] = []
    const source: Stream = async function* (_, { signal }) {
      signals.push(signal)
      yield text
      await never()
    }
    return { source, signals }
  }

  it('ends as cancelled while its servable works and ignores its signal', async () => {
    const { source, signals } = aborted()
    const run = stream(source)
    await run.next()
    const waiting = nextOf(run)
    run.cancel()
    expect(await waiting).toEqual({ done: false, value: { type: 'finish', finishReason: 'cancelled' } })
    expect(await nextOf(run)).toEqual({ done: true, value: undefined })
    expect(signals[0]?.reason).toMatchObject({ name: 'AbortError' })
  })

  it('gives the text so far as its result', async () => {
    const { source } = aborted()
    const run = stream(source)
    const result = run.result()
    await turn()
    run.cancel()
    expect(await result).toMatchObject({ text: 'x', finishReason: 'cancelled' })
  })

  it('ends as cancelled between two reads', async () => {
    const run = stream(aborted().source)
    await run.next()
    run.cancel()
    run.cancel()
    expect(await drain(run)).toEqual([{ type: 'finish', finishReason: 'cancelled' }])
  })

  it('never starts its servable when it is cancelled before', async () => {
    const source = vi.fn(() => [text])
    const run = stream(source)
    run.cancel()
    expect(await drain(run)).toEqual([{ type: 'finish', finishReason: 'cancelled' }])
    expect(source).not.toHaveBeenCalled()
  })

  it('ends as cancelled when it has to wait, and the signal of its caller has fired', async () => {
    const signal = AbortSignal.abort()
    const { source, signals } = aborted()
    expect(await stream(source, { signal }).result()).toMatchObject({ text: 'x', finishReason: 'cancelled' })
    expect(signals[0]?.aborted).toBe(true)
    expect(listenersOf(signal)).toBe(0)
  })

  it('never looks at the signal of its caller when it ends without waiting', async () => {
    const look = vi.fn(() => AbortSignal.abort())
    const caller = {
      get signal() {
        return look()
      },
    }
    const run = startRun(target({ stream: () => [text] }), 'hi', {}, settings, caller)
    expect(await run.result()).toMatchObject({ text: 'x', finishReason: 'stop' })
    await breathe()
    expect(look).not.toHaveBeenCalled()
  })

  it('fires the signal of an agent, and of one that another servable runs and leaves', async () => {
    const signals: AbortSignal[] = []
    const agent = new Agent(waiter(signals))
    const alone = start(agent)
    await alone.next()
    expect(signals[0]?.aborted).toBe(false)
    alone.cancel()
    expect(signals[0]?.aborted).toBe(true)

    const leaver: Stream = async function* (_, options) {
      for await (const event of agent.stream('hi', options)) {
        yield event
        break
      }
      yield { type: 'text', text: String(options.signal?.aborted) }
    }
    expect(textIn(await drain(stream(leaver)))).toBe('xfalse')
    expect(signals[1]?.aborted).toBe(true)
  })

  it('fires the signal of an agent whose own `stream` leaves what it wraps', async () => {
    const signals: AbortSignal[] = []
    class Cut extends Agent {
      override stream(...call: Parameters<Agent['stream']>) {
        const whole = super.stream(...call)
        return (async function* (): AsyncGenerator<RunEvent> {
          for await (const event of whole) {
            yield event
            break
          }
        })()
      }
    }
    expect(textIn(await drain(start(new Cut(waiter(signals)))))).toBe('x')
    expect(signals[0]?.aborted).toBe(true)
  })

  it('closes what a body gives after it was left, and never begins it', async () => {
    const begun = vi.fn()
    const given = deferred<AsyncGenerator<string>>()
    const late = new Agent({ name: 'late', register: false, run: () => given.promise })
    const run = start(late)
    const reading = drain(run)
    await turn()
    run.cancel()
    await reading
    const source = (async function* () {
      begun()
      yield 'x'
    })()
    const closed = vi.spyOn(source, 'return')
    given.resolve(source)
    await turn()
    expect(begun).not.toHaveBeenCalled()
    expect(closed).toHaveBeenCalledOnce()
  })

  it('lets timers and I/O have their turn though its servable computes and never waits', async () => {
    let turns = 0
    const count = () => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const seen: number[] = []
    const source: Stream = async function* () {
      for (let piece = 0; piece < 5; piece++) {
        const startedAt = performance.now()
        while (performance.now() - startedAt < 15);
        seen.push(turns)
        yield text
      }
    }
    await drain(stream(source))
    clearImmediate(counting)
    // Two timers may be due in one turn of the event loop.
    expect(new Set(seen).size).toBeGreaterThan(2)
  })

  it('runs out of time though nobody reads it', async () => {
    vi.useFakeTimers()
    const onEnd = vi.fn()
    const source = vi.fn(() => [text])
    const run = stream(source, {}, { timeoutMs: 1000 })
    run.onEnd = onEnd
    await vi.advanceTimersByTimeAsync(1001)
    expect(onEnd).toHaveBeenCalledOnce()
    expect(await drain(run)).toMatchObject([{ type: 'error', code: 'run_timeout' }])
    expect(source).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('hears at once of a caller who left before, when it is armed', async () => {
    const source = vi.fn(() => [text])
    const run = stream(source, { signal: AbortSignal.abort() })
    run.arm()
    expect(await drain(run)).toEqual([{ type: 'finish', finishReason: 'cancelled' }])
    expect(source).not.toHaveBeenCalled()
  })

  it('ends as cancelled when the signal of its caller fires', async () => {
    const caller = new AbortController()
    const { source, signals } = aborted()
    const run = stream(source, { signal: caller.signal })
    await run.next()
    const waiting = nextOf(run)
    await eventually(() => expect(listenersOf(caller.signal)).toBe(1))
    caller.abort(new Error('gone'))
    expect(await waiting).toMatchObject({ value: { finishReason: 'cancelled' } })
    expect(signals[0]?.aborted).toBe(true)
    expect(listenersOf(caller.signal)).toBe(0)
  })

  it('stays as it ended when it is cancelled after', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const run = stream((_, { signal }) => [void signals.push(signal), finish].slice(1))
    await drain(run)
    run.cancel()
    expect(await nextOf(run)).toEqual({ done: true, value: undefined })
    expect(signals[0]?.aborted).toBe(false)
  })

  it('stops when its reader breaks out, and closes its servable', async () => {
    const closed = vi.fn()
    const caller = new AbortController()
    const source: Stream = async function* () {
      try {
        while (true) yield text
      } finally {
        closed()
      }
    }
    for await (const event of stream(source, { signal: caller.signal })) {
      expect(untimed(event)).toEqual(text)
      break
    }
    expect(closed).toHaveBeenCalledTimes(1)
    expect(listenersOf(caller.signal)).toBe(0)
  })

  it('gives nothing to a reader that came back', async () => {
    const run = stream(() => [text])
    await run.return()
    expect(await nextOf(run)).toEqual({ done: true, value: undefined })
  })

  it('drops what its servable says or throws later', async () => {
    const gate = Promise.withResolvers<void>()
    for (const late of [() => text, throwing(new Error('late'))]) {
      const run = stream(async function* () {
        await gate.promise
        yield late()
      })
      const waiting = nextOf(run)
      run.cancel()
      gate.resolve()
      expect(await waiting).toMatchObject({ value: { finishReason: 'cancelled' } })
      await turn()
      expect(await nextOf(run)).toEqual({ done: true, value: undefined })
    }
  })

  it('does not count as failed', async () => {
    const onFailure = vi.fn()
    const run = stream(aborted().source, {}, { onFailure })
    run.cancel()
    await drain(run)
    expect(onFailure).not.toHaveBeenCalled()
  })
})

describe('a run that takes too long', () => {
  it('fails, and tells its servable why', async () => {
    vi.useFakeTimers()
    const signals: (AbortSignal | undefined)[] = []
    const caller = new AbortController()
    const source: Stream = (_, { signal }) => {
      signals.push(signal)
      return never()
    }
    const reading = drain(stream(source, { signal: caller.signal }, { timeoutMs: 5000 }))
    await vi.advanceTimersByTimeAsync(4999)
    expect(signals[0]?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await reading).toMatchObject([{ type: 'error', code: 'run_timeout' }])
    expect(signals[0]?.reason).toMatchObject({ code: 'run_timeout' })
    expect(listenersOf(caller.signal)).toBe(0)
  })

  it('fails while nobody reads, and tells so to who comes', async () => {
    vi.useFakeTimers()
    const run = stream(() => [text, finish], {}, { timeoutMs: 5000 })
    await run.next()
    await vi.advanceTimersByTimeAsync(5000)
    expect(await drain(run)).toMatchObject([{ type: 'error', code: 'run_timeout' }])
  })

  it('leaves no timer behind, however it ends', async () => {
    vi.useFakeTimers()
    for (const [, servable] of [...ENDS_WELL, ...ENDS_BADLY.slice(0, 4)]) await drain(start(servable))
    const left = stream(never)
    void left.next()
    left.cancel()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('fails although its servable never waits, and lets the event loop turn meanwhile', async () => {
    let turns = 0
    const interval = setInterval(() => turns++, 1)
    const source: Stream = async function* () {
      while (true) yield text
    }
    const run = stream(source, {}, { timeoutMs: 50, maxEvents: 1e9 })
    let last: RunEvent | undefined
    for await (const event of run) last = event
    clearInterval(interval)
    expect(last).toMatchObject({ type: 'error', code: 'run_timeout' })
    expect(turns).toBeGreaterThan(0)
  })

  it('fails in the same way when its servable is an agent of this library', async () => {
    const agent = new Agent({
      name: 'endless',
      register: false,
      async *run() {
        while (true) yield ''
      },
    })
    const run = start(agent, {}, { timeoutMs: 50, maxEvents: 1e9 })
    await expect(run.result()).rejects.toMatchObject({ code: 'run_timeout' })
  })
})

describe('the errors of a run', () => {
  const keys: RunOptions = { apiKeys: { 'provider-a': 'sk-1', '*': 'sk-2' } }
  const message = 'sk-1, sk-2 and sk-1 again'
  const clean = '[redacted], [redacted] and [redacted] again'

  const failed = async (servable: object, more: Partial<RunSettings> = {}) => {
    const failures: RunFailure[] = []
    const events = await drain(
      start(servable, keys, { ...more, onFailure: failure => failures.push(failure) }),
    )
    return { event: events.at(-1), failures, text: textIn(events) }
  }

  it('hold no provider key, wherever they come from', async () => {
    const error = { type: 'error', error: message, code: 'agent_failed' }
    for (const servable of [{ run: throwing(new Error(message)) }, { stream: () => [error] }]) {
      const { event, failures } = await failed(servable)
      expect(event).toEqual({ type: 'error', code: 'agent_failed', error: clean })
      expect(failures).toMatchObject([
        { kind: 'agent', name: 'tested', code: 'agent_failed', message: clean },
      ])
    }
  })

  it('hold no provider key where there is one only', async () => {
    const events = await drain(start({ run: throwing(new Error('sk-3 is refused')) }, { apiKey: 'sk-3' }))
    expect(events).toEqual([{ type: 'error', code: 'agent_failed', error: '[redacted] is refused' }])
  })

  it('are masked in production, but not for the log', async () => {
    const { event, failures } = await failed({ run: throwing(new Error('inside')) }, { production: true })
    expect(event).toEqual({ type: 'error', code: 'agent_failed', error: 'Internal server error' })
    expect(failures).toMatchObject([{ message: 'inside' }])
  })

  it('show in production what the caller can mend', async () => {
    const mendable = new ServableError('invalid_input', 'name a city, not sk-1')
    const { event } = await failed({ run: throwing(mendable) }, { production: true })
    expect(event).toEqual({ type: 'error', code: 'invalid_input', error: 'name a city, not [redacted]' })
  })

  it('never show a stack', async () => {
    const { event, failures } = await failed({ run: throwing(new Error('inside')) })
    expect(JSON.stringify([event, failures])).not.toMatch(/\bat .*\.ts/)
  })

  const inner: RunEvent[] = [
    { type: 'tool_call_end', toolCallId: '1', error: `tool: ${message}` },
    { type: 'step', name: 's', status: 'failed', error: `step: ${message}` },
  ]

  it('of tools and steps hold no provider key', async () => {
    const events = await drain(start({ stream: () => inner }, keys))
    expect(events.slice(0, 2)).toMatchObject([{ error: `tool: ${clean}` }, { error: `step: ${clean}` }])
  })

  it('of tools and steps are masked in production', async () => {
    const events = await drain(start({ stream: () => inner }, keys, { production: true }))
    expect(events.slice(0, 2)).toMatchObject([{ error: 'The tool failed' }, { error: 'The step failed' }])
  })

  it('of tools and steps stay absent where there are none', async () => {
    const quiet: RunEvent[] = [
      { type: 'tool_call_end', toolCallId: '1', result: 1 },
      { type: 'step', name: 's', status: 'failed' },
    ]
    expect((await drain(start({ stream: () => quiet }, {}, { production: true }))).slice(0, 2)).toEqual([
      quiet[0],
      { ...quiet[1], id: 's' },
    ])
  })
})
