import { expect, it } from 'vitest'
import type { Stored } from '../store.ts'
import type { Step } from './steps.ts'

export function logCases(store: Stored): void {
  it('are empty and open before anything is written', async () => {
    expect(await store.do('read', 'l', 0, 10)).toEqual([])
    expect(await store.do('isSealed', 'l')).toBe(false)
  })

  it('number their entries from 1', async () => {
    expect(await store.do('append', 'l', 'one')).toBe(1)
    expect(await store.do('append', 'l', 'two')).toBe(2)
    expect(await store.do('append', 'other', 'first')).toBe(1)
    expect(await store.do('read', 'l', 0, 10)).toEqual([
      { seq: 1, data: 'one' },
      { seq: 2, data: 'two' },
    ])
  })

  it('are read from any place, with a limit', async () => {
    const entries = Array.from({ length: 20 }, (_, i) => ({ seq: i + 1, data: `entry ${i + 1}` }))
    await store.transact(...entries.map(({ data }): Step => ['append', 'l', data]))
    for (let after = 0; after <= 21; after++) {
      expect(await store.do('read', 'l', after, 7)).toEqual(entries.slice(after, after + 7))
    }
    expect(await store.do('read', 'l', 0, 0)).toEqual([])
    expect(await store.do('read', 'l', Number.MAX_SAFE_INTEGER, 64)).toEqual([])
    expect(await store.do('read', 'l', 0, Number.MAX_SAFE_INTEGER)).toEqual(entries)
  })

  it('hold texts that are empty', async () => {
    expect(await store.do('append', 'l', '')).toBe(1)
    expect(await store.do('append', 'l', '', true)).toBe(2)
    expect(await store.do('read', 'l', 0, 10)).toEqual([
      { seq: 1, data: '' },
      { seq: 2, data: '' },
    ])
    expect(await store.do('isSealed', 'l')).toBe(true)
  })

  it('take nothing more once they are sealed', async () => {
    await store.do('append', 'l', 'one')
    expect(await store.do('isSealed', 'l')).toBe(false)
    expect(await store.do('append', 'l', 'last', true)).toBe(2)
    expect(await store.do('isSealed', 'l')).toBe(true)
    expect(await store.do('append', 'l', 'late')).toBeUndefined()
    expect(await store.do('append', 'l', 'late', true)).toBeUndefined()
    expect(await store.do('read', 'l', 0, 10)).toEqual([
      { seq: 1, data: 'one' },
      { seq: 2, data: 'last' },
    ])
    expect(await store.do('append', 'other', 'open')).toBe(1)
  })

  it('seal within the transaction that asks', async () => {
    const steps: Step[] = [
      ['append', 'l', 'last', true],
      ['isSealed', 'l'],
      ['append', 'l', 'late'],
    ]
    expect(await store.transact(...steps)).toEqual([1, true, undefined])
  })

  it('begin anew after they were deleted', async () => {
    await store.transact(['append', 'l', 'old', true], ['append', 'other', 'kept'])
    await store.do('deleteLog', 'l')
    await store.do('deleteLog', 'l')
    expect(await store.do('read', 'l', 0, 10)).toEqual([])
    expect(await store.do('isSealed', 'l')).toBe(false)
    expect(await store.do('append', 'l', 'new')).toBe(1)
    expect(await store.do('read', 'l', 0, 10)).toEqual([{ seq: 1, data: 'new' }])
    expect(await store.do('read', 'other', 0, 10)).toEqual([{ seq: 1, data: 'kept' }])
  })
}
