import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Position, SearchQuery } from '../../../src/stores/store.ts'
import type { Stored } from '../store.ts'
import { doc, ids } from './document.ts'

/** What a text contains, in the simplest form: halves of characters and U+0000 count as U+FFFD. */
export function contains(text: string | undefined, term: string): boolean {
  const plain = (all: string) => all.toWellFormed().replaceAll('\0', '\ufffd').toLowerCase()
  return term === '' || plain((text ?? '').slice(0, 4096)).includes(plain(term))
}

const ODD = [
  ...['"', "'", '%', '_', '\\', '*', '\0', '\u0001', '\n', ' ', '😀', 'é', 'É', 'İ', 'ß', 'Σ', 'ς', 'a', 'B'],
  ...['\ud83d', '\ude00', '\ufffd', 'AND', 'NOT ', 'NEAR(', 'abc', 'ABC', '%_', '日本語', '-', '(', '^', ':'],
]

const piece = fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: 'binary', maxLength: 3 }))
const text = fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(''))

export function textCases(store: Stored): void {
  const search = async (text: string, query: Partial<SearchQuery> = {}) =>
    store.do('search', 'c', { partition: 'p', limit: 100, looks: 1000, text, ...query })
  const found = async (text: string, query: Partial<SearchQuery> = {}) =>
    ids((await search(text, query)).documents)

  it('find what contains a text, in lower case', async () => {
    await store.do('put', 'c', doc('a', { at: 4, text: 'The quick brown Fox', tags: { kind: 'agent' } }))
    await store.do('put', 'c', doc('b', { at: 3, text: 'A lazy dog, 100% "quoted" under_scored' }))
    await store.do('put', 'c', doc('c', { at: 2 }))
    await store.do('put', 'c', doc('d', { at: 1, text: 'the FOX again', tags: { kind: 'agent', t: '1' } }))
    await store.do('put', 'c', doc('e', { at: 5, text: 'fox', partition: 'q' }))
    expect(await found('fox')).toEqual(['a', 'd'])
    expect(await found('THE')).toEqual(['a', 'd'])
    expect(await found('quick brown')).toEqual(['a'])
    expect(await found('brown quick')).toEqual([])
    expect(await found('o')).toEqual(['a', 'b', 'd'])
    expect(await found('0%')).toEqual(['b'])
    expect(await found('%')).toEqual(['b'])
    expect(await found('r_s')).toEqual(['b'])
    expect(await found('r_d')).toEqual([])
    expect(await found('"quoted"')).toEqual(['b'])
    expect(await found('fox OR dog')).toEqual([])
    expect(await found('fo*')).toEqual([])
    expect(await found('')).toEqual(['a', 'b', 'c', 'd'])
    expect(await found('fox', { tags: { kind: 'agent', t: '1' } })).toEqual(['d'])
    expect(await found('fox', { since: 2 })).toEqual(['a'])
    expect(await found('fox', { after: { at: 4, id: 'a' } })).toEqual(['d'])
    expect(await found('fox', { partition: undefined })).toEqual(['e', 'a', 'd'])
    const count = (text: string, query: Partial<SearchQuery> = {}) =>
      store.do('countMatching', 'c', { partition: 'p', looks: 1000, text, ...query })
    expect(await count('fox')).toEqual({ count: 2, isCut: false })
    expect(await count('fox', { tags: { t: '1' } })).toEqual({ count: 1, isCut: false })
    expect(await count('fox', { partition: undefined })).toEqual({ count: 3, isCut: false })
    expect(await count('f')).toEqual({ count: 2, isCut: false })
  })

  it('forget the text of a document that was replaced or deleted, and show no text', async () => {
    await store.do('put', 'c', doc('a', { text: 'before' }))
    expect(await store.do('get', 'c', 'a')).toEqual(doc('a'))
    expect((await search('before')).documents).toEqual([doc('a')])
    await store.do('put', 'c', doc('a', { text: 'afterwards', value: 1 }))
    expect([await found('before'), await found('afterwards')]).toEqual([[], ['a']])
    await store.do('put', 'c', doc('a', { at: 2, text: 'elsewhere' }))
    expect([await found('afterwards'), await found('elsewhere')]).toEqual([[], ['a']])
    await store.do('put', 'c', doc('a', { at: 2 }))
    expect([await found('elsewhere'), await found('')]).toEqual([[], ['a']])
    await store.do('put', 'c', doc('a', { text: 'again' }))
    await store.do('delete', 'c', 'a')
    expect(await found('again')).toEqual([])
    await store.do('put', 'c', doc('a'))
    expect(await found('again')).toEqual([])
  })

  it('undo the text of a transaction that throws', async () => {
    await store.do('put', 'c', doc('a', { text: 'the first' }))
    await store
      .transact(['put', 'c', doc('a', { text: 'the second' })], ['throw', 'on purpose'])
      .catch(() => {})
    expect([await found('first'), await found('second')]).toEqual([['a'], []])
    const [, answer] = await store.transact(
      ['put', 'c', doc('b', { text: 'the third' })],
      ['search', 'c', { partition: 'p', limit: 10, looks: 10, text: 'third' }],
    )
    expect(answer).toMatchObject({ documents: [{ id: 'b' }] })
  })

  it('look at the first 4,096 characters', async () => {
    await store.do('put', 'c', doc('a', { text: `${'x'.repeat(4090)}within, beyond` }))
    expect([await found('within'), await found('beyond')]).toEqual([['a'], []])
    expect(await found('x'.repeat(4090))).toEqual(['a'])
    expect(await found('x'.repeat(4091))).toEqual([])
    expect(await found('x'.repeat(100_000))).toEqual([])
  })

  it('go on page by page through many documents, each once, in order', async () => {
    const puts = Array.from({ length: 700 }, (_, at) => {
      const text = at % 7 === 0 ? `Number ${at} is special` : `Number ${at} is ordinary`
      return ['put', 'c', doc(`id-${at}`, { at: (at * 37) % 700, text })] as const
    })
    for (let at = 0; at < puts.length; at += 100) await store.transact(...puts.slice(at, at + 100))
    const all = async (text: string, query: Partial<SearchQuery>) => {
      const seen: string[] = []
      let after: Position | undefined
      do {
        const { documents, next } = await search(text, { ...query, after })
        seen.push(...ids(documents))
        after = next
      } while (after !== undefined)
      return seen
    }
    const wanted = puts
      .map(([, , document]) => document)
      .filter(({ text }) => text?.includes('special'))
      .sort((one, other) => other.at - one.at)
    expect(await all('special', { limit: 9 })).toEqual(ids(wanted))
    expect(await all('special', { limit: 9, looks: 50 })).toEqual(ids(wanted))
    expect((await all('is', { limit: 100 })).length).toBe(700)
    expect(await all('Number 699 ', { limit: 9, looks: 300 })).toEqual(['id-699'])
    expect(await all('no such thing', { limit: 9, looks: 300 })).toEqual([])
    await store.transact(...puts.slice(0, 100).map(([, , { id }]) => ['delete', 'c', id] as const))
    expect(await all('special', { limit: 50 })).toEqual(
      ids(wanted.filter(({ id }) => Number(id.slice(3)) > 99)),
    )
    await store.do('put', 'c', doc('late', { at: 1000, text: 'special, too' }))
    expect((await found('special', { limit: 1 }))[0]).toBe('late')
  })

  it('are as naive as `includes`, whatever the texts and terms', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 20 }),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(19), fc.nat(), fc.nat(6)), { maxLength: 6 }),
        async (texts, others, cuts) => {
          await store.transact(
            ...Array.from({ length: 20 }, (_, at) => ['delete', 'c', `id-${at}`] as const),
            ...texts.map((text, at) => ['put', 'c', doc(`id-${at}`, { at: 99 - at, text })] as const),
          )
          // Most terms are pieces of texts.
          const pieces = cuts.map(([of, from, length]) => {
            const whole = texts[of % texts.length]!
            return whole.slice(from % (whole.length + 1)).slice(0, length)
          })
          for (const term of [...others, ...pieces]) {
            const expected = texts.flatMap((text, at) => (contains(text, term) ? [`id-${at}`] : []))
            expect(await found(term)).toEqual(expected)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
}
