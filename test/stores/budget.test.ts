import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MemoryStore, memoryStore } from '../../src/stores/memory.ts'
import { sizeOf, sizeOfEntry } from '../../src/stores/size.ts'
import type { Document, Eviction, Transaction } from '../../src/stores/store.ts'
import { BudgetModel, type Write } from '../contracts/store/budget-model.ts'

const MAX = 8000

const collection = fc.constantFrom('c', 'd')
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const thing = fc.constantFrom('t', 'u', 'v')

const document: fc.Arbitrary<Document> = fc.record({
  id,
  partition: fc.constantFrom('p', 'q'),
  at: fc.integer({ min: 0, max: 5 }),
  tags: fc.constant({ t: '1' }),
  value: fc.oneof(
    fc.jsonValue(),
    fc.nat(2000).map(length => 'x'.repeat(length)),
  ),
})

const footing: fc.Arbitrary<Eviction> = fc.record(
  { thing, leaves: fc.constantFrom('alone', 'first', 'last'), weight: fc.nat(1000) },
  { requiredKeys: [] },
)

const write: fc.Arbitrary<Write> = fc.oneof(
  { arbitrary: fc.tuple(fc.constant('put' as const), collection, document, footing), weight: 5 },
  fc.tuple(fc.constant('delete' as const), collection, id),
  {
    arbitrary: fc.tuple(
      fc.constant('append' as const),
      thing,
      fc.nat(1500).map(length => 'y'.repeat(length)),
    ),
    weight: 2,
  },
  fc.tuple(fc.constant('deleteLog' as const), thing),
)

type Act =
  | { readonly writes: readonly Write[]; readonly throws: boolean }
  | { readonly hold: string }
  | { readonly release: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    arbitrary: fc.record({
      writes: fc.array(write, { minLength: 1, maxLength: 6 }),
      throws: fc.constantFrom(false, false, false, true),
    }),
    weight: 8,
  },
  fc.record({ hold: thing }),
  fc.record({ release: fc.nat(5) }),
)

function perform(tx: Transaction, write: Write): void {
  if (write[0] === 'put') tx.put(write[1], write[2], write[3])
  else if (write[0] === 'delete') tx.delete(write[1], write[2])
  else if (write[0] === 'append') tx.append(write[1], write[2])
  else tx.deleteLog(write[1])
}

function isDone(store: MemoryStore, writes: readonly Write[], throws: boolean): boolean {
  try {
    store.transact(tx => {
      for (const one of writes) perform(tx, one)
      if (throws) throw new Error('on purpose')
    })
    return true
  } catch (error) {
    expect(throws ? error : Object(error).code).toEqual(throws ? new Error('on purpose') : 'state_full')
    return false
  }
}

/** A store, and the model of it. */
interface Pair {
  readonly store: MemoryStore
  readonly model: BudgetModel
  readonly releases: (() => void)[]
}

/** Does the same to both, and compares them. */
function play({ store, model, releases }: Pair, act: Act, seen: { refused: number; left: number }): void {
  if ('hold' in act) {
    model.holds.push(act.hold)
    releases.push(store.hold!(act.hold))
    return
  }
  if ('release' in act) {
    model.holds.splice(act.release, 1)
    for (const release of releases.splice(act.release, 1)) release()
    return
  }
  const before = model.contents.parts.length
  const done = model.transact(act.writes, act.throws)
  expect(isDone(store, act.writes, act.throws)).toBe(done)
  expect(contentsOf(store)).toEqual(contentsOfModel(model))
  expect(store.usedBytes).toBeLessThanOrEqual(MAX)
  if (!done && !act.throws) seen.refused++
  if (model.contents.parts.length < before) seen.left++
}

/** All documents and logs that may be there. */
function contentsOf(store: MemoryStore): unknown {
  const names = ['c', 'd'].flatMap(name => 'abcdef'.split('').map(id => [name, id] as const))
  return store.transact(tx => ({
    documents: names.flatMap(([name, id]) => tx.get(name, id) ?? []),
    logs: ['t', 'u', 'v'].map(log => tx.read(log, 0, 100).map(({ data }) => data)),
    used: store.usedBytes,
  }))
}

function contentsOfModel({ contents, used }: BudgetModel): unknown {
  const { parts, logs } = contents
  const ordered = parts.toSorted((a, b) =>
    a.collection + a.document.id < b.collection + b.document.id ? -1 : 1,
  )
  return {
    documents: ordered.map(({ document }) => document),
    logs: ['t', 'u', 'v'].map(log => logs[log] ?? []),
    used,
  }
}

describe('a store in memory of bounded size', () => {
  it('counts as one who counts anew, never holds too much, and lets the same ones leave, whatever is written', () => {
    const seen = { refused: 0, left: 0 }
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), acts => {
        const pair = { store: memoryStore(MAX), model: new BudgetModel(MAX), releases: [] }
        for (const one of acts) play(pair, one, seen)
      }),
      { numRuns: 200 },
    )
    // It was about something.
    expect(seen.refused).toBeGreaterThan(20)
    expect(seen.left).toBeGreaterThan(20)
  })

  const put = (store: MemoryStore, id: string, footing: Eviction, length = 1000) =>
    store.transact(tx =>
      tx.put('c', { id, partition: '', at: 0, tags: {}, value: 'x'.repeat(length) }, footing),
    )
  const idsIn = (store: MemoryStore) => store.transact(tx => tx.oldest('c', 100).map(({ id }) => id)).join('')

  it('lets those leave that were written longest ago, and those that are to be last only after all others', () => {
    const store = memoryStore(9000)
    put(store, 'a', { leaves: 'last' })
    put(store, 'b', { leaves: 'first' })
    put(store, 'c', { leaves: 'first' })
    put(store, 'b', { leaves: 'first' })
    expect(idsIn(store)).toBe('abc')
    put(store, 'd', {})
    expect(idsIn(store)).toBe('abd')
    put(store, 'e', {})
    expect(idsIn(store)).toBe('ade')
    put(store, 'f', {})
    expect(idsIn(store)).toBe('def')
    expect(() => put(store, 'g', { leaves: 'first' })).toThrow('The memory of the state is full')
    expect(idsIn(store)).toBe('def')
  })

  it('holds less from the next write on where it may hold less', () => {
    const store = memoryStore(9000)
    for (const id of 'abc') put(store, id, { leaves: 'first' })
    store.maxBytes = 6000
    put(store, 'd', {})
    expect(idsIn(store)).toBe('cd')
  })

  it('keeps of an object of a class what JSON makes of it', () => {
    const store = memoryStore(9000)
    const value = { when: new Date(0), many: new Map([['x', 'y'.repeat(100_000)]]) }
    store.transact(tx => tx.put('c', { id: 'a', partition: '', at: 0, tags: {}, value }))
    const kept = store.transact(tx => tx.get('c', 'a')?.value)
    expect(kept).toEqual({ when: '1970-01-01T00:00:00.000Z', many: {} })
  })
})

describe('sizeOf', () => {
  it('is two bytes a character and more, of text and of what holds it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = typeof value === 'string' ? value : ''
        expect(sizeOf(value)).toBeGreaterThanOrEqual(2 * text.length)
        expect(sizeOf([value, value])).toBeGreaterThan(sizeOf(value) ?? 0)
        expect(sizeOf({ a: value })).toBeGreaterThan(sizeOf(value) ?? 0)
      }),
    )
  })

  it('looks into what is nested as deeply as a body can be', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(sizeOf(deep)).toBeGreaterThan(100_000 * 40)
  })

  it.each([
    ['a date', new Date()],
    ['bytes', new Uint8Array(3)],
    ['a map in an array', [new Map()]],
    ['a function', { f() {} }],
    ['a bigint', [1n]],
  ])('does not know %s', (_, value) => expect(sizeOf(value)).toBeUndefined())

  it('counts an entry of a log by its characters', () => {
    expect(sizeOfEntry('xx') - sizeOfEntry('')).toBe(4)
  })
})
