import { expect, it } from 'vitest'
import type { Stored } from '../store.ts'
import { doc, ids } from './document.ts'
import type { Step } from './steps.ts'

const LOOK: readonly Step[] = [
  ['get', 'c', 'kept'],
  ['get', 'c', 'added'],
  ['get', 'fresh', 'added'],
  ['list', 'c', { partition: 'p', limit: 10 }],
  ['list', 'c', { partition: 'q', limit: 10 }],
  ['search', 'c', { partition: 'p', tags: { t: '1' }, limit: 10, looks: 10 }],
  ['expired', 'c', 100, 10],
  ['oldest', 'c', 10],
  ['count', 'c'],
  ['count', 'c', 'p'],
  ['count', 'fresh'],
  ['read', 'open', 0, 10],
  ['isSealed', 'open'],
  ['read', 'sealed', 0, 10],
  ['isSealed', 'sealed'],
  ['read', 'new', 0, 10],
  ['isSealed', 'new'],
]

export function transactionCases(store: Stored): void {
  it('see what they have written themselves', async () => {
    const steps: Step[] = [
      ['put', 'c', doc('a', { at: 1 })],
      ['put', 'c', doc('b', { at: 2 })],
      ['list', 'c', { partition: 'p', limit: 10 }],
      ['delete', 'c', 'a'],
      ['get', 'c', 'a'],
      ['append', 'l', 'one'],
      ['read', 'l', 0, 10],
    ]
    const answers = await store.transact(...steps)
    expect(ids(answers[2] as { id: string }[] as never)).toEqual(['b', 'a'])
    expect(answers[4]).toBeUndefined()
    expect(answers[6]).toEqual([{ seq: 1, data: 'one' }])
  })

  it.each<[string, Step[]]>([
    ['a document that was added', [['put', 'c', doc('added', { tags: { t: '1' }, expiresAt: 2 })]]],
    ['the first document of a collection', [['put', 'fresh', doc('added')]]],
    [
      'a document that was replaced, more than once',
      [
        ['put', 'c', doc('kept', { at: 9, partition: 'q', tags: {}, value: 'lost' })],
        ['put', 'c', doc('kept', { at: 1, value: 'lost too' })],
      ],
    ],
    ['a document that was deleted', [['delete', 'c', 'kept']]],
    [
      'a document that was deleted and put again',
      [
        ['delete', 'c', 'kept'],
        ['put', 'c', doc('kept', { value: 'lost' })],
      ],
    ],
    [
      'entries',
      [
        ['append', 'open', 'lost'],
        ['append', 'open', 'lost'],
        ['append', 'new', 'lost'],
      ],
    ],
    [
      'seals',
      [
        ['append', 'open', 'lost', true],
        ['append', 'new', 'lost', true],
        ['append', 'open', 'refused'],
      ],
    ],
    [
      'logs that were deleted',
      [
        ['deleteLog', 'open'],
        ['deleteLog', 'sealed'],
      ],
    ],
    [
      'logs that were deleted and written again',
      [
        ['append', 'open', 'lost'],
        ['deleteLog', 'open'],
        ['append', 'open', 'lost', true],
        ['deleteLog', 'sealed'],
        ['append', 'sealed', 'lost'],
        ['deleteLog', 'sealed'],
      ],
    ],
  ])('that throw leave nothing behind: %s', async (_, steps) => {
    await store.transact(
      ['put', 'c', doc('kept', { at: 5, tags: { t: '1' }, expiresAt: 7 })],
      ['put', 'c', doc('other', { at: 6, partition: 'q' })],
      ['append', 'open', 'kept'],
      ['append', 'sealed', 'kept', true],
    )
    const before = await store.transact(...LOOK)
    await expect(store.transact(...steps, ['throw', 'on purpose'])).rejects.toThrow('on purpose')
    expect(await store.transact(...LOOK)).toEqual(before)
    expect(await store.do('append', 'open', 'goes on')).toBe(2)
    expect(await store.do('append', 'sealed', 'late')).toBeUndefined()
  })

  it('leave what earlier ones wrote when they throw', async () => {
    await store.do('put', 'c', doc('a'))
    await expect(store.transact(['throw', 'on purpose'])).rejects.toThrow('on purpose')
    expect(await store.do('count', 'c')).toBe(1)
  })
}
