import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comparePositions, Timeline } from '../../src/stores/timeline.ts'
import { doc, ids } from '../contracts/store/document.ts'

const place = fc.record({ at: fc.integer({ min: 0, max: 8 }), id: fc.constantFrom('a', 'b', 'c', 'd') })
const change = fc.record({ kind: fc.constantFrom('put', 'put', 'delete'), place })

describe('comparePlaces', () => {
  it('goes by time, then by id', () => {
    expect(comparePositions({ at: 1, id: 'b' }, { at: 2, id: 'a' })).toBeLessThan(0)
    expect(comparePositions({ at: 2, id: 'a' }, { at: 2, id: 'b' })).toBeLessThan(0)
    expect(comparePositions({ at: 2, id: 'b' }, { at: 2, id: 'a' })).toBeGreaterThan(0)
    expect(comparePositions({ at: 2, id: 'a' }, { at: 2, id: 'a' })).toBe(0)
  })
})

describe('Timeline', () => {
  it('holds nothing at first', () => {
    const timeline = new Timeline()
    timeline.delete({ at: 1, id: 'a' })
    expect([...timeline.newest(), ...timeline.oldest(), timeline.size]).toEqual([0])
  })

  it('replaces the document of the same place', () => {
    const timeline = new Timeline()
    timeline.put(doc('a', { value: 1 }))
    timeline.put(doc('a', { value: 2 }))
    expect(timeline.size).toBe(1)
    expect([...timeline.oldest()].map(({ value }) => value)).toEqual([2])
  })

  it('takes a document back where one was deleted', () => {
    const timeline = new Timeline()
    for (const id of ['a', 'b', 'c', 'd']) timeline.put(doc(id))
    timeline.delete({ at: 1, id: 'b' })
    timeline.delete({ at: 1, id: 'b' })
    expect(timeline.size).toBe(3)
    timeline.put(doc('b', { value: 'again' }))
    expect(timeline.size).toBe(4)
    expect(ids([...timeline.oldest()])).toEqual(['a', 'b', 'c', 'd'])
  })

  it('is the sorted list of what is in it, whatever came and went', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), place, (changes, after) => {
        const timeline = new Timeline()
        const model = new Map<string, { at: number; id: string }>()
        for (const { kind, place } of changes) {
          if (kind === 'put') timeline.put(doc(place.id, place))
          else timeline.delete(place)
          if (kind === 'put') model.set(JSON.stringify(place), place)
          else model.delete(JSON.stringify(place))
        }
        const sorted = [...model.values()].toSorted(comparePositions)
        const places = (documents: Iterable<{ at: number; id: string }>) =>
          Array.from(documents, ({ at, id }) => ({ at, id }))
        expect(timeline.size).toBe(sorted.length)
        expect(places(timeline.oldest())).toEqual(sorted)
        expect(places(timeline.newest())).toEqual(sorted.toReversed())
        const before = sorted.filter(one => comparePositions(one, after) < 0)
        expect(places(timeline.newest(after))).toEqual(before.toReversed())
        const from = sorted.filter(one => comparePositions(one, after) >= 0)
        expect(places(timeline.oldest(after))).toEqual(from)
      }),
    )
  })

  it('stays sorted when it is large, from whichever end it is filled and emptied', () => {
    for (const step of [1, -1, 7]) {
      const timeline = new Timeline()
      const count = 3001
      const order = Array.from({ length: count }, (_, i) => (((i * step) % count) + count) % count)
      for (const at of order) timeline.put(doc(`id-${at}`, { at }))
      expect(timeline.size).toBe(count)
      for (const at of order.slice(0, 2000)) timeline.delete({ at, id: `id-${at}` })
      const left = order.slice(2000).toSorted((a, b) => a - b)
      expect(Array.from(timeline.oldest(), ({ at }) => at)).toEqual(left)
      expect(Array.from(timeline.newest(), ({ at }) => at)).toEqual(left.toReversed())
      for (const at of left) timeline.delete({ at, id: `id-${at}` })
      expect([...timeline.oldest(), timeline.size]).toEqual([0])
    }
  })
})
