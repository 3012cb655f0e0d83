import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunPage } from '../../src/runs/stored/host.ts'
import { decodeCursor, encodeCursor } from '../../src/runs/stored/page.ts'
import type { RunStatus, RunSummary } from '../../src/runs/stored/record.ts'
import { Indexes, joinPages } from '../../src/runtimes/cloudflare/indexes.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { NearStore } from '../../src/stores/store.ts'

const run = (id: string, at: number, name = 'a', status: RunStatus = 'completed'): RunSummary => {
  const createdAt = new Date(at).toISOString()
  return { id, kind: 'agent', name, status, createdAt, updatedAt: createdAt }
}

/** An index that lists runs. */
function indexOf(runs: readonly RunSummary[]): NearStore {
  const store = memoryStore()
  store.transact(tx => {
    for (const value of runs) {
      const { id, name, status, createdAt } = value
      tx.put('run', { id, partition: 'p', at: Date.parse(createdAt), tags: { name, status }, value })
    }
  })
  return store
}

/** A page of an index that looks at two runs at the most. Two tags: it looks at runs that have one of them only. */
function pageOf(index: NearStore, limit: number, cursor: string | null): RunPage {
  const after = cursor === null ? undefined : decodeCursor(cursor)
  const query = { partition: 'p', tags: { name: 'a', status: 'completed' }, after, limit, looks: 2 }
  const { documents, next } = index.read(tx => tx.search<RunSummary>('run', query))
  return { runs: documents.map(({ value }) => value), nextCursor: next ? encodeCursor(next) : null }
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
    const one = { runs: [run('a', 9), run('b', 5)], nextCursor: encodeCursor({ at: 5, id: 'b' }) }
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

  it('goes on where nothing is left of what was looked at', () => {
    const stop = encodeCursor({ at: 5, id: 'x' })
    const behind = { runs: [run('a', 4)], nextCursor: null }
    const joined = joinPages(
      [
        ['one', { runs: [], nextCursor: stop }],
        ['other', behind],
      ],
      20,
    )
    expect(joined).toEqual({ runs: [], nextCursor: stop })
  })

  it('gives every run once and in order, page by page, however far each index looks', () => {
    const listed = fc.record({
      at: fc.nat(40),
      name: fc.constantFrom('a', 'b', 'c'),
      status: fc.constantFrom<RunStatus[]>('completed', 'failed', 'cancelled'),
      index: fc.nat(3),
    })
    fc.assert(
      fc.property(
        fc.array(listed, { size: 'max', maxLength: 100 }),
        fc.integer({ min: 1, max: 5 }),
        (all, limit) => {
          const runs = all.map(({ at, name, status }, n) => run(`run-${n}`, at, name, status))
          const indexes = [0, 1, 2, 3].map(own => indexOf(runs.filter((_, n) => all[n]?.index === own)))
          const found: string[] = []
          let cursor: string | null = null
          // Each page passes one place of an index at least.
          for (let pages = 0; pages <= runs.length; pages++) {
            const from: string | null = cursor
            const asked = indexes.map((index, n): readonly [number, RunPage] => [
              n,
              pageOf(index, limit, from),
            ])
            const page: ReturnType<typeof joinPages<number>> = joinPages(asked, limit)
            expect(page.runs.length).toBeLessThanOrEqual(limit)
            found.push(...page.runs.map(([{ id }]) => id))
            cursor = page.nextCursor
            if (cursor === null) break
          }
          expect(cursor).toBeNull()
          const wanted = runs.filter(({ name, status }) => name === 'a' && status === 'completed')
          wanted.sort(
            (one, other) =>
              Date.parse(other.createdAt) - Date.parse(one.createdAt) || (one.id < other.id ? 1 : -1),
          )
          expect(found).toEqual(wanted.map(({ id }) => id))
        },
      ),
      { numRuns: 300 },
    )
  })
})
