import { expect, it } from 'vitest'
import { Recent } from '../../src/runs/stored/watch.ts'

const entry = (seq: number, length = 1) => ({ seq, data: 'x'.repeat(length) })
const seqs = (recent: Recent, after: number, limit = 10) => recent.after(after, limit)?.map(({ seq }) => seq)

it('knows of a new log that it is empty, and of any other nothing until something is added', () => {
  const recent = new Recent()
  expect(seqs(recent, 0)).toBeUndefined()
  recent.begin()
  expect([seqs(recent, 0), seqs(recent, Number.MAX_SAFE_INTEGER)]).toEqual([[], []])
  recent.add([entry(1), entry(2)])
  expect([seqs(recent, 0), seqs(recent, 1), seqs(recent, 2), seqs(recent, 0, 1)]).toEqual([
    [1, 2],
    [2],
    [],
    [1],
  ])
})

it('knows what comes after the place where it begins', () => {
  const recent = new Recent()
  recent.add([entry(7)])
  expect([seqs(recent, 5), seqs(recent, 6), seqs(recent, 7)]).toEqual([undefined, [7], []])
})

it('keeps the newest alone, and nothing once it has to forget', () => {
  const recent = new Recent()
  recent.begin()
  recent.add(Array.from({ length: 300 }, (_, index) => entry(index + 1)))
  expect([seqs(recent, 43), seqs(recent, 44, 1)]).toEqual([undefined, [45]])
  recent.add([entry(301, 100_000)])
  expect([seqs(recent, 299), seqs(recent, 300)]).toEqual([undefined, [301]])
  recent.forget()
  expect(seqs(recent, 301)).toBeUndefined()
})
