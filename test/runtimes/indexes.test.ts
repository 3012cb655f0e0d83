import { describe, expect, it } from 'vitest'
import { decodeCursor } from '../../src/runs/cursor.ts'
import type { RunSummary } from '../../src/runs/record.ts'
import { Indexes, joinPages } from '../../src/runtimes/cloudflare/indexes.ts'

const run = (id: string, at: number): RunSummary => {
  const createdAt = new Date(at).toISOString()
  return { id, kind: 'agent', name: 'a', status: 'completed', createdAt, updatedAt: createdAt }
}

describe('Indexes', () => {
  it('lists runs of an owner in one, whichever client asks', () => {
    const indexes = new Indexes(8)
    expect(indexes.of('me', 'owner:me')).toEqual({ name: 'owner:me', shares: 1 })
    expect(indexes.namesOf('me')).toEqual(['owner:me'])
  })

  it('spreads clients without an identity over all of them, each always to the same one', () => {
    const indexes = new Indexes(8)
    const clients = Array.from({ length: 400 }, (_, at) => `address:${at.toString(16)}`)
    const names = clients.map(client => indexes.of(null, client).name)
    expect(new Set(names)).toEqual(new Set(indexes.namesOf(null)))
    for (const name of indexes.namesOf(null)) {
      expect(names.filter(other => other === name).length).toBeGreaterThan(20)
    }
    expect(clients.map(client => indexes.of(null, client).name)).toEqual(names)
  })

  it('has one where nothing else is said, named as it always was', () => {
    expect(new Indexes(1).namesOf(null)).toEqual(['anonymous'])
  })
})

describe('joinPages', () => {
  it('gives the newest of all, and where the next page begins', () => {
    const one = { runs: [run('a', 9), run('b', 5)], nextCursor: 'more' }
    const other = { runs: [run('d', 9), run('c', 7)], nextCursor: null }
    const { runs, nextCursor } = joinPages<string>(
      [
        ['one', one],
        ['other', other],
      ],
      3,
    )
    expect(runs.map(([{ id }, index]) => [id, index])).toEqual([
      ['d', 'other'],
      ['a', 'one'],
      ['c', 'other'],
    ])
    expect(decodeCursor(nextCursor ?? '')).toEqual({ at: 7, id: 'c' })
  })

  it('ends where all of them end', () => {
    const page = { runs: [run('a', 1)], nextCursor: null }
    const none = { runs: [], nextCursor: null }
    const joined = joinPages<number>(
      [
        [1, page],
        [2, none],
      ],
      1,
    )
    expect(joined.nextCursor).toBeNull()
    expect(joinPages<number>([[1, { ...page, nextCursor: 'as it is' }]], 1).nextCursor).toBe('as it is')
  })
})
