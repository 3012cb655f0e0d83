import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { InMemoryCollections } from '../../src/stores/objects/in-memory.ts'
import type { NearStore, Transaction } from '../../src/stores/store.ts'

const PASSING = 'passing'
const KEPT = 'kept'

/** A store of which one collection passes. */
function inMemoryStore(): Pick<NearStore, 'transact'> & {
  readonly kept: NearStore
  readonly passing: InMemoryCollections
} {
  const [kept, inMemory] = [memoryStore(), new InMemoryCollections()]
  inMemory.add(PASSING)
  return {
    kept,
    passing: inMemory,
    transact: work => inMemory.transact(() => kept.transact(tx => work(inMemory.over(tx)))),
  }
}

const document = (id: string, partition = 'p', at = 1, expiresAt?: number) => ({
  id,
  partition,
  at,
  tags: {},
  value: `${id} of ${partition}`,
  ...(expiresAt !== undefined && { expiresAt }),
})

const ids = fc.constantFrom('a', 'b', 'c', 'd')
const partitions = fc.constantFrom('p', 'q')
const times = fc.integer({ min: 1, max: 5 })
const steps = fc.oneof(
  fc
    .tuple(ids, partitions, times, fc.option(times, { nil: undefined }))
    .map(each => (tx: Transaction) => tx.put(PASSING, document(...each))),
  ids.map(id => (tx: Transaction) => tx.delete(PASSING, id)),
)

const look = (tx: Transaction) => ({
  documents: ['a', 'b', 'c', 'd'].map(id => tx.get(PASSING, id)),
  counts: [undefined, 'p', 'q'].map(partition => tx.count(PASSING, partition)),
  oldest: [undefined, 'p', 'q'].map(partition => tx.oldest(PASSING, 2, partition)),
  // Those that expire at one moment come in any order.
  expired: tx.expired(PASSING, 3, 10).map(({ expiresAt }) => expiresAt),
})

describe('Passing', () => {
  it('does what a store does, also where transactions throw', () => {
    const transactions = fc.array(fc.tuple(fc.array(steps, { maxLength: 6 }), fc.boolean()), { maxLength: 8 })
    fc.assert(
      fc.property(transactions, all => {
        const [store, model] = [inMemoryStore(), memoryStore()]
        for (const [steps, fails] of all) {
          const work = (tx: Transaction) => {
            for (const step of steps) step(tx)
            if (fails) throw new RangeError('undone')
          }
          for (const each of [store, model]) {
            if (fails) expect(() => each.transact(work)).toThrow(RangeError)
            else each.transact(work)
          }
          expect(store.transact(look)).toEqual(model.transact(look))
        }
      }),
    )
  })

  it('leaves all else where it is', () => {
    const { kept, passing: inMemory, transact } = inMemoryStore()
    transact(tx => {
      tx.put(KEPT, document('a'))
      tx.put(PASSING, document('a'))
      tx.append('log', 'one')
    })
    expect(kept.read(tx => [tx.count(KEPT), tx.count(PASSING), tx.length('log')])).toEqual([1, 0, 1])
    expect(transact(tx => [tx.count(KEPT), tx.count(PASSING), tx.length('log')])).toEqual([1, 1, 1])
    inMemory.clear()
    expect(transact(tx => [tx.count(KEPT), tx.count(PASSING)])).toEqual([1, 0])
  })
})
