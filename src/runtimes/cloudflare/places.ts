/**
 * The places of runs at work, as an index object counts them: in memory, and in the list by which they are found again.
 *
 * @module
 */

import { placeOf, takePlace, type WorkBounds } from '../../runs/admission.ts'
import { RUNNING, RUNS, type StoredRun, toDocument } from '../../runs/record.ts'
import type { Place, Transaction } from '../../state/store.ts'

/** How much may be at work, and for how long. */
export interface PlaceBounds extends WorkBounds {
  readonly timeoutMs: number
}

/** Milliseconds that an object may be late to tell of an end. */
const LATE_MS = 60_000

/** Documents that are read at once. */
const AT_ONCE = 1000

/** When what is at work has ended for certain, though its object could not tell. */
function workExpiry({ timeoutMs }: PlaceBounds, begunAt: number): number {
  return begunAt + timeoutMs + LATE_MS
}

/** Lists a run that is about to start. Throws `too_many_runs` where as many as may be are at work. */
export function admitListed(tx: Transaction, run: StoredRun, client: string, bounds: PlaceBounds): void {
  const document = toDocument(run)
  const place = placeOf(document, { instance: run.instance, client, expiresAt: workExpiry(bounds, tx.now) })
  takePlace(tx, RUNNING, place, bounds)
  // While it is at work it says whose place it has.
  tx.put(RUNS, { ...document, tags: { ...document.tags, client } })
}

/** Takes the places again that the runs of a list had before the object left memory. */
export function fillPlaces(tx: Transaction, partition: string, bounds: PlaceBounds): void {
  const since = tx.now - workExpiry(bounds, 0)
  const filter = { partition, tags: { status: 'running' }, since }
  let after: Place | undefined
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
