import { expect, it } from 'vitest'
import { noteBatch } from '../../../src/features/metrics/batches.ts'
import { memoryStore } from '../../../src/stores/memory.ts'

const ISOLATE = 'isolate'

function places() {
  const store = memoryStore()
  return {
    note: (place: number, isolate = ISOLATE) => store.transact(tx => noteBatch(tx, isolate, place)),
    kept: () => store.transact(tx => JSON.stringify(tx.get('metrics-isolate', ISOLATE)?.value)),
  }
}

it('notes each batch of an isolate once, in whatever order they come', () => {
  const { note } = places()
  const order = [1, 3, 2, 6, 4, 5, 7]
  expect(order.map(place => note(place))).toEqual(order.map(() => true))
  expect(order.map(place => note(place))).toEqual(order.map(() => false))
  expect(note(8)).toBe(true)
})

it('tells isolates apart', () => {
  const { note } = places()
  expect([note(1), note(1, 'other'), note(1, 'other')]).toEqual([true, true, false])
})

it('keeps no more than a bound, where a batch never comes', () => {
  const { note, kept } = places()
  for (let place = 2; place < 5000; place++) expect(note(place)).toBe(true)
  expect(kept().length).toBeLessThan(10_000)
  expect(note(4999)).toBe(false)
  expect(note(2)).toBe(false)
})
