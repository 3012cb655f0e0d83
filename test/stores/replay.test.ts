import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { readLog } from '../../src/stores/read-log.ts'
import type { RemoteStore, StoreAnswers, StoreQueries } from '../../src/stores/remote/remote.ts'
import { createReplay } from '../../src/stores/remote/replay.ts'
import type { Document, Transaction } from '../../src/stores/store.ts'
import { lateBase, lateStore } from '../contracts/store/late.ts'
import { ModelStore } from '../contracts/store/model.ts'
import { here, runSteps, type Step } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'

describe('a store that answers late', () => storeContract(() => here(lateStore())))

const doc = (id: string, value: unknown = null, more: Partial<Document> = {}): Document => ({
  id,
  partition: 'p',
  at: 1,
  tags: {},
  value,
  ...more,
})

/** Adds one to what a document counts. */
function countUp(tx: Transaction): number {
  const count = (tx.get<number>('c', 'count')?.value ?? 0) + 1
  tx.put('c', doc('count', count))
  return count
}

describe('a work on a far store', () => {
  it('is written beside others, however long what they read depends on what the ones before them wrote', async () => {
    const base = lateBase()
    const store = base.open()
    const steps = 200
    await base.open().write(tx => {
      for (let at = 0; at < steps; at++) tx.put('c', doc(`${at}`, `${at + 1}`))
      tx.put('c', doc('at', '0'))
    })
    const step = (tx: Transaction) => {
      const at = tx.get<string>('c', 'at')?.value ?? ''
      const next = tx.get<string>('c', at)?.value ?? ''
      tx.put('c', doc('at', next))
      return next
    }
    // Works of one turn share a commit. Another one reads what the last one wrote.
    const taken = await Promise.all(Array.from({ length: steps }, () => store.write(step)))
    expect(taken).toEqual(Array.from({ length: steps }, (_, at) => `${at + 1}`))
    expect(await store.read(tx => tx.get('c', 'at')?.value)).toBe(`${steps}`)
  })

  it('takes an answer that came while its process was frozen, however long that was', async () => {
    const store = lateStore()
    await store.write(tx => tx.put('c', doc('a', 1)))
    const patienceMs = 100
    const reading = store.read(tx => tx.get('c', 'a')?.value, patienceMs)
    const thawed = performance.now() + 2 * patienceMs
    while (performance.now() < thawed);
    expect(await reading).toBe(1)
  })

  it('is asked for all that it wants to know together, and played until nothing is guessed', async () => {
    const base = lateBase()
    const store = base.open()
    await store.write(tx => {
      for (const id of ['a', 'b', 'c']) tx.put('c', doc(id, id))
    })
    const before = base.counts.looks
    const passes: unknown[] = []
    const given = await store.read(tx => {
      const found = ['a', 'b', 'c'].map(id => tx.get('c', id)?.value)
      passes.push(found)
      if (found.includes(undefined)) throw new TypeError('a guess, which nobody hears of')
      return [...found, tx.count('c')]
    })
    expect(given).toEqual(['a', 'b', 'c', 3])
    expect(passes).toEqual([
      [undefined, undefined, undefined],
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
    expect(base.counts.looks - before).toBe(2)
  })

  it('sees one moment, however often it is played', async () => {
    const base = lateBase({ seed: 5 })
    const [reader, writer] = [base.open(), base.open()]
    let isOver = false
    const writing = (async () => {
      for (let n = 1; n <= 60; n++) {
        await writer.write(tx => {
          tx.put('c', doc('one', n))
          tx.put('c', doc('two', n))
          tx.append('l', String(n))
        })
      }
      isOver = true
    })()
    while (!isOver) {
      const [one, two, length, last] = await reader.read(tx => {
        const one = tx.get<number>('c', 'one')?.value ?? 0
        // What is asked next goes by what was answered before.
        const two = one === 0 ? 0 : tx.get<number>('c', 'two')?.value
        return [one, two, tx.length('l'), tx.read('l', one - 1, 10).at(-1)?.seq ?? 0]
      })
      expect([two, length, last]).toEqual([one, one, one])
    }
    await writing
  })

  it('has a clock that stands still', async () => {
    const store = lateStore()
    const seen = new Set<number>()
    await store.write(tx => {
      seen.add(tx.now)
      for (const { id } of tx.expired('c', tx.now, 10)) tx.delete('c', id)
      tx.count('c')
    })
    expect(seen.size).toBe(1)
  })

  it('reads a log to its end in few looks', async () => {
    const base = lateBase()
    const store = base.open()
    await store.write(tx => {
      for (let n = 0; n < 10_000; n++) tx.append('l', String(n))
    })
    const before = base.counts.looks
    const entries = await store.read(tx => Array.from(readLog(tx, 'l'), ({ seq }) => seq))
    expect(entries).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1))
    expect(base.counts.looks - before).toBeLessThan(12)
  })

  it('that always asks for something else is given up', async () => {
    const store = lateStore()
    let id = 0
    const asking = store.read(tx => tx.get('c', String(id++)), 20)
    await expect(asking).rejects.toMatchObject({ code: 'state_unavailable' })
  })

  it('that asks nothing hears whether the store is there', async () => {
    const store = lateStore({ isLost: () => true })
    await expect(store.read(() => 'there', 20)).rejects.toMatchObject({ code: 'state_unavailable' })
    await expect(store.write(() => 'there', 20)).rejects.toMatchObject({ code: 'state_unavailable' })
  })

  it('throws what it throws once it has seen what is so', async () => {
    const store = lateStore()
    await store.write(tx => tx.put('c', doc('a')))
    const work = vi.fn((tx: Transaction) => {
      if (tx.get('c', 'a') !== undefined) throw new Error('there is one')
      return 'there is none'
    })
    await expect(store.write(work)).rejects.toThrow('there is one')
    // On what the process knew, on a guess, and on the answer.
    expect(work).toHaveBeenCalledTimes(3)
  })
})

describe('writes of a far store', () => {
  it('are lost by nobody, whoever writes at the same moment', async () => {
    const base = lateBase()
    const stores = [base.open(), base.open(), base.open()]
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, index) => stores[index % 3]!.write(countUp, 15_000)),
    )
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect(base.counts.conflicts).toBeGreaterThan(0)
  })

  it('of one process see each other, in lists and counts too, and come in their order', async () => {
    const base = lateBase()
    const store = base.open()
    const places = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        store.write(tx => {
          const place = tx.count('c', 'p')
          const newest = tx.list<number>('c', { partition: 'p', limit: 1 })[0]?.value
          tx.put('c', doc(`d${index}`, index, { at: index }))
          return [place, newest, tx.append('l', String(index))]
        }),
      ),
    )
    expect(places).toEqual(places.map((_, index) => [index, index === 0 ? undefined : index - 1, index + 1]))
    expect(base.counts.conflicts).toBe(0)
    expect(base.counts.commits).toBeLessThan(5)
  })

  it('undo what one of them throws, and no other', async () => {
    const store = lateStore()
    const works = [false, true, false].map((throws, index) =>
      store.write(tx => {
        tx.put('c', doc(String(index)))
        tx.append('l', String(index))
        if (throws) throw new Error('on purpose')
      }),
    )
    expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    const seen = await store.read(tx => [tx.count('c'), tx.read('l', 0, 10).map(({ data }) => data)])
    expect(seen).toEqual([2, ['0', '2']])
  })

  it('over what a list has shown come to nothing where it has changed since', async () => {
    const base = lateBase()
    const [one, other] = [base.open(), base.open()]
    await one.write(tx => tx.put('c', doc('a', 'old', { expiresAt: 1 })))
    let putting: unknown
    const taking = one.write(tx => {
      const expired = tx.expired('c', 10, 10)
      if (expired.length > 0) putting ??= other.write(tx => tx.put('c', doc('a', 'new', { expiresAt: 99 })))
      for (const { id } of expired) tx.delete('c', id)
    })
    await taking
    await putting
    // It was taken and then written anew, or was no longer there to be taken.
    expect(await one.read(tx => tx.get('c', 'a')?.value)).toBe('new')
  })

  it('are written once, though requests and answers are lost', async () => {
    let random = 7
    const isLost = () => {
      random = (random * 48_271) % 2_147_483_647
      return random % 4 === 0
    }
    const base = lateBase({ isLost })
    const [one, other] = [base.open(), base.open()]
    for (let n = 0; n < 20; n++) {
      await Promise.all(
        [one, other].map(store =>
          store.write(tx => {
            tx.append('l', 'x')
            return countUp(tx)
          }, 15_000),
        ),
      )
    }
    const seen = await one.read(tx => [tx.get('c', 'count')?.value, tx.length('l')], 15_000)
    expect(seen).toEqual([40, 40])
  })

  it('into a log ask nothing where an earlier one has seen its end, and look where that was wrong', async () => {
    const base = lateBase()
    const [store, other] = [base.open(), base.open()]
    const seeEnds = (tx: Transaction) => {
      tx.put('c', doc('d'))
      return [tx.length('l'), tx.length('m')]
    }
    expect(await store.write(seeEnds)).toEqual([0, 0])
    await other.write(tx => tx.append('m', 'theirs'))
    const before = base.counts.looks
    expect(await store.write(tx => tx.append('l', 'ours'))).toBe(1)
    expect(base.counts.looks - before).toBe(0)
    expect(await store.write(tx => tx.append('m', 'ours'))).toBe(2)
    expect(await store.read(tx => tx.read('m', 0, 9).map(({ data }) => data))).toEqual(['theirs', 'ours'])
  })

  it('that are too much are refused alone', async () => {
    const far: RemoteStore = {
      look: async asks => asks.map((): StoreAnswers[keyof StoreQueries] => undefined),
      async commit({ documents }) {
        if (documents.some(({ id }) => id === 'large')) throw new RangeError('too large')
        return { version: 1 }
      },
      now: () => 0,
    }
    const { write } = createReplay(far)
    const works = ['small', 'large', 'little'].map(id => write(tx => tx.put('c', doc(id))))
    const settled = await Promise.allSettled(works)
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(settled[1]).toMatchObject({ reason: { message: 'too large' } })
  })

  it('that wait when it is closed are told', async () => {
    const store = lateStore({ isLost: () => true })
    const writing = Promise.resolve(store.write(countUp, 15_000))
    const reading = Promise.resolve(store.read(tx => tx.count('c'), 15_000))
    store.close()
    const refused = { status: 'rejected', reason: { code: 'state_unavailable' } }
    expect(await Promise.allSettled([writing, reading, store.write(countUp)])).toMatchObject([
      refused,
      refused,
      refused,
    ])
  })
})

const id = fc.constantFrom('likewise-a', 'likewise-b', 'separate-c')
const document = fc
  .record({
    id,
    partition: fc.constantFrom('p', 'q'),
    at: fc.integer({ min: 0, max: 3 }),
    tags: fc.dictionary(fc.constantFrom('kind', 't'), fc.constantFrom('1', '2'), { noNullPrototype: true }),
    value: fc.nat(9),
    expires: fc.nat(9),
  })
  // No two of one expiry: the contract leaves their order open.
  .map(({ expires, ...rest }) => ({
    ...rest,
    expiresAt: expires * 10 + rest.id.length + rest.id.charCodeAt(9),
  }))
const limit = fc.integer({ min: 1, max: 3 })
const at = fc.integer({ min: 0, max: 3 })
const query = fc.record(
  { partition: fc.constantFrom('p', 'q'), after: fc.record({ at, id }), limit },
  { requiredKeys: ['partition', 'limit'] },
)
const tags = fc.dictionary(fc.constantFrom('kind', 't'), fc.constantFrom('1', '2'), { noNullPrototype: true })
const log = fc.constantFrom('l', 'm')
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('put' as const), fc.constant('c'), document), weight: 5 },
  { arbitrary: fc.tuple(fc.constant('delete' as const), fc.constant('c'), id), weight: 2 },
  {
    arbitrary: fc.tuple(fc.constant('append' as const), log, fc.constantFrom('x', 'y'), fc.boolean()),
    weight: 2,
  },
  fc.tuple(fc.constant('deleteLog' as const), log),
  fc.tuple(fc.constant('get' as const), fc.constant('c'), id),
  fc.tuple(fc.constant('list' as const), fc.constant('c'), query),
  fc.tuple(
    fc.constant('search' as const),
    fc.constant('c'),
    fc.tuple(query, tags, fc.boolean()).map(([{ partition, ...query }, tags, isOfAll]) => ({
      ...query,
      ...(!isOfAll && { partition }),
      ...{ tags, looks: 100 },
    })),
  ),
  fc.tuple(
    fc.constant('countMatching' as const),
    fc.constant('c'),
    tags.map(tags => ({ partition: 'p', tags, looks: 100 })),
  ),
  fc.tuple(fc.constant('withPrefix' as const), fc.constant('c'), fc.constant('likewise'), limit),
  fc.tuple(fc.constant('count' as const), fc.constant('c')),
  fc.tuple(fc.constant('count' as const), fc.constant('c'), fc.constantFrom('p', 'q')),
  fc.tuple(fc.constant('expired' as const), fc.constant('c'), fc.nat(200), limit),
  fc.tuple(fc.constant('oldest' as const), fc.constant('c'), limit),
  fc.tuple(fc.constant('read' as const), log, fc.nat(3), limit),
  fc.tuple(fc.constant('length' as const), log),
  fc.tuple(fc.constant('isSealed' as const), log),
)
const transaction = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  throws: fc.constantFrom(false, false, true),
})

it('a far store answers as the model does, though works lie over each other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(transaction, { maxLength: 8 }), async transactions => {
      const [store, model] = [lateStore(), new ModelStore()]
      const works = transactions.map(({ steps, throws }): Step[] =>
        throws ? [...steps, ['throw', 'on purpose']] : steps,
      )
      const expected = works.map(steps => {
        try {
          return model.transact(tx => structuredClone(runSteps(tx, steps)))
        } catch (error) {
          return String(error)
        }
      })
      // All at once: they are played one over the other.
      const given = works.map(steps => Promise.resolve(store.write(tx => runSteps(tx, steps))).catch(String))
      expect(await Promise.all(given)).toEqual(expected)
    }),
    { numRuns: 150 },
  )
})
