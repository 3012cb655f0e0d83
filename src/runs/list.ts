import type { Transaction } from '../state/store.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { RunPage, RunQuery, Viewer } from './host.ts'
import { partitionOf, RUNS, type StoredRun } from './record.ts'

/** A page of an owner's runs, newest first. Throws `invalid_query` for a cursor that is none. */
export function listRuns(tx: Transaction, owner: Viewer, { cursor, limit, ...filters }: RunQuery): RunPage {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const tags: Record<string, string> = {}
  for (const [tag, value] of Object.entries(filters)) if (value !== undefined) tags[tag] = value
  // One more than asked for tells whether there is another page.
  const found = tx.list<StoredRun>(RUNS, { partition: partitionOf(owner), tags, after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return { runs: page.map(({ value }) => value.record), nextCursor: hasMore ? encodeCursor(last) : null }
}
