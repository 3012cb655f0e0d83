import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { alone } from '../../src/stores/presence.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import type { Document, NearStore, Position } from '../../src/stores/store.ts'
import { ModelStore } from '../contracts/store/model.ts'
import { runSteps, type Step } from '../contracts/store/steps.ts'
import { inObject } from './object-storage.ts'

const collection = fc.constantFrom('c', 'd')
const id = fc.constantFrom(
  ...'abcdef'.split('').map(letter => `${letter < 'd' ? 'likewise' : 'separate'}-${letter}`),
)
const partition = fc.constantFrom('p', 'q')
const at = fc.integer({ min: 0, max: 5 })
const limit = fc.integer({ min: 0, max: 6 })
const log = fc.constantFrom('l', 'm')
// Two that have an index in SQL, and one that has none.
const tags = fc.dictionary(fc.constantFrom('kind', 'status', 't'), fc.constantFrom('1', '2'), {
  noNullPrototype: true,
})

const words = fc
  .array(fc.constantFrom('one', 'ONE', 'two', ' ', '%', 'o'), { maxLength: 4 })
  .map(all => all.join(''))

const document: fc.Arbitrary<Document> = fc
  .record({
    id,
    partition,
    at,
    tags,
    // JSON has no -0.
    value: fc.jsonValue().map(value => JSON.parse(JSON.stringify(value))),
    expires: fc.option(fc.nat(99), { nil: undefined }),
    text: fc.option(words, { nil: undefined }),
  })
  .map(({ expires, text, ...rest }) => ({
    ...rest,
    ...(text !== undefined && { text }),
    // No two of one expiry: the contract leaves their order open.
    ...(expires !== undefined && { expiresAt: expires * 10 + 'abcdef'.indexOf(rest.id.at(-1)!) }),
  }))

const after = fc.record({ at, id })
const query = fc.record({ partition, after, limit }, { requiredKeys: ['partition', 'limit'] })
const search = fc
  .record(
    { partition, tags, since: at, after, text: words, limit: fc.integer({ min: 1, max: 6 }) },
    { requiredKeys: ['limit'] },
  )
  .map(rest => ({ ...rest, looks: 100 }))

const filter = search.map(({ after: _, ...rest }) => rest)

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('put' as const), collection, document), weight: 6 },
  { arbitrary: fc.tuple(fc.constant('delete' as const), collection, id), weight: 2 },
  { arbitrary: fc.tuple(fc.constant('append' as const), log, fc.string()), weight: 3 },
  fc.tuple(fc.constant('append' as const), log, fc.string(), fc.boolean()),
  fc.tuple(fc.constant('deleteLog' as const), log),
  fc.tuple(fc.constant('get' as const), collection, id),
  { arbitrary: fc.tuple(fc.constant('list' as const), collection, query), weight: 3 },
  { arbitrary: fc.tuple(fc.constant('search' as const), collection, search), weight: 5 },
  fc.tuple(fc.constant('countMatching' as const), collection, filter),
  fc.tuple(
    fc.constant('withPrefix' as const),
    collection,
    fc.constantFrom('likewise', 'separate', 'separate-e'),
    limit,
  ),
  fc.tuple(fc.constant('count' as const), collection),
  fc.tuple(fc.constant('count' as const), collection, partition),
  fc.tuple(fc.constant('expired' as const), collection, fc.integer({ min: 0, max: 1000 }), limit),
  fc.tuple(fc.constant('oldest' as const), collection, limit),
  fc.tuple(fc.constant('read' as const), log, fc.nat(6), limit),
  fc.tuple(fc.constant('length' as const), log),
  fc.tuple(fc.constant('isSealed' as const), log),
)

const transaction = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  throws: fc.constantFrom(false, false, false, true),
})

/** What a transaction gives, or that it threw. */
function answersOf(store: Pick<NearStore, 'transact'>, steps: readonly Step[], throws: boolean): unknown {
  const all: readonly Step[] = throws ? [...steps, ['throw', 'on purpose']] : steps
  try {
    return store.transact(tx => runSteps(tx, all))
  } catch (error) {
    return String(error)
  }
}

function agrees(make: () => NearStore, numRuns: number): void {
  fc.assert(
    fc.property(fc.array(transaction, { maxLength: 12 }), transactions => {
      const store = make()
      const model = new ModelStore()
      try {
        for (const { steps, throws } of transactions) {
          expect(answersOf(store, steps, throws)).toEqual(answersOf(model, steps, throws))
        }
      } finally {
        store.close()
      }
    }),
    { numRuns },
  )
}

/** However few documents a search looks at, one after the other finds all that there are, each once, in order. */
function findsAll(make: () => NearStore, numRuns: number): void {
  const documents = fc.uniqueArray(document, { maxLength: 40, selector: ({ id, at }) => `${id}${at}` })
  const looks = fc.integer({ min: 1, max: 12 })
  fc.assert(
    fc.property(documents, search, looks, (given, query, looks) => {
      const store = make()
      const model = new ModelStore()
      try {
        for (const one of given) {
          const named = { ...one, id: `${one.id}${one.at}` }
          for (const side of [store, model]) side.transact(tx => tx.put('c', named))
        }
        const seen: string[] = []
        let after: Position | undefined = query.after
        // Each looks at one at least.
        for (let asked = 0; asked <= given.length; asked++) {
          const found = store.transact(tx => tx.search('c', { ...query, after, looks }))
          expect(found.documents.length).toBeLessThanOrEqual(Math.min(looks, query.limit))
          seen.push(...found.documents.map(({ id }) => id))
          after = found.next
          if (after === undefined) break
        }
        expect(after).toBeUndefined()
        const all = model.search('c', { ...query, limit: given.length + 1 })
        expect(seen).toEqual(all.documents.map(({ id }) => id))
        const { limit: _, ...filter } = query
        const { count, isCut } = store.transact(tx => tx.countMatching('c', { ...filter, looks }))
        expect(count).toBeLessThanOrEqual(Math.min(looks, all.documents.length))
        if (!isCut) expect(count).toBe(all.documents.length)
      } finally {
        store.close()
      }
    }),
    { numRuns },
  )
}

const stores: [string, () => NearStore][] = [
  ['memoryStore', memoryStore],
  ['sqlStore', () => sqlStore(openDatabase(':memory:'))],
  [
    'sqlStore without indices of tags',
    () => sqlStore(openDatabase(':memory:'), alone(), { indexesTags: false }),
  ],
  ['objectStore', () => inObject(false)],
  ['objectStore of an object that is evicted again and again', () => inObject(true)],
]

describe.each(stores)('%s', (_, make) => {
  it('answers as the model does, whatever is done', () => agrees(make, 300))

  it('finds all that there is, however few documents it looks at', () => findsAll(make, 300))
})
