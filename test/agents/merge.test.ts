import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type Merged, merge } from '../../src/agents/work/merge.ts'
import { eventually } from '../eventually.ts'
import { drain, never, turn } from '../support.ts'

async function* say<T, R>(items: readonly T[], end: R): AsyncGenerator<T, R> {
  for (const item of items) yield item
  return end
}

const lane = <T, R>(items: readonly Merged<T, R>[], wanted: number) =>
  items.filter(item => item.lane === wanted).map(({ value }) => value)

describe('merge', () => {
  it('ends at once without sources', async () => {
    expect(await drain(merge([]))).toEqual([])
  })

  it('gives all items of every source in their order, its return value last', async () => {
    const script = fc.array(fc.array(fc.integer(), { maxLength: 20 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(script, fc.integer({ min: 1, max: 8 }), async (lanes, bound) => {
        const items = await drain(
          merge(
            lanes.map(items => say(items, 'end')),
            bound,
          ),
        )
        lanes.forEach((expected, index) => {
          expect(lane(items, index)).toEqual([...expected, 'end'])
        })
        expect(items.filter(({ done }) => done)).toHaveLength(lanes.length)
      }),
    )
  })

  it('gives what comes first first', async () => {
    const gate = Promise.withResolvers<string>()
    const slow = (async function* () {
      yield await gate.promise
    })()
    const merged = merge([slow, say(['fast'], undefined)])
    expect(await merged.next()).toMatchObject({ value: { lane: 1, value: 'fast' } })
    gate.resolve('slow')
    expect(lane(await drain(merged), 0)).toEqual(['slow', undefined])
  })

  it('reads no further than its bound ahead of its reader', async () => {
    let given = 0
    const endless = (async function* () {
      while (true) yield given++
    })()
    const merged = merge([endless], 4)
    await merged.next()
    await turn()
    expect(given).toBeLessThanOrEqual(6)
    await merged.return(undefined)
  })

  it('throws what a source throws, after what came before, and closes the others', async () => {
    const closed = vi.fn()
    const open = (async function* () {
      try {
        yield 'open'
        yield 'still open'
      } finally {
        closed()
      }
    })()
    const failing = (async function* () {
      yield 'before'
      throw new RangeError('no')
    })()
    const items: unknown[] = []
    const reading = async () => {
      for await (const { value } of merge([failing, open], 1)) items.push(value)
    }
    await expect(reading()).rejects.toThrow(RangeError)
    expect(items).toContain('before')
    await eventually(() => expect(closed).toHaveBeenCalledTimes(1))
  })

  it('throws undefined where a source throws undefined', async () => {
    const failing = (async function* () {
      yield 'before'
      throw undefined
    })()
    await expect(drain(merge([failing]))).rejects.toBeUndefined()
  })

  it('closes its sources when the reader leaves, and does not wait for them', async () => {
    const returned = vi.fn(never)
    const source = { next: async () => ({ done: false as const, value: 1 }), return: returned }
    for await (const item of merge([source, source], 1)) if (item.lane === 1) break
    expect(returned).toHaveBeenCalledTimes(2)
  })

  it('outlives a source that cannot be closed', async () => {
    const bare = { next: async () => ({ done: false as const, value: 1 }) }
    const stubborn = { ...bare, return: () => Promise.reject(new Error('no')) }
    for await (const item of merge([bare, stubborn], 1)) if (item.lane === 1) break
    await turn()
  })
})
