/** What plugins of others keep, on every store of this process. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Calls,
  keeping,
  type LocalState,
  memoryState,
  type Plugin,
  ServableError,
} from '../../src/core-entry.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { codePoint } from '../code-point.ts'
import { lateState } from '../contracts/store/late.ts'
import { untyped } from '../support.ts'
import { refusalOf, served } from './kit.ts'

interface Page {
  readonly limit: number
  readonly after?: { readonly id: string; readonly at: number }
}

const things = keeping({
  reads: {
    get: (kept, collection: string, id: string) => kept.get<unknown>(collection, id),
    list: (kept, collection: string, page: Page) => kept.list<unknown>(collection, page),
    count: (kept, collection: string) => kept.count(collection),
  },
  writes: {
    put(kept, collection: string, id: string, value: unknown, expiresAt?: number) {
      kept.put(collection, id, value, expiresAt === undefined ? {} : { expiresAt })
    },
    putAll(kept, collection: string, ids: readonly string[]) {
      for (const id of ids) kept.put(collection, id, id)
    },
    remove: (kept, collection: string, id: string) => kept.delete(collection, id),
    add(kept, id: string) {
      const count = (kept.get<number>('counts', id) ?? 0) + 1
      kept.put('counts', id, count)
      return count
    },
    push(kept, id: string, value: unknown) {
      const list = kept.get<unknown[]>('lists', id) ?? []
      list.push(value)
      kept.put('lists', id, list)
    },
    /** Changes what it has read, and writes, and throws. */
    spoil(kept, id: string) {
      kept.get<unknown[]>('lists', id)?.push('spoilt')
      kept.put('lists', `${id}2`, ['spoilt'])
      kept.delete('lists', id)
      throw new ServableError('forbidden', 'Not so')
    },
    async putLater(kept, id: string) {
      kept.put('lists', id, 'early')
      await undefined
      throw new Error('late')
    },
    putNothing: kept => kept.put('c', 'nothing', undefined),
  },
})
type Things = Calls<(typeof things)['works'], string>

const stores: Readonly<Record<string, (folder: string) => LocalState>> = {
  memory: () => memoryState(),
  SQLite: folder => sqliteState({ path: join(folder, 'kept.db') }),
  'a store that answers late': () => lateState(),
}

/** Calls of a plugin of that name in a handler over that state. */
function keptBy(name: string, state: LocalState): Things {
  let calls: Things | undefined
  const plugin: Plugin = {
    name,
    kept: things,
    mount(core) {
      calls = core.calls(things)
      return {}
    },
  }
  served([plugin], { state })
  if (calls === undefined) throw new Error('it was not mounted')
  return calls
}

describe.each(Object.entries(stores))('what a plugin keeps in %s', (_, make) => {
  let folder: string
  let state: LocalState
  let kept: Things
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-kept-'))
    state = make(folder)
    kept = keptBy('things', state)
  })
  afterEach(async () => {
    state.store.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('is its own, of each place and collection', async () => {
    const other = keptBy('others', state)
    const again = keptBy('things', state)
    await kept.put('a', 'c', 'id', 1)
    expect(await again.get('a', 'c', 'id')).toBe(1)
    expect(await other.get('a', 'c', 'id')).toBeUndefined()
    expect(await kept.get('b', 'c', 'id')).toBeUndefined()
    expect(await kept.get('a', 'd', 'id')).toBeUndefined()
    await other.put('a', 'c', 'id', 2)
    await kept.put('b', 'c', 'id', 3)
    await kept.remove('b', 'c', 'id')
    expect([await kept.get('a', 'c', 'id'), await other.get('a', 'c', 'id')]).toEqual([1, 2])
    expect([await kept.count('a', 'c'), await other.count('a', 'c'), await kept.count('b', 'c')]).toEqual([
      1, 1, 0,
    ])
  })

  it('counts each of many at a time', async () => {
    const counts = await Promise.all(Array.from({ length: 30 }, () => kept.add('a', 'x')))
    expect(counts.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    )
  })

  it('is listed newest first, page by page, each once', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `id ${index}`)
    for (const id of ids.slice(0, 3)) await kept.put('a', 'c', id, id)
    await kept.putAll('a', 'c', ids.slice(3))
    const found: string[] = []
    let after: { id: string; at: number } | undefined
    for (;;) {
      const page = await kept.list('a', 'c', { limit: 10, ...(after && { after }) })
      found.push(...page.map(({ id }) => id))
      after = page.at(-1)
      if (page.length < 10) break
    }
    expect(found.toSorted()).toEqual(ids.toSorted())
    const all = await kept.list('a', 'c', { limit: 100 })
    expect(all.map(({ id }) => id)).toEqual(found)
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((one, other) => other - one))
    expect(await kept.count('a', 'c')).toBe(25)
    for (const limit of [0, -1, Number.NaN]) expect(await kept.list('a', 'c', { limit })).toHaveLength(1)
  })

  it('is gone once it has expired, for all who look', async () => {
    const past = Date.now() - 1
    for (const id of ['one', 'two', 'three']) await kept.put('a', 'c', id, id)
    for (const id of ['gone', 'two']) await kept.put('a', 'c', id, id, past)
    expect(await kept.get('a', 'c', 'gone')).toBeUndefined()
    expect(await kept.get('a', 'c', 'two')).toBeUndefined()
    expect(await kept.count('a', 'c')).toBe(2)
    const [first, ...rest] = await kept.list('a', 'c', { limit: 1 })
    expect(rest).toEqual([])
    const next = await kept.list('a', 'c', { limit: 1, ...(first && { after: first }) })
    expect([first?.id, next[0]?.id].toSorted()).toEqual(['one', 'three'])
    await kept.put('a', 'c', 'two', 'again', Date.now() + 60_000)
    expect(await kept.get('a', 'c', 'two')).toBe('again')
    expect(await kept.count('a', 'c')).toBe(3)
  })

  it('is as it was where a transaction throws, whatever it did before', async () => {
    await kept.push('a', 'x', 1)
    await expect(kept.spoil('a', 'x')).rejects.toMatchObject({ code: 'forbidden', message: 'Not so' })
    expect(await kept.get('a', 'lists', 'x')).toEqual([1])
    expect(await kept.get('a', 'lists', 'x2')).toBeUndefined()
    await kept.push('a', 'x', 2)
    expect(await kept.get('a', 'lists', 'x')).toEqual([1, 2])
  })

  it('is written at once, or not at all', async () => {
    await expect(kept.putLater('a', 'x')).rejects.toMatchObject({ code: 'internal_error' })
    expect(await kept.get('a', 'lists', 'x')).toBeUndefined()
  })

  it('is changed by no value that was read or written', async () => {
    const value = { list: [1] }
    await kept.put('a', 'c', 'id', value)
    value.list.push(2)
    const read = untyped<typeof value>(await kept.get('a', 'c', 'id'))
    expect(read).toEqual({ list: [1] })
    read.list.push(3)
    expect(await kept.get('a', 'c', 'id')).toEqual({ list: [1] })
  })

  it('is JSON: what it has no word for is refused or made what JSON makes of it', async () => {
    await expect(kept.putNothing('a')).rejects.toMatchObject({ code: 'internal_error' })
    await expect(kept.put('a', 'c', 'id', 1n)).rejects.toThrow()
    await kept.put('a', 'c', 'id', { at: new Date(0), none: undefined, map: new Map([[1, 2]]) })
    expect(await kept.get('a', 'c', 'id')).toEqual({ at: '1970-01-01T00:00:00.000Z', map: {} })
    for (const value of [null, false, 0, '', [], '"\u2028']) {
      await kept.put('a', 'c', 'id', value)
      expect(await kept.get('a', 'c', 'id')).toEqual(value)
    }
  })

  it('may be a megabyte', async () => {
    const value = { text: '"ä\n'.repeat(350_000) }
    await kept.put('a', 'c', 'large', value)
    expect(await kept.get('a', 'c', 'large')).toEqual(value)
    expect(await kept.list('a', 'c', { limit: 5 })).toMatchObject([{ id: 'large', value }])
  })

  it('has names of any characters, none of which is another', async () => {
    // Halves of surrogate pairs too, what separates names, and what objects have by nature.
    const text = fc.oneof(
      fc.string({ unit: codePoint, maxLength: 8 }),
      fc.string({
        unit: fc.constantFrom('\ud800', '\udc00', '\ufffd', '"', ',', '\\', '[', '/', ':', '\0'),
        maxLength: 4,
      }),
      fc.constantFrom('__proto__', 'constructor', '', '","', '\\ud800'),
    )
    const name = fc.tuple(text, text, text)
    const key = (names: readonly string[]) => JSON.stringify(names)
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { selector: key, minLength: 1, maxLength: 6 }), async names => {
        for (const [place, collection, id] of names)
          await kept.put(place, collection, id, [place, collection, id])
        for (const [place, collection, id] of names) {
          expect(await kept.get(place, collection, id)).toEqual([place, collection, id])
          const listed = await kept.list(place, collection, { limit: 1000 })
          expect(listed.find(each => each.id === id)?.value).toEqual([place, collection, id])
        }
        for (const [place, collection, id] of names) await kept.remove(place, collection, id)
        for (const [place, collection] of names) expect(await kept.count(place, collection)).toBe(0)
      }),
      { numRuns: 40 },
    )
  })
})

it('a read and a write have names of their own', () => {
  const both = () => keeping({ reads: { one: () => 1 }, writes: { one: () => 2 } })
  expect(both).toThrow(expect.objectContaining({ code: 'invalid_options' }))
})

it('two states have nothing in common', async () => {
  const [first, second] = [keptBy('things', memoryState()), keptBy('things', memoryState())]
  await first.put('a', 'c', 'id', 1)
  expect(await second.get('a', 'c', 'id')).toBeUndefined()
})

it('what is no `kept` of the plugin cannot be called', () => {
  const other = keeping({ reads: { count: kept => kept.count('c') } })
  const plugin = (kept?: typeof other): Plugin => ({
    name: 'red',
    ...(kept && { kept }),
    mount(core) {
      core.calls(other)
      return {}
    },
  })
  const state = memoryState()
  expect(refusalOf([plugin()], { state }).message).toMatch(/`red`.*`kept`/)
  expect(refusalOf([plugin(keeping({ reads: other.works.reads }))], { state }).message).toMatch(
    /`red`.*`kept`/,
  )
  expect(refusalOf([plugin(other)], { state }).message).toBe('it was made')
})
