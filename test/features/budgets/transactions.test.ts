import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Amount, amountOf, NOTHING } from '../../../src/features/budgets/amount.ts'
import type { NextCall } from '../../../src/features/budgets/need.ts'
import { BUDGET_TRANSACTIONS, type KeyBudget, WINDOWS } from '../../../src/features/budgets/transactions.ts'
import { takeExpired } from '../../../src/stores/alarm.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Reader, Store, Transaction } from '../../../src/stores/store.ts'

const { hold, grow, settle } = BUDGET_TRANSACTIONS.writes
const { standing } = BUDGET_TRANSACTIONS.reads

const MINUTE = 60_000

const budget: KeyBudget = {
  name: 'owner',
  key: 'ann',
  windowMs: MINUTE,
  keepMs: 10 * MINUTE,
  max: [1000, Number.POSITIVE_INFINITY],
}

/** The store with a clock of the test. */
function clocked(store: Store = memoryStore()) {
  const clock = { now: 1_700_000_000_000 }
  const at = <T extends Reader>(tx: T): T =>
    new Proxy(tx, {
      get(target, name) {
        if (name === 'now') return clock.now
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  return {
    clock,
    write: <T>(work: (tx: Transaction) => T): T => store.write(tx => work(at(tx))) as T,
    read: <T>(work: (tx: Reader) => T): T => store.read(tx => work(at(tx))) as T,
  }
}

const usd = (amount: number): Amount => [amount, 0]

/** A call that costs so much at most. */
const ask = (amount: number | undefined, of: string = 'agent:a'): NextCall => ({
  of,
  stated: [amount, undefined],
  prompt: 0,
  perToken: NOTHING,
})

describe('a window', () => {
  it('refuses what does not fit, and lets a run use what nobody else holds', () => {
    const { write } = clocked()
    const { startsAt } = write(tx => hold(tx, budget, 'a', ask(600)))
    expect(write(tx => hold(tx, budget, 'b', ask(401))).hold).toBeUndefined()
    expect(write(tx => hold(tx, budget, 'b', ask(300))).hold?.held).toEqual([300, 0])
    expect(write(tx => grow(tx, budget, startsAt, 'b', usd(350), usd(50))).hold?.held).toEqual([400, 0])
    expect(write(tx => grow(tx, budget, startsAt, 'b', usd(351), usd(50))).hold).toBeUndefined()
    expect(write(tx => hold(tx, budget, 'c', ask(0))).hold).toBeUndefined()
  })

  it('holds a tenth where nothing is known of a call, and the largest one that was seen after that', () => {
    const { clock, write } = clocked()
    const own = ask(undefined)
    const { startsAt, resetAt } = write(tx => hold(tx, budget, 'a', own))
    expect(write(tx => hold(tx, budget, 'b', own)).hold?.held).toEqual([100, 0])
    for (const [run, largest] of [
      ['a', 30],
      ['b', 20],
    ] as const)
      write(tx => settle(tx, budget, startsAt, run, usd(50), { of: own.of, largest: [largest, 0, 0] }))
    expect(write(tx => hold(tx, budget, 'c', own))).toMatchObject({
      hold: { held: [30, 0] },
      seen: [30, 0, 0],
    })
    expect(write(tx => hold(tx, budget, 'd', ask(undefined, 'agent:b'))).hold?.held).toEqual([100, 0])
    // The next window begins with what was seen in this one.
    clock.now = resetAt
    expect(write(tx => hold(tx, budget, 'e', own)).hold?.held).toEqual([30, 0])
  })

  it('holds what is stated, and more for a prompt that was longer', () => {
    const { write } = clocked()
    const own: NextCall = { ...ask(50), prompt: 10, perToken: [2, 1] }
    const { startsAt, hold: first } = write(tx => hold(tx, budget, 'a', own))
    expect(first?.held).toEqual([100, 0])
    write(tx => settle(tx, budget, startsAt, 'a', usd(60), { of: own.of, largest: [60, 0, 40] }))
    expect(write(tx => hold(tx, budget, 'b', own)).hold?.held).toEqual([110, 0])
  })

  it('says whether what refuses a run is held for others', () => {
    const { write } = clocked()
    const { startsAt } = write(tx => hold(tx, budget, 'a', ask(900)))
    expect(write(tx => hold(tx, budget, 'b', ask(200)))).toMatchObject({ mayFit: true })
    write(tx => settle(tx, budget, startsAt, 'a', usd(900)))
    expect(write(tx => hold(tx, budget, 'b', ask(200)))).toMatchObject({ mayFit: false })
  })

  it('keeps the largest calls of a hundred names', () => {
    const { write } = clocked()
    const wide = { ...budget, max: [1e9, Number.POSITIVE_INFINITY] as const }
    for (let at = 0; at <= 100; at++) {
      const { startsAt } = write(tx => hold(tx, wide, 'a', ask(1)))
      write(tx => settle(tx, wide, startsAt, 'a', usd(1), { of: `agent:${at}`, largest: [at + 1, 0, 0] }))
    }
    expect(write(tx => hold(tx, wide, 'b', ask(undefined, 'agent:0'))).seen).toBeUndefined()
    expect(write(tx => hold(tx, wide, 'c', ask(undefined, 'agent:1'))).seen).toEqual([2, 0, 0])
  })

  it('ends at whole multiples of its length; a run counts in the one in which it began', () => {
    const { clock, write, read } = clocked()
    const { startsAt, resetAt } = write(tx => hold(tx, budget, 'a', ask(900)))
    expect([startsAt % MINUTE, resetAt - startsAt]).toEqual([0, MINUTE])
    clock.now = resetAt
    expect(write(tx => hold(tx, budget, 'b', ask(900))).hold).toBeDefined()
    write(tx => settle(tx, budget, startsAt, 'a', usd(950)))
    expect(read(tx => standing(tx, budget))).toMatchObject({ spent: [0, 0], held: [900, 0] })
    clock.now = startsAt
    expect(read(tx => standing(tx, budget))).toMatchObject({ spent: [950, 0], held: [0, 0] })
    // Whoever goes on with it finds it in its own window.
    clock.now = resetAt + MINUTE
    expect(write(tx => hold(tx, budget, 'b', ask(1), true))).toMatchObject({ startsAt: resetAt })
  })

  it('is kept for a while after its end, and deleted then', () => {
    const { clock, write, read } = clocked()
    const { resetAt } = write(tx => hold(tx, budget, 'a', ask(1)))
    const count = () => read(tx => tx.count(WINDOWS))
    clock.now = resetAt + budget.keepMs - 1
    write(tx => hold(tx, budget, 'b', ask(1)))
    expect(count()).toBe(2)
    clock.now = resetAt + budget.keepMs
    write(tx => hold(tx, { ...budget, key: 'bob' }, 'c', ask(1)))
    expect(count()).toBe(3)
    write(tx => takeExpired(tx, BUDGET_TRANSACTIONS))
    expect(count()).toBe(2)
  })

  it('has a bound of runs: what is held for those that ended long ago is spent', () => {
    const { clock, write, read } = clocked()
    const day = { ...budget, windowMs: 1440 * MINUTE, max: [1e9, Number.POSITIVE_INFINITY] as const }
    clock.now -= clock.now % day.windowMs
    for (let run = 0; run < 1000; run++) write(tx => hold(tx, day, `run-${run}`, ask(1)))
    const code = 'too_many_runs'
    expect(() => write(tx => hold(tx, day, 'more', ask(1)))).toThrow(expect.objectContaining({ code }))
    clock.now += day.keepMs
    expect(write(tx => hold(tx, day, 'more', ask(1))).hold).toBeDefined()
    expect(read(tx => standing(tx, day))).toMatchObject({ spent: [1000, 0], held: [1, 0] })
  })

  it('loses and doubles nothing, in whatever order things happen and however the clock jumps', () => {
    const step = fc.record({
      act: fc.constantFrom<'hold' | 'grow' | 'settle' | 'jump'>('hold', 'grow', 'settle', 'jump'),
      run: fc.integer({ min: 0, max: 5 }),
      cost: fc.integer({ min: 0, max: 400 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const told = new Told()
        for (const { act, run, cost } of steps) {
          told[act](run, cost)
          told.check()
        }
      }),
      { numRuns: 300 },
    )
  })
})

/** What is right, beside the store. */
class Told {
  readonly #at = clocked()
  readonly #begun = this.#at.clock.now
  readonly #spent = new Map<number, number>()
  readonly #runs = new Map<number, { readonly id: string; readonly startsAt: number; held: number }>()
  #count = 0

  #heldIn(startsAt: number, but?: number): number {
    return [...this.#runs].reduce(
      (all, [run, each]) => all + (each.startsAt === startsAt && run !== but ? each.held : 0),
      0,
    )
  }

  /** Within the time for which windows are kept. */
  jump(_: number, cost: number): void {
    this.#at.clock.now = this.#begun + (cost - 200) * 1000
  }

  hold(run: number, cost: number): void {
    const own = this.#runs.get(run)
    const id = own?.id ?? `run-${this.#count++}`
    const before = this.#at.read(tx => standing(tx, budget))
    if (own !== undefined && own.startsAt !== before.startsAt) return
    const { hold: got, startsAt, isNew = false } = this.#at.write(tx => hold(tx, budget, id, ask(cost)))
    // Asked again, it is the same.
    if (own !== undefined) return expect(got?.held).toEqual(usd(own.held))
    expect(got !== undefined).toBe(before.left[0] > 0 && cost <= before.left[0])
    const isKnown =
      this.#spent.has(startsAt) || [...this.#runs.values()].some(each => each.startsAt === startsAt)
    expect(isNew).toBe(got !== undefined && !isKnown)
    if (got !== undefined) this.#runs.set(run, { id, startsAt, held: cost })
  }

  grow(run: number, cost: number): void {
    const own = this.#runs.get(run)
    if (own === undefined) return
    const { id, startsAt } = own
    const room = 1000 - (this.#spent.get(startsAt) ?? 0) - this.#heldIn(startsAt, run)
    const { hold: got } = this.#at.write(tx => grow(tx, budget, startsAt, id, usd(cost), usd(50)))
    expect(got !== undefined).toBe(cost + 50 <= room)
    own.held = Math.max(own.held, cost + 50 <= room ? Math.min(cost + 60, room) : cost)
  }

  settle(run: number, cost: number): void {
    const own = this.#runs.get(run)
    if (own === undefined) return
    const { id, startsAt } = own
    // Whoever heard no answer says it again.
    for (let time = 0; time < 2; time++) this.#at.write(tx => settle(tx, budget, startsAt, id, usd(cost)))
    this.#spent.set(startsAt, (this.#spent.get(startsAt) ?? 0) + cost)
    this.#runs.delete(run)
  }

  /** The clock is put to each window, and what is counted there is right. */
  check(): void {
    const { clock, read } = this.#at
    const { now } = clock
    const held = Array.from(this.#runs.values(), ({ startsAt }) => startsAt)
    for (const startsAt of new Set([...this.#spent.keys(), ...held])) {
      clock.now = startsAt
      expect(read(tx => standing(tx, budget))).toMatchObject({
        spent: usd(this.#spent.get(startsAt) ?? 0),
        held: usd(this.#heldIn(startsAt)),
      })
    }
    clock.now = now
  }
}

describe('amountOf', () => {
  it('is whole, and never negative', () => {
    expect(amountOf(0.1 + 0.2, 3)).toEqual([300_000_000, 3])
    for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY * -1, '5', undefined, null])
      expect(amountOf(wrong, wrong)).toEqual([0, 0])
    expect(amountOf(Number.POSITIVE_INFINITY, 1)[0]).toBe(1e15)
  })
})
