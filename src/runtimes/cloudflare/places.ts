/**
 * The places of running runs, as an index object counts them. The counts are in memory. The list of runs restores them.
 *
 * @module
 */

import { placeOf, takePlace, type WorkBounds } from '../../runs/admission.ts'
import { RUNNING, RUNS, type StoredRun, toDocument } from '../../runs/stored/record.ts'
import type { Position, Transaction } from '../../stores/store.ts'

/** How many runs may run at once, and for how long. */
export interface PlaceBounds extends WorkBounds {
  readonly timeoutMs: number
}

/** Milliseconds by which an object may be late to report an end. */
const LATE_MS = 60_000

/** Documents to read at once. */
const AT_ONCE = 1000

/** The time by which a run has ended for certain, even if its object could not report it. */
function workExpiry({ timeoutMs }: PlaceBounds, begunAt: number): number {
  return begunAt + timeoutMs + LATE_MS
}

/** Lists a run that is about to start. Throws `too_many_runs` if the limit of running runs is reached. */
export function admitListed(tx: Transaction, run: StoredRun, client: string, bounds: PlaceBounds): void {
  const document = toDocument(run)
  const place = placeOf(document, { instance: run.instance, client, expiresAt: workExpiry(bounds, tx.now) })
  takePlace(tx, RUNNING, place, bounds)
  // While the run is running, its document names the client whose place it takes.
  tx.put(RUNS, { ...document, tags: { ...document.tags, client } })
}

/** Takes the places of listed runs again, after the object left memory. */
export function fillPlaces(tx: Transaction, partition: string, bounds: PlaceBounds): void {
  const since = tx.now - workExpiry(bounds, 0)
  const filter = { partition, tags: { status: 'running' }, since }
  let after: Position | undefined
  do {
    const { documents, next } = tx.search<StoredRun>(RUNS, {
      ...filter,
      after,
      limit: AT_ONCE,
      looks: AT_ONCE,
    })
    for (const document of documents) {
      const { instance } = document.value
      const { client } = document.tags
      tx.put(RUNNING, placeOf(document, { instance, client, expiresAt: workExpiry(bounds, document.at) }))
    }
    after = next
  } while (after !== undefined)
}
