import { describe, expect, it } from 'vitest'
import type { Kind } from '../../src/agents/contract.ts'
import { addCorrection, CORRECTIONS } from '../../src/http/corrections.ts'
import { toDocument as toTask } from '../../src/protocols/a2a/tasks/task-record.ts'
import type { RunQuery } from '../../src/runs/stored/host.ts'
import { listRuns } from '../../src/runs/stored/list.ts'
import { idsOf, RUNS, type RunStatus, toDocument } from '../../src/runs/stored/record.ts'
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { alone } from '../../src/stores/presence.ts'
import { INDEXED_TAGS } from '../../src/stores/sql/migrations.ts'
import { sqlStore } from '../../src/stores/sql/sql.ts'
import type { SqlDriver } from '../../src/stores/sql/sql-driver.ts'
import type { Document, NearStore } from '../../src/stores/store.ts'

/** Documents that a request looks at at the most. */
const LOOKS = 1000

function run(
  at: number,
  fields: { kind?: Kind; status?: RunStatus; name?: string; sessionId?: string },
): Document {
  const createdAt = new Date(at).toISOString()
  const id = `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000`
  const record = {
    id,
    kind: 'agent',
    name: 'echo',
    status: 'completed',
    createdAt,
    updatedAt: createdAt,
  } as const
  return toDocument({ record: { ...record, ...fields }, owner: null, at, instance: '', keyId: null })
}

/** The oldest three are completed runs of an agent; all that came later is either not completed, or of no agent. */
function fill(store: NearStore): void {
  store.transact(tx => {
    for (let at = 1; at <= 3; at++) tx.put(RUNS, run(at, {}))
    for (let at = 4; at < 1204; at++) tx.put(RUNS, run(at, { kind: 'team' }))
    for (let at = 1204; at < 2404; at++)
      tx.put(RUNS, run(at, { status: 'failed', sessionId: `s-${at % 400}` }))
  })
}

function pagesOf(store: NearStore, query: Omit<RunQuery, 'limit'>): { at: number[]; pages: number[] } {
  const pages: number[] = []
  const at: number[] = []
  let cursor: string | undefined
  do {
    const page = store.transact(tx => listRuns(tx, null, { ...query, limit: 50, cursor }))
    pages.push(page.runs.length)
    at.push(...page.runs.map(({ createdAt }) => Date.parse(createdAt)))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return { at, pages }
}

const stores: [string, () => NearStore][] = [
  ['memory', memoryStore],
  ['SQL', () => sqlStore(openDatabase(':memory:'))],
  ['SQL without indices of tags', () => sqlStore(openDatabase(':memory:'), alone(), { indexesTags: false })],
]

describe.each(stores)('a list of runs in %s', (_, make) => {
  it('has empty pages where it ran out of looks, and finds all in the end', () => {
    const store = make()
    fill(store)
    const { at, pages } = pagesOf(store, { kind: 'agent', status: 'completed' })
    expect(at).toEqual([3, 2, 1])
    expect(pages[0]).toBe(0)
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.length).toBeLessThanOrEqual(Math.ceil(2403 / LOOKS))
    store.close()
  })

  it('finds a run by the beginning of its id, without looking at others', () => {
    const store = make()
    fill(store)
    const found = (ref: string) => store.transact(tx => idsOf(tx, RUNS, ref))
    expect(found('00000002')).toEqual([run(2, {}).id])
    expect(found('99999999')).toEqual([])
    store.close()
  })
})

describe.each(stores.slice(0, 2))('a filter in %s', (_, make) => {
  it.each<[Omit<RunQuery, 'limit'>, number]>([
    [{ kind: 'team' }, 1200],
    [{ status: 'failed' }, 1200],
    [{ sessionId: 's-7' }, 3],
    [{ sessionId: 's-7', kind: 'agent', status: 'failed' }, 3],
    [{ sessionId: 's-7', status: 'completed' }, 0],
    [{ name: 'never' }, 0],
    [{ name: 'echo', status: 'running' }, 0],
    [{ since: 2304 }, 100],
    [{ until: 104 }, 103],
    [{ since: 1000, until: 1300 }, 300],
    [{ since: 1000, until: 1300, kind: 'team' }, 204],
  ])('%j has no page that is short but the last one', (query, count) => {
    const store = make()
    fill(store)
    const { at, pages } = pagesOf(store, query)
    expect(at).toHaveLength(count)
    expect(pages.slice(0, -1).every(length => length === 50)).toBe(true)
    store.close()
  })
})

describe('a list in memory', () => {
  it('looks at so many documents and no more', () => {
    const store = memoryStore()
    let looked = 0
    store.transact(tx => {
      for (let at = 1; at <= 3000; at++) {
        const document = run(at, { status: at % 2 === 0 ? 'failed' : 'completed' })
        const tags = new Proxy(document.tags, {
          get(target, name: string) {
            looked++
            return target[name]
          },
        })
        tx.put(RUNS, { ...document, tags })
      }
    })
    looked = 0
    // One more has neither of the two: nobody knows them by both.
    store.transact(tx => tx.put(RUNS, run(0, { name: 'other' })))
    const page = store.transact(tx =>
      listRuns(tx, null, { kind: 'agent', name: 'echo', status: 'failed', limit: 50 }),
    )
    expect(page.runs).toHaveLength(50)
    // Three tags of each of 51.
    expect(looked).toBe(51 * 3)
    looked = 0
    store.transact(tx => listRuns(tx, null, { sessionId: 'never', limit: 50 }))
    expect(looked).toBe(0)
  })

  it('looks at nothing that has not expired yet to find what has', () => {
    const store = memoryStore()
    let looked = 0
    store.transact(tx => {
      for (let at = 1; at <= 3000; at++) {
        const document: Document = run(at, {})
        Object.defineProperty(document, 'expiresAt', {
          enumerable: true,
          get() {
            looked++
            return at * 10
          },
        })
        tx.put(RUNS, document)
      }
    })
    looked = 0
    expect(store.transact(tx => tx.expired(RUNS, 45, 100))).toHaveLength(4)
    expect(looked).toBeLessThanOrEqual(5)
  })
})

describe('a list in SQL', () => {
  /** The plans of the statements by which a list is made. */
  function plansOf(query: Omit<RunQuery, 'limit'>): string[] {
    const driver = openDatabase(':memory:')
    const asked: { sql: string; values: Parameters<SqlDriver['all']>[1][] }[] = []
    const heard: SqlDriver = {
      ...driver,
      all(sql, ...values) {
        asked.push({ sql, values })
        return driver.all(sql, ...values)
      },
    }
    const store = sqlStore(heard)
    fill(store)
    asked.length = 0
    store.transact(tx => listRuns(tx, null, { ...query, limit: 50 }))
    const lists = asked.filter(({ sql }) => sql.includes('FROM documents'))
    const plans = lists.flatMap(({ sql, values }) => driver.all(`EXPLAIN QUERY PLAN ${sql}`, ...values))
    store.close()
    return plans.map(({ detail }) => String(detail))
  }

  it.each(['kind', 'name', 'status', 'sessionId'])('uses the index of %s', tag => {
    const plans = plansOf({ [tag]: 'agent' })
    expect(plans).not.toEqual([])
    for (const plan of plans) {
      expect(plan).toMatch(new RegExp(`^SEARCH documents USING (COVERING )?INDEX documents_by_tag_${tag} `))
      expect(plan).toContain('(collection=? AND partition=? AND <expr>=?)')
    }
  })

  it('has an index for each tag that runs, tasks and corrections have', () => {
    const stored = run(1, { sessionId: 's' })
    expect(INDEXED_TAGS).toEqual(expect.arrayContaining(Object.keys(stored.tags)))
    const status = { state: 'completed', timestamp: new Date(1).toISOString() } as const
    const task = {
      id: 't',
      contextId: 'c',
      agent: 'a',
      owner: null,
      isAtWork: false,
      instance: '',
      turns: 1,
      status,
    }
    expect(INDEXED_TAGS).toEqual(expect.arrayContaining(Object.keys(toTask(task).tags)))
    const store = memoryStore()
    const correction = {
      id: 'x',
      agent: 'a',
      createdAt: status.timestamp,
      originalValue: 1,
      correctedValue: 2,
    }
    const kept = store.transact(tx => {
      addCorrection(tx, correction, null)
      return tx.get(CORRECTIONS, 'x')
    })
    expect(INDEXED_TAGS).toEqual(expect.arrayContaining(Object.keys(kept?.tags ?? { none: '' })))
  })

  it('uses the index of the rarest of several tags', () => {
    const plans = plansOf({ kind: 'agent', status: 'failed', sessionId: 's-7' })
    expect(plans.filter(plan => plan.startsWith('SCAN documents'))).toEqual([])
    const [last] = plans.filter(plan => plan.startsWith('SEARCH')).slice(-1)
    expect(last).toContain('documents_by_tag_sessionId')
  })

  it('goes on after a cursor by the index', () => {
    const cursor = btoa('1500 x')
    const plans = plansOf({ kind: 'agent', cursor })
    expect(plans).not.toEqual([])
    for (const plan of plans) {
      expect(plan).toMatch(/documents_by_tag_kind .*\(at,id\)<|documents_by_tag_kind .*at</)
    }
  })
})
