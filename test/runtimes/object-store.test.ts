import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Document } from '../../src/stores/store.ts'
import { doc, ids } from '../contracts/store/document.ts'
import { type Step, there } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'
import { type Runtime, startWorkerd } from './harness.ts'

describe('objectStore', () => {
  let workerd: Runtime | undefined
  let objects = 0
  beforeAll(async () => {
    workerd = await startWorkerd('test/runtimes/entries/store.ts')
  })
  afterAll(() => workerd?.stop())

  const fresh = () => `${workerd?.url}/${++objects}`

  storeContract(() => there(fresh()))

  it('lists a collection that has grown large as it did before', async () => {
    const store = there(fresh())
    const all = Array.from({ length: 600 }, (_, index) =>
      doc(String(index).padStart(3, '0'), { at: index % 50, partition: `p${index % 2}` }),
    )
    for (let from = 0; from < all.length; from += 100) {
      await store.transact(all.slice(from, from + 100).map((each): Step => ['put', 'large', each]))
    }
    const expected = all
      .filter(({ partition }) => partition === 'p1')
      .toSorted((one, other) => other.at - one.at || (other.id < one.id ? -1 : 1))
    const query = { partition: 'p1', limit: 100 }
    const [page, rest, count, oldest] = (await store.transact([
      ['list', 'large', query],
      ['list', 'large', { ...query, limit: 600, after: expected[99] }],
      ['count', 'large', 'p1'],
      ['oldest', 'large', 1],
    ])) as [Document[], Document[], number, Document[]]
    expect([...ids(page), ...ids(rest)]).toEqual(ids(expected))
    expect(count).toBe(300)
    expect(ids(oldest)).toEqual(['000'])
    const moved = { ...all[1]!, at: 1000, value: 'moved' }
    await store.transact([
      ['put', 'large', moved],
      ['delete', 'large', '003'],
    ])
    const [first, left] = await store.transact([
      ['list', 'large', { ...query, limit: 1 }],
      ['count', 'large', 'p1'],
    ])
    expect(first).toEqual([moved])
    expect(left).toBe(299)
  })

  it('reads a log from any place, though many entries came at once', async () => {
    const store = there(fresh())
    const entries = Array.from({ length: 700 }, (_, i) => ({ seq: i + 1, data: `entry ${i + 1}` }))
    await store.transact(entries.map(({ data }): Step => ['append', 'l', data]))
    for (const after of [0, 1, 254, 255, 256, 257, 500, 511, 512, 699, 700]) {
      for (const limit of [1, 64, 300, 1000]) {
        const [read] = await store.transact([['read', 'l', after, limit]])
        expect(read).toEqual(entries.slice(after, after + limit))
      }
    }
  })

  it('keeps the seal of a log, however many logs an object has', async () => {
    const store = there(fresh())
    const begin = (from: number) =>
      store.transact(Array.from({ length: 64 }, (_, n): Step => ['append', `log-${from + n}`, 'x']))
    await begin(0)
    await store.transact([['append', 'ended', 'the end', true]])
    // So many others that it is read where it is kept.
    await begin(100)
    const [isSealed, more, entries] = await store.transact([
      ['isSealed', 'ended'],
      ['append', 'ended', 'more'],
      ['read', 'ended', 0, 10],
    ])
    expect(isSealed).toBe(true)
    expect(more).toBeUndefined()
    expect(entries).toEqual([{ seq: 1, data: 'the end' }])
  })

  it('is cleared at once for what goes on in its object', async () => {
    const door = fresh()
    const store = there(door)
    await store.transact([['put', 'c', doc('gone')]])
    const response = await fetch(door, { method: 'DELETE' })
    const { seen } = (await response.json()) as { seen: string[] }
    expect(seen.length).toBeGreaterThan(0)
    expect(new Set(seen)).toEqual(new Set(['gone', 'nothing']))
    await store.transact([['put', 'c', doc('new')]])
    expect(await store.transact([['count', 'c']])).toEqual([1])
  })
})
