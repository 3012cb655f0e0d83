import type { Counted, Reader } from '../../stores/store.ts'
import type { RunPage, RunQuery, Viewer } from './host.ts'
import { countPages, readPage } from './page.ts'
import { partitionOf, RUNS, type StoredRun } from './record.ts'

/** A page of the runs of an owner or of all, newest first. Throws `invalid_query` for an invalid cursor. */
export function listRuns(
  tx: Reader,
  owner: Viewer,
  { cursor, limit, since, until, everyone, count, search, feedback, ...filters }: RunQuery,
): RunPage {
  const tags: Record<string, string> = {}
  for (const [tag, value] of Object.entries(filters)) if (value !== undefined) tags[tag] = String(value)
  if (feedback === 'any') tags.rated = 'true'
  else if (feedback !== undefined) tags.feedback = feedback
  if (everyone?.tenant !== undefined) tags.tenant = everyone.tenant
  const filter = { partition: everyone ? undefined : partitionOf(owner), tags, since, text: search }
  const { values, next = null } = readPage<StoredRun>(tx, RUNS, filter, {
    cursor,
    limit,
    until,
    isLive: true,
  })
  const shown = ({ record, owner }: StoredRun) => (everyone ? { ...record, owner } : record)
  return {
    runs: values.map(shown),
    nextCursor: next,
    ...(count && countedAs(countPages(tx, RUNS, filter, until))),
  }
}

/** A count as a page has it. */
export function countedAs({ count, isCut }: Counted): Pick<RunPage, 'count' | 'countIsCut'> {
  return { count, ...(isCut && { countIsCut: true }) }
}
