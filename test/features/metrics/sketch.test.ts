import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RELATIVE_ERROR, Sketch } from '../../../src/features/metrics/sketch.ts'

/** Numbers that are the same in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return (state + 0.5) / 2 ** 32
  }
}

function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())
}

const SIZE = 50_000

/** Durations as they come, in milliseconds. */
const DISTRIBUTIONS: Record<string, (next: () => number, index: number) => number> = {
  'log-normal': next => Math.exp(6 + normal(next)),
  bimodal: next => (next() < 0.9 ? 40 + 5 * normal(next) : 8000 + 400 * normal(next)),
  'heavy tail': next => 10 / next() ** 1.2,
  constant: () => 123.4,
  growing: (_, index) => 1 + index / 10,
}

/** By the nearest rank. */
function exact(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(1, Math.ceil(part * sorted.length)) - 1]!
}

const valuesOf = (name: string) => {
  const next = random(7)
  return Array.from({ length: SIZE }, (_, index) => DISTRIBUTIONS[name]!(next, index))
}

const sketchOf = (values: readonly number[]) => {
  const sketch = new Sketch()
  for (const value of values) sketch.add(value)
  return sketch
}

describe.each(Object.keys(DISTRIBUTIONS))('a sketch of durations: %s', name => {
  const values = valuesOf(name)

  it.each([0.5, 0.9, 0.95, 0.99, 1])('knows the part %d within its error', part => {
    const wanted = exact(values, part)
    expect(Math.abs(sketchOf(values).quantile(part) - wanted) / wanted).toBeLessThanOrEqual(
      RELATIVE_ERROR + 1e-9,
    )
  })

  it('of 64 shards is the sketch of all', () => {
    const shards = Array.from({ length: 64 }, () => new Sketch())
    for (const [index, value] of values.entries()) shards[(index * 7) % 64]!.add(value)
    const sum = new Sketch()
    for (const shard of shards) sum.merge(Sketch.from(JSON.parse(JSON.stringify(shard))))
    expect(sum.count).toBe(SIZE)
    expect(sum.quantile(0.95)).toBe(sketchOf(values).quantile(0.95))
  })
})

describe('a sketch', () => {
  it('is 0 where it has nothing', () => {
    expect([new Sketch().count, new Sketch().quantile(0.95)]).toEqual([0, 0])
  })

  it('is within its error for any numbers, in any order, in any parts', () => {
    const value = fc.double({ min: 0.001, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 200 }),
        fc.nat(199),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, cut, part) => {
          const sum = sketchOf(values.slice(cut))
          sum.merge(sketchOf(values.slice(0, cut)))
          const wanted = exact(values, part)
          expect(Math.abs(sum.quantile(part) - wanted)).toBeLessThanOrEqual(wanted * (RELATIVE_ERROR + 1e-9))
          expect(sum.count).toBe(values.length)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each([0, -1, Number.NaN, Number.NEGATIVE_INFINITY, 1e-9])('takes %d for 0', value => {
    const sketch = sketchOf([value, 5])
    expect(sketch.quantile(0.5)).toBe(0)
    expect(Math.abs(sketch.quantile(1) - 5)).toBeLessThanOrEqual(0.05)
  })

  it('takes no more memory than its buckets, whatever comes', () => {
    const sketch = new Sketch()
    const next = random(3)
    for (let i = 0; i < 100_000; i++) sketch.add(10 ** (next() * 40 - 20))
    sketch.add(Number.POSITIVE_INFINITY)
    expect(sketch.toJSON()[2].length).toBeLessThanOrEqual(1498)
    expect(sketch.quantile(1)).toBeLessThan(1.02e10)
  })
})
