/**
 * Counts running runs in an index object, in memory. After an eviction, the list of runs restores the counts.
 *
 * @module
 */

import { slotOf, takeSlot, type WorkBounds } from '../../runs/admission.ts'
import { RUNNING, RUNS, type StoredRun, toDocument } from '../../runs/stored/record.ts'
import type { Position, Transaction } from '../../stores/store.ts'

/** The limits of running runs, in number and duration. */
export interface SlotBounds extends WorkBounds {
  readonly timeoutMs: number
}

/** Milliseconds by which an object may be late to report an end. */
const LATE_MS = 60_000

/** Documents to read at once. */
const AT_ONCE = 1000

/** The time by which a run has ended for certain, even if its object could not report it. */
function workExpiry({ timeoutMs }: SlotBounds, begunAt: number): number {
  return begunAt + timeoutMs + LATE_MS
}

/** Lists a run that is about to start. Throws `too_many_runs` if the limit of running runs is reached. */
export function admitListed(tx: Transaction, run: StoredRun, client: string, bounds: SlotBounds): void {
  const document = toDocument(run)
  const slot = slotOf(document, { instance: run.instance, client, expiresAt: workExpiry(bounds, tx.now) })
  takeSlot(tx, RUNNING, slot, bounds)
  // While the run is running, its document names the client that it counts for.
  tx.put(RUNS, { ...document, tags: { ...document.tags, client } })
}

/** Counts the listed running runs again, after the object was evicted from memory. */
export function fillSlots(tx: Transaction, partition: string, bounds: SlotBounds): void {
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
      tx.put(RUNNING, slotOf(document, { instance, client, expiresAt: workExpiry(bounds, document.at) }))
    }
    after = next
  } while (after !== undefined)
}
