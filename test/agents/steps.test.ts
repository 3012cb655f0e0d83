/** Steps that are tried again, and whose time is limited. */

import { describe, expect, it, vi } from 'vitest'
import { type RunEvent, ServableError, type StepOptions, steps, Workflow } from '../../src/index.ts'
import { eventually } from '../eventually.ts'
import { textIn } from '../support.ts'

async function eventsOf(workflow: Workflow, signal?: AbortSignal): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of workflow.stream('x', signal && { signal })) events.push(event)
  return events
}

/** A workflow of one step that fails so often. */
function failing(times: number, options: StepOptions, error: () => Error = () => new Error('not yet')) {
  const attempts: { attempt: number; key: string }[] = []
  const workflow = new Workflow({
    name: 'failing',
    register: false,
    async *run(_, { step }) {
      yield* step(
        'step',
        async function* ({ attempt, idempotencyKey: key }) {
          attempts.push({ attempt, key })
          yield `${attempt};`
          if (attempt <= times) throw error()
        },
        options,
      )
    },
  })
  return { workflow, attempts }
}

describe('a step that fails', () => {
  it('is tried again, with the same key, and tells why', async () => {
    const { workflow, attempts } = failing(2, { retry: { times: 3, backoff: 0 } })
    const events = await eventsOf(workflow)
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(new Set(attempts.map(({ key }) => key)).size).toBe(1)
    const told = events.flatMap(event => (event.type === 'step' ? [[event.status, event.error]] : []))
    expect(told).toEqual([
      ['started', undefined],
      ['progress', 'not yet'],
      ['progress', 'not yet'],
      ['completed', undefined],
    ])
    expect(textIn(events)).toBe('1;2;3;')
  })

  it('fails after its last try with its last error', async () => {
    const { workflow, attempts } = failing(9, { retry: { times: 2, backoff: () => 0 } })
    await expect(eventsOf(workflow)).rejects.toThrow('not yet')
    expect(attempts).toHaveLength(3)
  })

  it('is not tried again where that changes nothing', async () => {
    const denied = () => new ServableError('approval_denied', 'no')
    const { workflow, attempts } = failing(9, { retry: { times: 2, backoff: 0 } }, denied)
    await expect(eventsOf(workflow)).rejects.toMatchObject({ code: 'approval_denied' })
    expect(attempts).toHaveLength(1)
  })

  it('waits longer and longer, and not after its run has ended', async () => {
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const { workflow } = failing(3, { retry: { times: 3, backoff: 4 } })
    await eventsOf(workflow)
    expect(waits.mock.calls.map(([, ms]) => ms).filter(ms => [4, 8, 16].includes(ms ?? 0))).toEqual([
      4, 8, 16,
    ])
    waits.mockRestore()
    const leaving = new AbortController()
    const slow = failing(3, { retry: { times: 3, backoff: 60_000 } })
    const events = slow.workflow.stream('x', { signal: leaving.signal })
    const reading = (async () => {
      for await (const event of events) if (event.type === 'step' && event.error) leaving.abort()
    })()
    await reading.catch(() => {})
    expect(slow.attempts).toHaveLength(1)
  })
})

describe('the time of a step', () => {
  const slow = (work: (signal: AbortSignal) => unknown, options: StepOptions) =>
    new Workflow({
      name: 'slow',
      register: false,
      steps: steps().step('step', (_, { signal }) => work(signal), options),
    })

  it('ends an attempt that waits for ever, and fires its signal', async () => {
    let stopped: AbortSignal | undefined
    const never = (signal: AbortSignal) => {
      stopped = signal
      return new Promise(() => {})
    }
    await expect(eventsOf(slow(never, { timeoutMs: 5 }))).rejects.toMatchObject({ code: 'step_timeout' })
    expect(stopped?.reason).toMatchObject({ code: 'step_timeout' })
  })

  it('ends a stream that says nothing more', async () => {
    let closed = false
    const workflow = new Workflow({
      name: 'slow',
      register: false,
      async *run(_, { step }) {
        yield* step(
          'step',
          async function* ({ signal }) {
            try {
              yield 'a'
              await new Promise(resolve => signal.addEventListener('abort', resolve))
              yield 'b'
            } finally {
              closed = true
            }
          },
          { timeoutMs: 5, retry: { times: 1, backoff: 0 } },
        )
      },
    })
    await expect(eventsOf(workflow)).rejects.toMatchObject({ code: 'step_timeout' })
    await eventually(() => expect(closed).toBe(true))
  })

  it('is of each attempt, and leaves what is done in time alone', async () => {
    const times: number[] = []
    const work = async () => {
      times.push(times.length)
      if (times.length === 1) await new Promise(() => {})
      return 'done'
    }
    const events = await eventsOf(slow(work, { timeoutMs: 20, retry: { times: 1, backoff: 0 } }))
    expect(times).toHaveLength(2)
    expect(textIn(events)).toBe('done')
  })
})

describe('options of a step', () => {
  it.each<[string, object]>([
    ['retry.times', { retry: { times: -1 } }],
    ['retry.times', { retry: { times: 1.5 } }],
    ['retry.times', { retry: { times: 101 } }],
    ['retry.backoff', { retry: { times: 1, backoff: -1 } }],
    ['retry.backoff', { retry: { times: 1, backoff: '1s' } }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: 2 ** 31 }],
  ])('name %s where %j is wrong', async (name, options) => {
    expect(() => steps().step('step', () => 'x', options as StepOptions)).toThrow(name)
    const workflow = new Workflow({
      name: 'wrong',
      register: false,
      run: (_, { step }) => step('step', () => 'x', options as StepOptions) as never,
    })
    await expect(eventsOf(workflow)).rejects.toThrow(name)
  })
})
