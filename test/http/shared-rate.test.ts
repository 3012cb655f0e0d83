import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { CountRequest } from '../../src/http/limits/rate-limit.ts'
import { createSharedCount, takeRequests } from '../../src/http/limits/shared-rate.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { NearStore, Transaction } from '../../src/stores/store.ts'

const WINDOW_MS = 600_000

/** Lets so many microtasks pass. */
async function hop(times = 0): Promise<void> {
  for (let time = 0; time < times; time++) await undefined
}

/** A process over a store, and how often it has asked the store. Its questions and answers take so many microtasks each. */
function processOver(store: NearStore, max: number, ahead: boolean, hops: readonly number[] = []) {
  let at = 0
  const take = vi.fn(async (key: string, wanted: number) => {
    await hop(hops[at++ % hops.length])
    const taken = store.transact(tx => takeRequests(tx, key, wanted, { max, windowMs: WINDOW_MS }))
    await hop(hops[at++ % hops.length])
    return taken
  })
  return { take, count: createSharedCount(take, { max, windowMs: WINDOW_MS }, ahead) }
}

async function isAllowed(count: CountRequest, max: number, key = 'ann'): Promise<boolean> {
  return (await count(key)).count <= max
}

describe('requests that several processes count together', () => {
  it.each([false, true])('are as many as allowed, whenever answers come: ahead %s', ahead =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 12 })), { maxLength: 80 }),
        fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 10 }),
        async (max, requests, hops) => {
          const store = memoryStore()
          const processes = Array.from({ length: 4 }, () => processOver(store, max, ahead, hops))
          const asked: Promise<boolean>[] = []
          for (const [at, rest] of requests) {
            asked.push(isAllowed(processes[at]!.count, max))
            await hop(rest)
          }
          const early = await Promise.all(asked)
          if (!ahead) expect(early.filter(Boolean)).toHaveLength(Math.min(max, early.length))
          // In the end everyone uses what it has.
          const late = processes.flatMap(({ count }) =>
            Array.from({ length: max }, () => isAllowed(count, max)),
          )
          expect([...early, ...(await Promise.all(late))].filter(Boolean)).toHaveLength(max)
        },
      ),
      { numRuns: 500 },
    ),
  )

  it.each([false, true])('are no more than allowed where clocks differ by seconds: ahead %s', ahead =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.nat({ max: 9000 }), { minLength: 2, maxLength: 4 }),
        fc.array(fc.nat({ max: 3 }), { maxLength: 120 }),
        async (max, behind, requests) => {
          const store = memoryStore()
          const processes = behind.map(ms =>
            createSharedCount(
              async (key, wanted) =>
                store.transact(tx => {
                  const late: Pick<Transaction, 'now' | 'get' | 'put' | 'delete' | 'expired'> = {
                    now: tx.now - ms,
                    get: (...asked) => tx.get(...asked),
                    put: (...asked) => tx.put(...asked),
                    delete: (...asked) => tx.delete(...asked),
                    expired: (...asked) => tx.expired(...asked),
                  }
                  return takeRequests(late as Transaction, key, wanted, { max, windowMs: WINDOW_MS })
                }),
              { max, windowMs: WINDOW_MS },
              ahead,
            ),
          )
          let allowed = 0
          for (const at of requests) if (await isAllowed(processes[at % processes.length]!, max)) allowed++
          expect(allowed).toBeLessThanOrEqual(max)
        },
      ),
    ),
  )

  it('ask a store that is far away seldom, and not at all when the window is used up', async () => {
    const max = 1000
    const { take, count } = processOver(memoryStore(), max, true)
    for (let request = 0; request < max; request++) expect(await isAllowed(count, max)).toBe(true)
    expect(take.mock.calls.length).toBeLessThan(50)
    const asked = take.mock.calls.length
    for (let request = 0; request < 100; request++) expect(await isAllowed(count, max)).toBe(false)
    expect(take.mock.calls.length).toBe(asked)
  })

  it('take no more than a quarter of what is left for themselves', async () => {
    const max = 100
    const store = memoryStore()
    const [one, other] = [processOver(store, max, true), processOver(store, max, true)]
    for (let request = 0; request < 10; request++) await one.count('ann')
    let allowed = 0
    while (await isAllowed(other.count, max)) allowed++
    expect(allowed).toBeGreaterThanOrEqual(60)
  })

  it('share one question where they come together', async () => {
    const max = 100
    const { take, count } = processOver(memoryStore(), max, false)
    await Promise.all(Array.from({ length: 80 }, () => count('ann')))
    expect(take.mock.calls).toEqual([['ann', 80]])
  })

  it('fail together where the store fails, and the next ones ask again', async () => {
    let isAway = true
    const store = memoryStore()
    const count = createSharedCount(
      async (key, wanted) => {
        if (isAway) throw new Error('away')
        return store.transact(tx => takeRequests(tx, key, wanted, { max: 2, windowMs: WINDOW_MS }))
      },
      { max: 2, windowMs: WINDOW_MS },
      true,
    )
    const outcomes = await Promise.allSettled([count('ann'), count('ann'), count('bob')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    isAway = false
    expect([await isAllowed(count, 2), await isAllowed(count, 2), await isAllowed(count, 2)]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('hold for the window of the store, whatever the clock of a process says', async () => {
    const max = 2
    const store = memoryStore()
    const ahead = 3_600_000
    const count = createSharedCount(
      async (key, wanted) =>
        store.transact(tx => {
          const early = { ...tx, now: tx.now - ahead, get: tx.get.bind(tx), expired: tx.expired.bind(tx) }
          return takeRequests({ ...early, put: tx.put.bind(tx) }, key, wanted, { max, windowMs: WINDOW_MS })
        }),
      { max, windowMs: WINDOW_MS },
      false,
    )
    expect((await count('ann')).endsAt).toBeGreaterThan(Date.now() + WINDOW_MS - 60_000)
    expect([await isAllowed(count, max), await isAllowed(count, max)]).toEqual([true, false])
  })
})
