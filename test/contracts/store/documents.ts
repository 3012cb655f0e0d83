import { expect, it } from 'vitest'
import type { Stored } from '../store.ts'
import { doc, ids } from './document.ts'

export function documentCases(store: Stored): void {
  it('are not there before they are put', async () => {
    expect(await store.do('get', 'c', 'a')).toBeUndefined()
    expect(await store.do('count', 'c')).toBe(0)
    expect(await store.do('oldest', 'c', 10)).toEqual([])
  })

  it('come back as they were put', async () => {
    const whole = doc('a', { at: 1_700_000_000_123, tags: { kind: 'agent' }, expiresAt: 1_800_000_000_456 })
    await store.do('put', 'c', whole)
    expect(await store.do('get', 'c', 'a')).toEqual(whole)
  })

  it.each([null, true, 0, -1.5, 'text', '', [], [1, [2]], {}, { a: { b: null } }])(
    'hold the JSON value %j',
    async value => {
      await store.do('put', 'c', doc('a', { value }))
      expect((await store.do('get', 'c', 'a'))?.value).toEqual(value)
    },
  )

  it('have no expiry where none was given', async () => {
    await store.do('put', 'c', doc('a'))
    expect(await store.do('get', 'c', 'a')).not.toHaveProperty('expiresAt')
    await store.do('put', 'c', doc('a', { expiresAt: 5 }))
    await store.do('put', 'c', doc('a'))
    expect(await store.do('get', 'c', 'a')).not.toHaveProperty('expiresAt')
    expect(await store.do('expired', 'c', 10, 10)).toEqual([])
  })

  it('are replaced whole, wherever they were', async () => {
    await store.do('put', 'c', doc('a', { at: 5, partition: 'old', tags: { t: '1' }, expiresAt: 1 }))
    const next = doc('a', { at: 2, partition: 'new', tags: { u: '2' }, value: 'next' })
    await store.do('put', 'c', next)
    expect(await store.do('get', 'c', 'a')).toEqual(next)
    expect(await store.do('count', 'c')).toBe(1)
    expect(await store.do('list', 'c', { partition: 'old', limit: 10 })).toEqual([])
    expect(await store.do('list', 'c', { partition: 'new', limit: 10 })).toEqual([next])
    expect(await store.do('expired', 'c', 10, 10)).toEqual([])
  })

  it('are gone once deleted, and deleting again is harmless', async () => {
    await store.do('put', 'c', doc('a', { expiresAt: 1 }))
    await store.do('delete', 'c', 'a')
    await store.do('delete', 'c', 'a')
    await store.do('delete', 'never', 'a')
    expect(await store.do('get', 'c', 'a')).toBeUndefined()
    expect(await store.do('list', 'c', { partition: 'p', limit: 10 })).toEqual([])
    expect(await store.do('oldest', 'c', 10)).toEqual([])
    expect(await store.do('expired', 'c', 10, 10)).toEqual([])
    expect(await store.do('count', 'c')).toBe(0)
    await store.do('put', 'c', doc('a', { value: 'again' }))
    expect((await store.do('get', 'c', 'a'))?.value).toBe('again')
  })

  it('are kept apart by collection', async () => {
    await store.transact(['put', 'c', doc('a', { value: 1 })], ['put', 'd', doc('a', { value: 2 })])
    await store.do('delete', 'c', 'a')
    expect(await store.do('get', 'c', 'a')).toBeUndefined()
    expect((await store.do('get', 'd', 'a'))?.value).toBe(2)
    expect(await store.do('count', 'c')).toBe(0)
    expect(await store.do('count', 'd')).toBe(1)
  })

  it('are counted by partition and in all', async () => {
    for (const id of ['a', 'b', 'c']) await store.do('put', 'c', doc(id))
    await store.do('put', 'c', doc('d', { partition: 'q' }))
    await store.do('put', 'c', doc('a', { at: 9 }))
    await store.do('delete', 'c', 'b')
    expect(await store.do('count', 'c')).toBe(3)
    expect(await store.do('count', 'c', 'p')).toBe(2)
    expect(await store.do('count', 'c', 'q')).toBe(1)
    expect(await store.do('count', 'c', 'r')).toBe(0)
  })

  it('are expired from their moment on, the earliest first', async () => {
    const times: Record<string, number> = { late: 30, early: 10, middle: 20, never: 41 }
    for (const [id, expiresAt] of Object.entries(times)) {
      await store.do('put', 'c', doc(id, { expiresAt, at: 100 - expiresAt, partition: id }))
    }
    await store.do('put', 'c', doc('unbounded', { at: 0 }))
    expect(await store.do('expired', 'c', 9, 10)).toEqual([])
    expect(ids(await store.do('expired', 'c', 10, 10))).toEqual(['early'])
    expect(ids(await store.do('expired', 'c', 40, 10))).toEqual(['early', 'middle', 'late'])
    expect(ids(await store.do('expired', 'c', 40, 2))).toEqual(['early', 'middle'])
  })

  it('are given oldest first over all partitions', async () => {
    await store.do('put', 'c', doc('b', { at: 2 }))
    await store.do('put', 'c', doc('a', { at: 2, partition: 'q' }))
    await store.do('put', 'c', doc('z', { at: 1, partition: 'r' }))
    expect(ids(await store.do('oldest', 'c', 10))).toEqual(['z', 'a', 'b'])
    expect(ids(await store.do('oldest', 'c', 2))).toEqual(['z', 'a'])
    expect(ids(await store.do('oldest', 'c', Number.MAX_SAFE_INTEGER))).toEqual(['z', 'a', 'b'])
  })
}
