import { expect, it } from 'vitest'
import type { Stored } from '../store.ts'
import { doc } from './document.ts'

/** Most UTF-16 units of a row. */
const ROW = 340_000

/** More than a row of a Durable Object holds: three bytes a character. */
const WIDE = '€'.repeat(800_000)

export function largeCases(store: Stored): void {
  it('comes back as a document', async () => {
    const value = { text: WIDE, after: 'the end' }
    await store.do('put', 'c', doc('a', { value }))
    await store.do('put', 'c', doc('b', { at: 2 }))
    expect((await store.do('get', 'c', 'a'))?.value).toEqual(value)
    const listed = await store.do('list', 'c', { partition: 'p', limit: 10 })
    expect(listed.map(({ value }) => value)).toEqual([{ of: 'b' }, value])
  })

  it('leaves nothing behind when it is replaced by what is small, or deleted', async () => {
    await store.do('put', 'c', doc('a', { value: WIDE }))
    await store.do('put', 'c', doc('a', { value: 'small' }))
    expect((await store.do('get', 'c', 'a'))?.value).toBe('small')
    await store.do('put', 'c', doc('a', { value: WIDE }))
    await store.do('delete', 'c', 'a')
    await store.do('put', 'c', doc('a', { value: 'small' }))
    expect((await store.do('get', 'c', 'a'))?.value).toBe('small')
  })

  it('comes back as an entry, one place each', async () => {
    expect(await store.do('append', 'l', 'before')).toBe(1)
    expect(await store.do('append', 'l', WIDE)).toBe(2)
    expect(await store.do('append', 'l', `${WIDE}!`, true)).toBe(3)
    expect(await store.do('isSealed', 'l')).toBe(true)
    const all = await store.do('read', 'l', 0, 10)
    expect(all.map(({ seq, data }) => [seq, data.length])).toEqual([
      [1, 6],
      [2, 800_000],
      [3, 800_001],
    ])
    expect(all[1]?.data === WIDE).toBe(true)
    const middle = await store.do('read', 'l', 1, 1)
    expect(middle.map(({ seq }) => seq)).toEqual([2])
  })

  it.each([-2, -1, 0, 1, 2])('keeps pairs of surrogates whole around every boundary (%i)', async shift => {
    const text = 'x'.repeat(2 + shift) + '😀'.repeat(Math.ceil((3 * ROW + 10) / 2))
    await store.transact(['append', 'l', text], ['put', 'c', doc('a', { value: text })])
    const [entry] = await store.do('read', 'l', 0, 1)
    expect(entry?.data === text).toBe(true)
    expect((await store.do('get', 'c', 'a'))?.value === text).toBe(true)
  })

  it.each([ROW - 1, ROW, ROW + 1, 2 * ROW, 2 * ROW + 1])('may have %i characters', async length => {
    const text = 'é'.repeat(length)
    await store.do('append', 'l', text)
    const entries = await store.do('read', 'l', 0, 10)
    expect(entries.map(({ seq, data }) => [seq, data === text])).toEqual([[1, true]])
  })
}
