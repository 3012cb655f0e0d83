/** What a Durable Object knows of its own database, without a statement. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KnownRows } from '../../src/stores/objects/known.ts'
import { type ObjectStore, objectStore } from '../../src/stores/objects/store.ts'
import { doc } from '../contracts/store/document.ts'
import { here } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'
import { inObject, objectStorage, type TestStorage } from './object-storage.ts'

describe('objectStore', () => storeContract(() => here(inObject(false))))

describe('objectStore of an object that is evicted again and again', () =>
  storeContract(() => here(inObject(true))))

describe('what an object knows', () => {
  let storage: TestStorage
  let store: ObjectStore
  beforeEach(() => {
    storage = objectStorage()
    store = objectStore(storage)
  })
  afterEach(() => storage.close())

  const evict = () => {
    store = objectStore(storage)
    storage.taken()
  }
  const get = (id: string) => store.read(tx => tx.get('c', id))
  const put = (id: string, value: unknown = id) => store.write(tx => tx.put('c', doc(id, { value })))
  /** The first words of the statements that ran. */
  const ran = () => storage.taken().map(sql => sql.split(' ', 1)[0])

  it('is what it wrote, and what it read once', () => {
    put('a')
    storage.taken()
    expect(get('a')).toEqual(doc('a', { value: 'a' }))
    expect(ran()).toEqual([])
    evict()
    expect(get('a')).toEqual(doc('a', { value: 'a' }))
    expect(get('b')).toBeUndefined()
    // The first one asks for the tables, too.
    expect(ran()).toEqual(['SELECT', 'SELECT', 'SELECT'])
    expect(get('a')).toEqual(doc('a', { value: 'a' }))
    expect(get('b')).toBeUndefined()
    put('a', 'new')
    put('b')
    // The collection is counted once after an eviction.
    expect(ran()).toEqual(['UPDATE', 'SELECT', 'INSERT'])
    put('c')
    expect(ran()).toEqual(['SELECT', 'INSERT'])
    expect(['a', 'b', 'c'].map(id => get(id)?.value)).toEqual(['new', 'b', 'c'])
    expect(ran()).toEqual([])
  })

  it('is all, where it has made the table', () => {
    put('a')
    storage.taken()
    expect(get('none')).toBeUndefined()
    store.write(tx => tx.delete('c', 'none'))
    expect(store.holdsBeside(['c'])).toBe(false)
    expect(ran()).toEqual([])
    put('b')
    expect(ran()).toEqual(['INSERT'])
    store.write(tx => tx.delete('c', 'a'))
    store.write(tx => tx.delete('c', 'b'))
    expect([get('a'), store.holdsBeside(['c'])]).toEqual([undefined, false])
    expect(ran()).toEqual(['DELETE', 'DELETE'])
    // That a collection is empty by now, only the database knows.
    expect(store.holdsBeside([])).toBe(false)
  })

  it('is nothing of a transaction that threw', () => {
    put('a', 'kept')
    const fail = () =>
      store.write(tx => {
        tx.put('c', doc('a', { value: 'lost' }))
        tx.put('c', doc('b'))
        tx.append('l', 'lost')
        throw new Error('on purpose')
      })
    expect(fail).toThrow('on purpose')
    expect([get('a')?.value, get('b'), store.read(tx => tx.length('l'))]).toEqual(['kept', undefined, 0])
    expect([store.holdsBeside(['c']), store.holdsBeside([])]).toEqual([false, true])
    const deleting = () =>
      store.write(tx => {
        tx.delete('c', 'a')
        throw new Error('on purpose')
      })
    expect(deleting).toThrow('on purpose')
    expect(get('a')?.value).toBe('kept')
  })

  it('is nothing of a table that was made in vain', () => {
    const fail = () =>
      store.write(tx => {
        tx.put('c', doc('a'))
        throw new Error('on purpose')
      })
    expect(fail).toThrow('on purpose')
    expect([get('a'), store.holdsBeside([]), store.isEmpty()]).toEqual([undefined, false, true])
    put('a')
    expect(get('a')?.value).toBe('a')
  })

  it('is nothing once it is cleared', async () => {
    put('a')
    await store.clear()
    expect([get('a'), store.holdsBeside([]), store.isEmpty()]).toEqual([undefined, false, true])
    put('b')
    expect([get('a'), get('b')?.value]).toEqual([undefined, 'b'])
  })

  it('shares no object with who asks', () => {
    const value = { of: ['one'] }
    put('a', value)
    value.of.push('changed')
    const found = store.read(tx => tx.get<{ of: string[] }>('c', 'a'))
    found?.value.of.push('changed, too')
    expect(get('a')?.value).toEqual({ of: ['one'] })
  })

  it('is not what is long', () => {
    put('short')
    put('long')
    put('long', 'x'.repeat(20_000))
    storage.taken()
    expect([get('short')?.value, get('long')?.value]).toEqual(['short', 'x'.repeat(20_000)])
    expect([get('none'), store.holdsBeside(['c']), store.holdsBeside([])]).toEqual([undefined, false, true])
    expect(ran()).toEqual(['SELECT', 'SELECT', 'SELECT', 'SELECT'])
  })

  it('is little: it begins anew where there is too much', () => {
    const value = 'x'.repeat(10_000)
    for (let n = 0; n < 7; n++) put(`c-${n}`, value)
    storage.taken()
    for (let n = 0; n < 7; n++) expect(get(`c-${n}`)?.value).toBe(value)
    expect(ran().length).toBeGreaterThan(1)
    expect([get('none'), store.holdsBeside(['c'])]).toEqual([undefined, false])
  })

  it('is how large a collection may be: it is counted anew where it may need an index', () => {
    /** How often the collection was counted, and the indices made. */
    const taken = () => {
      const all = storage.taken()
      return ['SELECT COUNT', 'CREATE INDEX'].map(words => all.filter(sql => sql.startsWith(words)).length)
    }
    for (let n = 0; n < 255; n++) put(`a-${n}`)
    for (let n = 0; n < 100; n++) store.write(tx => tx.delete('c', `a-${n}`))
    expect(taken()).toEqual([0, 0])
    for (let n = 0; n < 101; n++) put(`b-${n}`)
    expect(taken()).toEqual([1, 0])
    put('last')
    expect(taken()).toEqual([1, 1])
    expect(store.read(tx => tx.count('c'))).toBe(257)
  })

  it('is the end of a log that was read once', () => {
    store.write(tx => tx.append('l', 'one', true))
    evict()
    const isSealed = () => store.read(tx => [tx.isSealed('l'), tx.length('l'), tx.isSealed('none')])
    expect(isSealed()).toEqual([true, 1, false])
    expect(ran()).toHaveLength(3)
    expect(isSealed()).toEqual([true, 1, false])
    expect(ran()).toEqual([])
  })
})

describe('KnownRows', () => {
  it.each([
    ['rows', { value: 'x'.repeat(1000), tags: '{}' }],
    ['documents that do not exist', null],
  ])('know 65,536 characters of %s', (_, row) => {
    const known = new KnownRows()
    known.begin()
    const ids = Array.from({ length: 10_000 }, (__, n) => `id-${n}`)
    for (const id of ids) known.set('c', id, row)
    const left = ids.filter(id => known.get('c', id) !== undefined)
    expect(left.at(-1)).toBe(ids.at(-1))
    expect(left.length * (row === null ? 14 : 1000)).toBeLessThanOrEqual(65_536)
    expect([known.get('c', 'none'), known.sizeOf('d'), known.isWithin([])]).toEqual([
      undefined,
      undefined,
      false,
    ])
  })
})
