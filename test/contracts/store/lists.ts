import { expect, it } from 'vitest'
import type { Document } from '../../../src/state/store.ts'
import type { Stored } from '../store.ts'
import { doc, ids } from './document.ts'

export function listCases(store: Stored): void {
  it('go by time, then by id, newest first', async () => {
    const places: [string, number][] = [
      ['b', 2],
      ['a', 3],
      ['d', 2],
      ['c', 2],
      ['e', 1],
    ]
    for (const [id, at] of places) await store.do('put', 'c', doc(id, { at }))
    expect(ids(await store.do('list', 'c', { partition: 'p', limit: 10 }))).toEqual(['a', 'd', 'c', 'b', 'e'])
    expect(ids(await store.do('list', 'c', { partition: 'p', limit: 2 }))).toEqual(['a', 'd'])
  })

  it('are empty for a partition or a collection that is not there', async () => {
    await store.do('put', 'c', doc('a'))
    expect(await store.do('list', 'c', { partition: 'q', limit: 10 })).toEqual([])
    expect(await store.do('list', 'd', { partition: 'p', limit: 10 })).toEqual([])
  })

  it('keep partitions apart, though one name begins with another', async () => {
    for (const partition of ['p', 'pp', 'P', ' p', ''])
      await store.do('put', 'c', doc(`${partition}!`, { partition }))
    for (const partition of ['p', 'pp', 'P', ' p', '']) {
      expect(ids(await store.do('list', 'c', { partition, limit: 10 }))).toEqual([`${partition}!`])
    }
  })

  it('page through everything once', async () => {
    for (let i = 0; i < 23; i++) await store.do('put', 'c', doc(`id-${i}`, { at: i >> 2 }))
    const all = ids(await store.do('list', 'c', { partition: 'p', limit: 100 }))
    expect(new Set(all).size).toBe(23)
    expect(ids(await pagesOf(store, 5))).toEqual(all)
    expect(ids(await pagesOf(store, 1))).toEqual(all)
  })

  it('page on while documents come and go', async () => {
    for (let at = 1; at <= 9; at++) await store.do('put', 'c', doc(`id-${at}`, { at }))
    const seen = await pagesOf(store, 2, async page => {
      // What is new stands before the first page, and what was read may leave, the last one of a page too.
      await store.do('put', 'c', doc(`new-${page}`, { at: 100 + page }))
      if (page === 1) await store.transact(['delete', 'c', 'id-8'], ['delete', 'c', 'id-6'])
      if (page === 2) await store.do('put', 'c', doc('id-5', { at: 5, value: 'replaced' }))
    })
    expect(ids(seen)).toEqual(['id-9', 'id-8', 'id-7', 'id-5', 'id-4', 'id-3', 'id-2', 'id-1'])
  })

  it('begin after a place that nothing has', async () => {
    for (const at of [1, 2, 4]) await store.do('put', 'c', doc(`id-${at}`, { at }))
    const from = async (at: number, id: string) =>
      ids(await store.do('list', 'c', { partition: 'p', after: { at, id }, limit: 10 }))
    expect(await from(3, 'x')).toEqual(['id-2', 'id-1'])
    expect(await from(2, 'id-3')).toEqual(['id-2', 'id-1'])
    expect(await from(2, 'id-2')).toEqual(['id-1'])
    expect(await from(9, 'x')).toEqual(['id-4', 'id-2', 'id-1'])
    expect(await from(0, 'x')).toEqual([])
  })

  it('hold those only that have all of the tags', async () => {
    await store.do('put', 'c', doc('a', { at: 4, tags: { kind: 'agent', status: 'running' } }))
    await store.do('put', 'c', doc('b', { at: 3, tags: { kind: 'agent' } }))
    await store.do('put', 'c', doc('c', { at: 2, tags: { kind: 'team', status: 'running' } }))
    await store.do('put', 'c', doc('d', { at: 1, tags: { kind: 'agent', status: 'running', more: '' } }))
    const tagged = async (tags: Record<string, string>, limit = 10) =>
      ids(await store.do('list', 'c', { partition: 'p', tags, limit }))
    expect(await tagged({ kind: 'agent', status: 'running' })).toEqual(['a', 'd'])
    expect(await tagged({ kind: 'agent', status: 'running' }, 1)).toEqual(['a'])
    expect(await tagged({ kind: 'agent' })).toEqual(['a', 'b', 'd'])
    expect(await tagged({ more: '' })).toEqual(['d'])
    expect(await tagged({ kind: 'Agent' })).toEqual([])
    expect(await tagged({ other: 'agent' })).toEqual([])
    expect(await tagged({})).toEqual(['a', 'b', 'c', 'd'])
  })

  it('forget the tags that a document had', async () => {
    await store.do('put', 'c', doc('a', { tags: { status: 'running' } }))
    await store.do('put', 'c', doc('a', { tags: { status: 'completed' } }))
    const tagged = (status: string) => store.do('list', 'c', { partition: 'p', tags: { status }, limit: 10 })
    expect(await tagged('running')).toEqual([])
    expect(ids(await tagged('completed'))).toEqual(['a'])
  })
}

/** All documents of the partition, page by page. */
async function pagesOf(
  store: Stored,
  limit: number,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Document[]> {
  const seen: Document[] = []
  for (let page = 1; ; page++) {
    const last = seen.at(-1)
    const after = last && { at: last.at, id: last.id }
    const found: Document[] = await store.do('list', 'c', { partition: 'p', after, limit })
    if (found.length === 0) return seen
    seen.push(...found)
    await between(page)
  }
}
