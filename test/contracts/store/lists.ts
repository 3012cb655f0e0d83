import { expect, it } from 'vitest'
import type { Document, Position, SearchQuery, Tags } from '../../../src/stores/store.ts'
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
      // New documents come before the first page. Documents that were read may be deleted, even the last one of a page.
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
}

export function searchCases(store: Stored): void {
  const search = async (query: Partial<SearchQuery>) =>
    store.do('search', 'c', { partition: 'p', limit: 10, looks: 100, ...query })
  const tagged = async (tags: Tags, query: Partial<SearchQuery> = {}) =>
    ids((await search({ tags, ...query })).documents)

  it('find those only that have all of the tags', async () => {
    await store.do('put', 'c', doc('a', { at: 4, tags: { kind: 'agent', status: 'running' } }))
    await store.do('put', 'c', doc('b', { at: 3, tags: { kind: 'agent' } }))
    await store.do('put', 'c', doc('c', { at: 2, tags: { kind: 'team', status: 'running' } }))
    await store.do('put', 'c', doc('d', { at: 1, tags: { kind: 'agent', status: 'running', more: '' } }))
    await store.do('put', 'c', doc('e', { at: 5, tags: { kind: 'agent' }, partition: 'q' }))
    expect(await tagged({ kind: 'agent', status: 'running' })).toEqual(['a', 'd'])
    expect(await tagged({ kind: 'agent', status: 'running' }, { limit: 1 })).toEqual(['a'])
    expect(await tagged({ kind: 'agent' })).toEqual(['a', 'b', 'd'])
    expect(await tagged({ kind: 'agent' }, { since: 3 })).toEqual(['a', 'b'])
    expect(await tagged({ kind: 'agent' }, { after: { at: 4, id: 'a' } })).toEqual(['b', 'd'])
    expect(await tagged({ more: '' })).toEqual(['d'])
    expect(await tagged({ more: '', kind: 'agent' })).toEqual(['d'])
    expect(await tagged({ kind: 'Agent' })).toEqual([])
    expect(await tagged({ other: 'agent' })).toEqual([])
    expect(await tagged({})).toEqual(['a', 'b', 'c', 'd'])
    const count = async (tags: Tags) =>
      (await store.do('countMatching', 'c', { partition: 'p', tags, looks: 100 })).count
    expect([await count({}), await count({ kind: 'agent' }), await count({ more: '' })]).toEqual([4, 3, 1])
  })

  it('forget the tags that a document had', async () => {
    await store.do('put', 'c', doc('a', { tags: { status: 'running' } }))
    await store.do('put', 'c', doc('a', { tags: { status: 'completed' } }))
    expect(await tagged({ status: 'running' })).toEqual([])
    expect(await tagged({ status: 'completed' })).toEqual(['a'])
    await store.do('delete', 'c', 'a')
    expect(await tagged({ status: 'completed' })).toEqual([])
  })

  it('say where to go on, and that there is no more', async () => {
    for (let at = 1; at <= 4; at++)
      await store.do('put', 'c', doc(`id-${at}`, { at, tags: { kind: 'agent' } }))
    const tags = { kind: 'agent' }
    expect((await search({ tags, limit: 3 })).next).toEqual({ at: 2, id: 'id-2' })
    expect((await search({ tags, limit: 4 })).next).toBeUndefined()
    expect((await search({ limit: 3 })).next).toEqual({ at: 2, id: 'id-2' })
    expect((await search({ limit: 4 })).next).toBeUndefined()
  })

  it('are found in all partitions where none is named', async () => {
    for (const [at, partition] of ['p', 'q', 'p', 'r'].entries())
      await store.do(
        'put',
        'c',
        doc(`id-${at}`, { at, partition, tags: { kind: at < 3 ? 'agent' : 'team' } }),
      )
    const all = async (query: Partial<SearchQuery>) => {
      const asked = { limit: 10, looks: 100, ...query }
      return ids((await store.do('search', 'c', asked)).documents)
    }
    expect(await all({})).toEqual(['id-3', 'id-2', 'id-1', 'id-0'])
    expect(await all({ tags: { kind: 'agent' } })).toEqual(['id-2', 'id-1', 'id-0'])
    expect(await all({ since: 1, after: { at: 3, id: 'id-3' }, limit: 1 })).toEqual(['id-2'])
    expect(await store.do('countMatching', 'c', { tags: { kind: 'agent' }, looks: 3 })).toEqual({
      count: 2,
      isCut: true,
    })
  })

  it('look at so many and no more, and go on from there though nothing was found', async () => {
    for (let at = 1; at <= 30; at++) {
      // No store has an index for this tag together with another one.
      const tags = { kind: 'agent', status: at <= 3 ? 'failed' : 'completed', odd: String(at % 2) }
      await store.do('put', 'c', doc(`id-${at}`, { at, tags }))
    }
    const tags = { kind: 'agent', odd: '1', status: 'completed' }
    for (const looks of [1, 4, 10]) {
      const seen: string[] = []
      let after: Position | undefined
      let pages = 0
      do {
        const { documents, next } = await search({ tags, looks, after })
        expect(documents.length).toBeLessThanOrEqual(looks)
        seen.push(...ids(documents))
        after = next
        pages++
      } while (after !== undefined)
      expect(seen).toEqual(
        Array.from({ length: 14 }, (_, i) => `id-${29 - 2 * i}`).filter(id => id !== 'id-3'),
      )
      expect(pages).toBeGreaterThanOrEqual(13 / looks)
    }
    const counted = await store.do('countMatching', 'c', { partition: 'p', tags, looks: 4 })
    expect(counted.count).toBeLessThanOrEqual(4)
    expect(counted.isCut).toBe(true)
  })

  it('are counted, and the count says whether there are more to look at', async () => {
    for (let at = 1; at <= 6; at++) {
      const tags = { kind: 'agent', odd: String(at % 2) }
      await store.do('put', 'c', doc(`id-${at}`, { at, tags, partition: at === 6 ? 'q' : 'p' }))
    }
    const count = (filter: Partial<SearchQuery>) =>
      store.do('countMatching', 'c', { partition: 'p', looks: 5, ...filter })
    expect(await count({})).toEqual({ count: 5, isCut: false })
    expect(await count({ looks: 4 })).toEqual({ count: 4, isCut: true })
    expect(await count({ tags: { odd: '1' } })).toEqual({ count: 3, isCut: false })
    expect(await count({ tags: { odd: '1', kind: 'agent' }, looks: 5 })).toEqual({ count: 3, isCut: false })
    expect(await count({ tags: { odd: '0', kind: 'agent' }, looks: 1 })).toMatchObject({ isCut: true })
    expect(await count({ after: { at: 4, id: 'id-4' } })).toEqual({ count: 3, isCut: false })
    expect(await count({ since: 3, after: { at: 4, id: '' } })).toEqual({ count: 1, isCut: false })
    expect(await count({ partition: undefined })).toEqual({ count: 5, isCut: true })
    expect(await count({ partition: undefined, looks: 6 })).toEqual({ count: 6, isCut: false })
    expect(await count({ partition: 'never' })).toEqual({ count: 0, isCut: false })
  })

  it('find by the beginning of an id', async () => {
    const all = ['', 'c', 'd', '😀'].map(end => `0123-abc${end}`)
    for (const id of [...all.toReversed(), '0123-ab', '0123-abd', '0123-ABC', 'b'])
      await store.do('put', 'c', doc(id))
    const found = async (prefix: string, limit = 10) => ids(await store.do('withPrefix', 'c', prefix, limit))
    expect(await found('0123-abc')).toEqual(all)
    expect(await found('0123-abc', 2)).toEqual(all.slice(0, 2))
    expect(await found('0123-abcd')).toEqual(['0123-abcd'])
    expect(await found('0123-abcde')).toEqual([])
    expect(await found('0123-abz')).toEqual([])
    await store.do('delete', 'c', '0123-abcc')
    expect(await found('0123-abc')).toEqual(all.toSpliced(1, 1))
    expect(ids(await store.do('withPrefix', 'never', '0123-abc', 10))).toEqual([])
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
