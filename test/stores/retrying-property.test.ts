/** Patience, whatever is asked of it and whatever fails. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRetrying, type Retrying } from '../../src/stores/remote/retrying.ts'
import { type Fault, numbers, outcomeOf, REFUSAL, UNAVAILABLE } from './numbers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('createPatient, whatever is asked of it and whatever fails', () => {
  /** How a work is: it writes, it is refused, or it fails so often before it writes. */
  const kind = fc.oneof(
    { arbitrary: fc.constant<'good' | 'bad' | number>('good'), weight: 5 },
    fc.constant<'good' | 'bad' | number>('bad'),
    fc.integer({ min: 1, max: 3 }),
  )
  const fault: fc.Arbitrary<Fault | undefined> = fc.oneof(
    fc.constant(undefined),
    fc.constant('busy' as const),
    fc.record({ lostAfter: fc.nat(3) }),
  )
  interface Asking {
    readonly kind: 'good' | 'bad' | number
    readonly times: number
    readonly patienceMs: number
  }
  const asking: fc.Arbitrary<Asking> = fc.record({
    kind,
    times: fc.integer({ min: 1, max: 5 }),
    patienceMs: fc.constantFrom(20, 1000, 60_000),
  })
  const step = fc.oneof(
    { arbitrary: asking, weight: 6 },
    { arbitrary: fc.record({ ms: fc.constantFrom(0, 1, 4, 30, 200, 2000) }), weight: 4 },
    { arbitrary: fc.record({ fault }), weight: 3 },
    fc.record({ isFlush: fc.constant(true as const) }),
  )

  /** A work that was asked for. */
  interface Asked {
    readonly kind: 'good' | 'bad' | number
    readonly outcome: Promise<PromiseSettledResult<unknown>>
  }

  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

  function ask(model: ReturnType<typeof numbers>, patient: Retrying, number: number, given: Asking): Asked {
    const { kind, patienceMs } = given
    const write = model.add(number)
    let left = typeof kind === 'number' ? kind : 0
    const work = () => {
      const count = write()
      if (kind === 'bad') throw REFUSAL
      if (left-- > 0) throw new Error('a page cannot be read')
      return count
    }
    return { kind, outcome: outcomeOf(() => patient.write(work, patienceMs)) }
  }

  /** What was asked for in all these steps; then the store works. */
  async function take(
    steps: readonly Step[],
    model: ReturnType<typeof numbers>,
    options: Parameters<typeof createRetrying>[1],
  ) {
    const patient = createRetrying(model.store, options)
    const asked: Asked[] = []
    const begin = (given: Asking) => {
      for (let i = 0; i < given.times; i++) asked.push(ask(model, patient, asked.length, given))
    }
    for (const step of steps) {
      if ('kind' in step) begin(step)
      else if ('ms' in step) await vi.advanceTimersByTimeAsync(step.ms)
      else if ('fault' in step) model.fail(step.fault)
      else patient.flush()
    }
    model.fail(undefined)
    await vi.advanceTimersByTimeAsync(5000)
    return Promise.all(asked.map(async ({ kind, outcome }) => ({ kind, result: await outcome })))
  }

  function expectRefused(kind: Asked['kind'], reason: unknown): void {
    if (kind !== 'bad' || reason !== REFUSAL) expect(reason).toMatchObject(UNAVAILABLE)
  }

  it('writes each work exactly once or refuses it, never both, in order', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.constantFrom(
        {},
        { gatherMs: 3 },
        { gatherMs: 3, atEndOfTurn: (work: () => void) => void setTimeout(work, 0) },
      ),
      async (steps, options) => {
        const model = numbers()
        const asked = await take(steps, model, options)
        const expected = new Set<number>()
        for (const [number, { kind, result }] of asked.entries()) {
          if (result.status === 'rejected') expectRefused(kind, result.reason)
          else {
            expect(kind).not.toBe('bad')
            expect(model.written[Number(result.value) - 1]).toBe(number)
            expected.add(number)
          }
        }
        expect(model.written).toHaveLength(expected.size)
        expect(new Set(model.written)).toEqual(expected)
        // One that failed by itself is tried again after those that came with it.
        const steady = model.written.filter(number => asked[number]?.kind === 'good')
        expect(steady).toEqual(steady.toSorted((a, b) => a - b))
        expect(vi.getTimerCount()).toBe(0)
      },
    )
    await fc.assert(property, { numRuns: 500 })
  })
})
