/** Works on a store far away that use what their process knows, while another process writes. */
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Document, Store, Transaction } from '../../src/stores/store.ts'
import { lateBase } from '../contracts/store/late.ts'
import { ModelStore } from '../contracts/store/model.ts'
import { runSteps, type Step } from '../contracts/store/steps.ts'

const doc = (id: string, value: unknown = null): Document => ({
  ...{ id, partition: 'p', at: 1, tags: {}, value },
})

const numberIn = (tx: Pick<Transaction, 'get'>, id: string) => tx.get<number>('c', id)?.value

/** Two processes on one database, and the number of looks that an act makes. */
function two() {
  const base = lateBase()
  const [one, other] = [base.open(), base.open()]
  const looksOf = async (act: () => unknown) => {
    const before = base.counts.looks
    await act()
    return base.counts.looks - before
  }
  return { base, one, other, looksOf }
}

describe('a work that writes', () => {
  it('asks nothing of what this process wrote', async () => {
    const { one, looksOf } = two()
    await one.write(tx => {
      tx.put('c', doc('a', 1))
      tx.append('l', 'first')
    })
    const looks = await looksOf(() =>
      one.write(tx => {
        tx.put('c', doc('a', (numberIn(tx, 'a') ?? 0) + 1))
        tx.append('l', 'second')
      }),
    )
    expect(looks).toBe(0)
    expect(await one.read(tx => [numberIn(tx, 'a'), tx.length('l')])).toEqual([2, 2])
  })

  it('runs again where another process has written since', async () => {
    const { base, one, other } = two()
    await one.write(tx => tx.put('c', doc('a', 1)))
    await other.write(tx => tx.put('c', doc('a', 10)))
    expect(
      await one.write(tx => {
        const value = (numberIn(tx, 'a') ?? 0) + 1
        tx.put('c', doc('a', value))
        return value
      }),
    ).toBe(11)
    expect(base.counts.conflicts).toBe(1)
  })

  it('does not take what a list shows for what it has read before', async () => {
    const { one, other } = two()
    await one.write(tx => tx.put('c', doc('a', 1)))
    await other.write(tx => tx.put('c', doc('a', 2)))
    await one.write(tx => {
      const value = numberIn(tx, 'a') ?? 0
      tx.list('c', { partition: 'p', limit: 9 })
      tx.put('c', doc('a', value + 10))
    })
    expect(await one.read(tx => numberIn(tx, 'a'))).toBe(12)
  })

  it('is right at once where nobody else writes', async () => {
    const { base, one, looksOf } = two()
    await one.write(tx => {
      tx.put('c', doc('a', 1))
      tx.append('l', 'x')
    })
    await one.write(tx => {
      tx.delete('c', 'a')
      tx.deleteLog('l')
      tx.append('l', 'y')
    })
    expect(await one.write(tx => [tx.put('c', doc('b')), tx.append('l', 'z')])).toEqual([undefined, 2])
    await one.write(tx => tx.put('c', doc('a', (numberIn(tx, 'a') ?? 10) + 1)))
    expect(await looksOf(() => one.write(tx => tx.append('l', 'z', true)))).toBe(0)
    expect(await one.read(tx => [numberIn(tx, 'a'), tx.length('l'), tx.isSealed('l')])).toEqual([11, 3, true])
    expect(base.counts.conflicts).toBe(0)
  })

  it('shares no object with the one that wrote', async () => {
    const { one } = two()
    const value = { list: [1] }
    await one.write(tx => tx.put('c', doc('a', value)))
    value.list.push(2)
    const seen = await one.write(tx => {
      tx.put('c', doc('b'))
      return tx.get('c', 'a')?.value
    })
    expect(seen).toEqual({ list: [1] })
  })

  it('knows no document whose value is larger than 64 KiB', async () => {
    const { one, looksOf } = two()
    const read = (tx: Transaction) => tx.put('c', doc('b', tx.get<string>('c', 'a')?.value.length))
    for (const [length, looks] of [
      [32_000, 0],
      [33_000, 1],
    ] as const) {
      await one.write(tx => tx.put('c', doc('a', 'x'.repeat(length))))
      expect(await looksOf(() => one.write(read))).toBe(looks)
    }
  })
})

describe('a work that writes nothing', () => {
  it('reads what is so now', async () => {
    const { one, other } = two()
    await one.write(tx => tx.put('c', doc('a', 1)))
    await other.write(tx => tx.put('c', doc('a', 2)))
    expect(await one.write(tx => numberIn(tx, 'a'))).toBe(2)
    await other.write(tx => tx.put('c', doc('a', 3)))
    expect(await one.write(tx => [numberIn(tx, 'a'), numberIn(tx, 'z')])).toEqual([3, undefined])
    await other.write(tx => tx.put('c', doc('a', 2)))
    expect(await one.read(tx => numberIn(tx, 'a'))).toBe(2)
  })

  it('throws only for what is so now, alone or beside others', async () => {
    const { one, other } = two()
    await one.write(tx => tx.put('c', doc('a', 1)))
    await other.write(tx => tx.delete('c', 'a'))
    const refusing = (tx: Transaction) => {
      if (numberIn(tx, 'a') !== undefined) throw new Error('there is one')
      return 'none'
    }
    const both = [one.write(refusing), one.write(tx => tx.put('c', doc('b')))]
    expect(await Promise.all(both)).toEqual(['none', undefined])
  })
})

describe('an id that is assumed to be new', () => {
  const begin = (id: string) => (tx: Transaction) => {
    tx.assumeNew?.(id)
    if (numberIn(tx, id) !== undefined) return 'was there'
    tx.put('c', doc(id, 1))
    tx.append(id, 'begun')
    return 'is new'
  }

  it('costs no look', async () => {
    const { base, one, looksOf } = two()
    expect(await looksOf(() => one.write(begin('a')))).toBe(0)
    expect(base.counts.commits).toBe(1)
  })

  it.each([
    ['a document', (tx: Transaction) => tx.put('c', doc('a', 7)), 'was there'],
    ['a log', (tx: Transaction) => void tx.append('a', 'theirs'), 'is new'],
  ])('is found where it has %s', async (_, write, answer) => {
    const { one, other } = two()
    await other.write(tx => void write(tx))
    expect(await one.write(begin('a'))).toBe(answer)
    expect(await one.read(tx => numberIn(tx, 'a'))).toBe(answer === 'is new' ? 1 : 7)
  })
})

describe('a recent count', () => {
  afterEach(() => void vi.useRealTimers())

  const add = (id: string) => (tx: Transaction) => {
    tx.assumeNew?.(id)
    const counts = [tx.recentCount?.('c'), tx.recentCount?.('c', 'p'), tx.recentCount?.('c', 'q')]
    tx.put('c', doc(id))
    return counts
  }

  it('has the writes of this process, and those of others after 250 ms', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { one, other, looksOf } = two()
    expect(await one.write(add('a'))).toEqual([0, 0, 0])
    await other.write(tx => tx.put('c', doc('theirs')))
    const looks = await looksOf(async () => {
      const both = [one.write(add('b')), one.write(add('c'))]
      expect(await Promise.all(both)).toEqual([
        [1, 1, 0],
        [2, 2, 0],
      ])
    })
    expect(looks).toBe(0)
    await one.write(tx => tx.delete('c', 'b'))
    expect(await one.write(add('d'))).toEqual([2, 2, 0])
    vi.advanceTimersByTime(250)
    expect(await one.write(add('e'))).toEqual([4, 4, 0])
  })
})

it('a work beside others is not refused because of an old count', async () => {
  const { one, other } = two()
  await other.write(tx => tx.put('c', doc('theirs')))
  const admit = (id: string, most: number) => (tx: Transaction) => {
    tx.assumeNew?.(id)
    if ((tx.recentCount?.('c') ?? 0) >= most) throw new Error('full')
    tx.put('c', doc(id))
  }
  await one.write(admit('a', 2))
  await other.write(tx => tx.delete('c', 'theirs'))
  const both = [one.write(admit('b', 9)), one.write(admit('c', 3))]
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
})

const id = fc.constantFrom('a', 'b', 'c')
const log = fc.constantFrom('l', 'm')
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('get' as const), fc.constant('c'), id), weight: 3 },
  {
    arbitrary: fc.tuple(
      fc.constant('put' as const),
      fc.constant('c'),
      fc.tuple(id, fc.nat(9)).map(([id, value]) => doc(id, value)),
    ),
    weight: 3,
  },
  fc.tuple(fc.constant('delete' as const), fc.constant('c'), id),
  fc.tuple(fc.constant('append' as const), log, fc.constantFrom('x', 'y'), fc.boolean()),
  fc.tuple(fc.constant('deleteLog' as const), log),
  fc.tuple(fc.constant('length' as const), log),
  fc.tuple(fc.constant('isSealed' as const), log),
  fc.tuple(fc.constant('count' as const), fc.constant('c')),
)
const asked = fc.record({
  writer: fc.nat(1),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  /** An id that the work takes for new, though it may not be. */
  assumes: fc.option(fc.oneof(id, log)),
  /** Whether it waits for the work of its process before it. */
  waits: fc.boolean(),
})

it('the works of two processes come to what they would in one order, though answers are lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(asked, { maxLength: 14 }),
      fc.integer({ min: 1, max: 1e6 }),
      async (works, seed) => {
        let random = seed
        const isLost = () => {
          random = (random * 48_271) % 2_147_483_647
          return random % 8 === 0
        }
        const base = lateBase({ seed, isLost })
        const stores = [base.open(), base.open()]
        const orders: { readonly seq: number; readonly steps: readonly Step[]; readonly given: unknown }[] =
          []
        const take = async (store: Store, { steps, assumes }: (typeof works)[number]) => {
          const { seq, given } = await store.write(tx => {
            if (assumes !== null) tx.assumeNew?.(assumes)
            const given = structuredClone(runSteps(tx, steps))
            return { seq: tx.append('order', 'x')!, given }
          }, 60_000)
          orders.push({ seq, steps, given })
        }
        await Promise.all(
          stores.map(async (store, index) => {
            const taken: Promise<void>[] = []
            for (const work of works.filter(({ writer }) => writer === index)) {
              taken.push(take(store, work))
              if (work.waits) await Promise.all(taken)
            }
            await Promise.all(taken)
          }),
        )
        const model = new ModelStore()
        const inOrder = orders.toSorted((a, b) => a.seq - b.seq)
        expect(inOrder.map(({ seq }) => seq)).toEqual(works.map((_, at) => at + 1))
        for (const { steps, given } of inOrder)
          expect(given).toEqual(model.transact(tx => structuredClone(runSteps(tx, steps))))
      },
    ),
    { numRuns: 150 },
  )
})
