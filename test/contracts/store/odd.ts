import { expect, it } from 'vitest'
import type { Document, Position, Tags } from '../../../src/stores/store.ts'
import type { Stored } from '../store.ts'
import { doc, ids } from './document.ts'

const NAMES: readonly (readonly [string, string])[] = [
  ['single quotes', "'; DROP TABLE documents; --"],
  ['double quotes', 'a "quoted" name"'],
  ['back quotes and brackets', '`a`[b]'],
  ['a back slash', 'a\\b\\'],
  ['dots and a dollar', '$.a.b[0]'],
  ['wild cards', '%_*?'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['emoji', '👩‍👩‍👧 😀'],
  ['a line break', 'a\r\nb'],
  ['nothing', ''],
  ['a number', '007'],
  ['2,000 characters', 'n'.repeat(2000)],
  ['NUL', 'a\u0000b'],
]

const LONG_NAMES: readonly (readonly [string, string])[] = [
  ['a byte', random(1500, 0x21, 0x7e)],
  ['2 bytes', random(1500, 0xa1, 0x7ff)],
  ['3 bytes', random(1500, 0x4e00, 0x9fff)],
  ['4 bytes', random(1500, 0x20000, 0x2a6df)],
  ['control', random(1500, 0, 0x1f)],
]

/** Characters that no database makes shorter, always the same ones. */
export function random(length: number, from: number, to: number): string {
  let seed = from + 1
  const next = () => {
    seed = (seed * 48_271) % 0x7fffffff
    return from + (seed % (to - from + 1))
  }
  return Array.from({ length }, () => String.fromCodePoint(next())).join('')
}

export function oddCases(store: Stored): void {
  it.each(NAMES)('may be ids, partitions, collections and logs: %s', async (_, name) => {
    const document = doc(name, { partition: name, tags: { t: name }, value: { [name]: name } })
    await store.transact(['put', name, document], ['append', name, name], ['append', name, name, true])
    expect(await store.do('get', name, name)).toEqual(document)
    const query = { partition: name, tags: { t: name }, limit: 2, looks: 2 }
    expect((await store.do('search', name, query)).documents).toEqual([document])
    expect(await store.do('list', name, { partition: name, limit: 2 })).toEqual([document])
    expect(await store.do('count', name, name)).toBe(1)
    expect(await store.do('oldest', name, 2)).toEqual([document])
    expect(await store.do('read', name, 1, 2)).toEqual([{ seq: 2, data: name }])
    await store.transact(['delete', name, name], ['deleteLog', name])
    expect(await store.do('count', name)).toBe(0)
    expect(await store.do('isSealed', name)).toBe(false)
  })

  it.each(LONG_NAMES)('may be long ids, partitions and tags: 1,500 characters of %s', async (_, name) => {
    const document = doc(name, { partition: name, tags: { t: name }, value: { [name]: name } })
    for (let times = 0; times < 2; times++) await store.do('put', 'c', document)
    expect(await store.do('get', 'c', name)).toEqual(document)
    const query = { partition: name, tags: { t: name }, limit: 2, looks: 2 }
    expect((await store.do('search', 'c', query)).documents).toEqual([document])
    expect((await store.do('countMatching', 'c', query)).count).toBe(1)
    expect(await store.do('list', 'c', { partition: name, limit: 2 })).toEqual([document])
    expect(await store.do('count', 'c', name)).toBe(1)
    expect(await store.do('oldest', 'c', 2)).toEqual([document])
    expect(await store.do('withPrefix', 'c', name.slice(0, 8), 2)).toEqual([document])
    const other = doc('short', { partition: `${name}x`, tags: { sessionId: `${name}x` } })
    await store.do('put', 'c', other)
    expect(await store.do('list', 'c', { partition: name, limit: 2 })).toEqual([document])
    expect(await store.do('get', 'c', other.id)).toEqual(other)
    const tagged = { partition: other.partition, tags: other.tags, limit: 2, looks: 2 }
    expect((await store.do('search', 'c', tagged)).documents).toEqual([other])
    await store.transact(['delete', 'c', name], ['delete', 'c', other.id])
    expect(await store.do('count', 'c')).toBe(0)
  })

  it.each(['status', 'sessionId', '007', 'constructor', '__proto__'])(
    'may be names of tags: %s',
    async name => {
      const tags = Object.fromEntries([[name, 'yes']])
      await store.do('put', 'c', doc('a', { tags }))
      await store.do('put', 'c', doc('b', { tags: { other: 'yes' } }))
      expect(Object.entries((await store.do('get', 'c', 'a'))?.tags ?? {})).toEqual([[name, 'yes']])
      const search = async (tags: Tags) =>
        ids((await store.do('search', 'c', { partition: 'p', tags, limit: 10, looks: 10 })).documents)
      expect(await search(tags)).toEqual(['a'])
      const others = Object.fromEntries([[name, 'no']])
      expect(await search(others)).toEqual([])
    },
  )

  it('tell ids apart that differ after a NUL', async () => {
    await store.transact(['put', 'c', doc('a\u0000b')], ['put', 'c', doc('a\u0000c')], ['put', 'c', doc('a')])
    expect(await store.do('count', 'c')).toBe(3)
    expect(ids(await store.do('oldest', 'c', 10))).toEqual(['a', 'a\u0000b', 'a\u0000c'])
  })

  it.each([
    ['a high one', 'a\ud83d'],
    ['a low one', '\ude00b'],
    ['the wrong way round', '\ude00\ud83d'],
  ])('keep lone surrogates in values and in JSON entries: %s', async (_, text) => {
    await store.transact(
      ['put', 'c', doc('a', { value: { text } })],
      ['append', 'l', JSON.stringify({ type: 'text', text })],
    )
    expect((await store.do('get', 'c', 'a'))?.value).toEqual({ text })
    const [entry] = await store.do('read', 'l', 0, 1)
    expect(JSON.parse(entry?.data ?? '')).toEqual({ type: 'text', text })
  })

  it('tell ids apart that differ at the end of many characters, and list them in pages', async () => {
    const long = random(1000, 0x4e00, 0x9fff)
    const all = ['1', '2', '3', '4', '5'].map(end => `${long}${end}`)
    for (const id of all) {
      await store.do('put', 'c', doc(id, { partition: long, tags: { t: long }, value: 0 }))
    }
    for (const id of all)
      await store.do('put', 'c', doc(id, { partition: long, tags: { t: long }, value: id }))
    const found: Document[] = []
    for (let after: Position | undefined; found.length < 9; ) {
      const query = { partition: long, tags: { t: long }, after, limit: 1, looks: 1 }
      const { documents, next } = await store.do('search', 'c', query)
      found.push(...documents)
      if (next === undefined) break
      after = next
    }
    expect(found.map(({ id, value }) => [id, value]).toSorted()).toEqual(all.map(id => [id, id]))
    await store.do('delete', 'c', all[0]!)
    const listed = await store.do('list', 'c', { partition: long, limit: 10 })
    expect(ids(listed).toSorted()).toEqual(all.slice(1))
    const last = listed[1]!
    const rest = await store.do('list', 'c', {
      partition: long,
      after: { at: last.at, id: last.id },
      limit: 10,
    })
    expect(ids(rest)).toEqual(ids(listed.slice(2)))
  })

  it('keep NUL in values and entries', async () => {
    await store.transact(['put', 'c', doc('a', { value: 'a\u0000b' })], ['append', 'l', 'a\u0000b'])
    expect((await store.do('get', 'c', 'a'))?.value).toBe('a\u0000b')
    expect(await store.do('read', 'l', 0, 1)).toEqual([{ seq: 1, data: 'a\u0000b' }])
  })

  it('order ids by their characters, beyond the basic plane too', async () => {
    for (const id of ['\uffee', '😀', 'z', 'é']) await store.do('put', 'c', doc(id))
    const all = ids(await store.do('oldest', 'c', 10))
    expect(ids(await store.do('list', 'c', { partition: 'p', limit: 10 }))).toEqual(all.toReversed())
    expect(all).toEqual(['z', 'é', '\uffee', '😀'])
  })
}
