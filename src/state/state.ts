/**
 * What a deployment keeps, and where: the `state` option.
 *
 * @module
 */

import { memoryStore } from './memory.ts'
import type { Store } from './store.ts'

/** How much a store keeps, beside each run's own retention. */
export interface Retention {
  /** Most ended runs; past it the oldest leave, those with an idempotency key not before an hour. Absent: no limit. */
  readonly maxRuns?: number | undefined
  /** Milliseconds for which an ended run is kept at the most. Absent: as long as its own retention says. */
  readonly maxAgeMs?: number | undefined
}

/** State in this process: in its memory, or in a database that it has open. */
export interface LocalState {
  readonly kind: 'local'
  readonly store: Store
  readonly retention: Retention
  /** Gone with the process, and not shared with other processes or isolates. */
  readonly isVolatile: boolean
}

/** Keeps state in memory: nothing to set up, gone with the process. Default: 1,000 ended runs, 1 hour. */
export function memoryState(retention: Retention = {}): LocalState {
  return {
    kind: 'local',
    store: memoryStore(),
    retention: { maxRuns: 1000, maxAgeMs: 60 * 60 * 1000, ...retention },
    isVolatile: true,
  }
}
