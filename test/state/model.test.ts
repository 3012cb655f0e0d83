import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/state/memory.ts'
import { sqlStore } from '../../src/state/sql.ts'
import type { Document, NearStore } from '../../src/state/store.ts'
import { ModelStore } from '../contracts/store/model.ts'
import { runSteps, type Step } from '../contracts/store/steps.ts'

const collection = fc.constantFrom('c', 'd')
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const partition = fc.constantFrom('p', 'q')
const at = fc.integer({ min: 0, max: 5 })
const limit = fc.integer({ min: 0, max: 6 })
const log = fc.constantFrom('l', 'm')
const tags = fc.dictionary(fc.constantFrom('t', 'u'), fc.constantFrom('1', '2'), { noNullPrototype: true })

const document: fc.Arbitrary<Document> = fc
  .record({
    id,
    partition,
    at,
    tags,
    // JSON has no -0.
    value: fc.jsonValue().map(value => JSON.parse(JSON.stringify(value))),
    expires: fc.option(fc.nat(99), { nil: undefined }),
  })
  .map(({ expires, ...rest }) => ({
    ...rest,
    // No two of one expiry: the contract leaves their order open.
    ...(expires !== undefined && { expiresAt: expires * 10 + 'abcdef'.indexOf(rest.id) }),
  }))

const query = fc.record(
  { partition, tags, after: fc.record({ at, id }), limit },
  { requiredKeys: ['partition', 'limit'] },
)

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('put' as const), collection, document), weight: 6 },
  { arbitrary: fc.tuple(fc.constant('delete' as const), collection, id), weight: 2 },
  { arbitrary: fc.tuple(fc.constant('append' as const), log, fc.string()), weight: 3 },
  fc.tuple(fc.constant('append' as const), log, fc.string(), fc.boolean()),
  fc.tuple(fc.constant('deleteLog' as const), log),
  fc.tuple(fc.constant('get' as const), collection, id),
  { arbitrary: fc.tuple(fc.constant('list' as const), collection, query), weight: 3 },
  fc.tuple(fc.constant('count' as const), collection),
  fc.tuple(fc.constant('count' as const), collection, partition),
  fc.tuple(fc.constant('expired' as const), collection, fc.integer({ min: 0, max: 1000 }), limit),
  fc.tuple(fc.constant('oldest' as const), collection, limit),
  fc.tuple(fc.constant('read' as const), log, fc.nat(6), limit),
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

describe('memoryStore', () => {
  it('answers as the model does, whatever is done', () => agrees(memoryStore, 300))
})

describe('sqlStore', () => {
  it('answers as the model does, whatever is done', () =>
    agrees(() => sqlStore(openDatabase(':memory:')), 300))
})
