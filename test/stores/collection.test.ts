import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { ids } from '../contracts/store/document.ts'

/** Methods that go through an array, or move what is in it. */
const WALKS = [
  'filter',
  'find',
  'findIndex',
  'forEach',
  'includes',
  'indexOf',
  'map',
  'reduce',
  'slice',
  'some',
  'splice',
  'toSpliced',
  'values',
] as const

/** The longest array that `work` goes through. */
function longestWalk(work: () => void): number {
  let longest = 0
  for (const name of WALKS) {
    const method = Array.prototype[name] as (this: unknown[], ...values: unknown[]) => unknown
    vi.spyOn(Array.prototype, name as 'filter').mockImplementation(function (
      this: unknown[],
      ...values: unknown[]
    ) {
      longest = Math.max(longest, this.length)
      return method.apply(this, values) as unknown[]
    })
  }
  try {
    work()
  } finally {
    vi.restoreAllMocks()
  }
  return longest
}

describe('Collection', () => {
  afterEach(() => vi.restoreAllMocks())

  it('finds those whose ids begin alike, whatever was deleted of them', () => {
    const store = memoryStore()
    const put = (id: string) =>
      store.transact(tx => tx.put('c', { id, partition: 'p', at: 1, tags: {}, value: id }))
    const found = (prefix: string) => ids(store.read(tx => tx.withPrefix('c', prefix, 10)))
    for (const id of ['beginning-c', 'beginning-a', 'beginning-b', 'beginner', 'other-one']) put(id)
    expect(found('beginnin')).toEqual(['beginning-a', 'beginning-b', 'beginning-c'])
    store.transact(tx => tx.delete('c', 'beginning-b'))
    put('beginning-a')
    expect(found('beginnin')).toEqual(['beginning-a', 'beginning-c'])
    store.transact(tx => {
      tx.delete('c', 'beginning-a')
      tx.delete('c', 'beginning-c')
    })
    expect(found('beginnin')).toEqual([])
    expect(found('beginner')).toEqual(['beginner'])
  })

  it('deletes and moves a document without a look at all whose ids begin like its own', () => {
    const store = memoryStore()
    const count = 4000
    const session = (n: number, at: number) => {
      const id = JSON.stringify(['user-1', 'agent', `s${n}`])
      return { id, partition: 'p', at, tags: {}, value: n }
    }
    for (let n = 0; n < count; n++) store.transact(tx => tx.put('session', session(n, n)))
    expect(
      longestWalk(() => {
        store.transact(tx => tx.put('session', session(2000, count)))
        store.transact(tx => tx.delete('session', session(1000, 0).id))
      }),
    ).toBeLessThan(count / 10)
    expect(store.read(tx => tx.count('session'))).toBe(count - 1)
  })
})
