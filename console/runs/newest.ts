import type { RunListQuery } from '../../src/client/index.ts'
import { client } from '../service.ts'
import type { Listed } from './numbers.ts'

/** Most runs that are read at once: the newest. */
export const MOST = 1000
const PAGE = 100

/** The newest runs of a list. */
export interface Newest {
  readonly runs: readonly Listed[]
  /** Whether the list has more. */
  readonly isCut: boolean
}

/** Reads the newest runs that match. */
export async function newestRuns(query: RunListQuery, signal?: AbortSignal): Promise<Newest> {
  const runs: Listed[] = []
  for await (const run of client.runs.all({ ...query, limit: PAGE }, signal ? { signal } : {})) {
    if (runs.length === MOST) return { runs, isCut: true }
    runs.push(run)
  }
  return { runs, isCut: false }
}
