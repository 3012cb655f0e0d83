/**
 * Sweeps the runs of a store when runs start, never by a timer.
 *
 * @module
 */

import type { Retention } from '../../stores/state.ts'
import type { Soon, Store } from '../../stores/store.ts'
import type { HostSettings } from './host.ts'
import { sweep, sweepForAll } from './retention.ts'

/** The shortest time between two sweeps, in milliseconds. */
const SWEEP_EVERY_MS = 60_000

/** The number of runs after which a sweep does not wait for that. So many may be kept past the count. */
const SWEEP_EVERY_RUNS = 100

/** Milliseconds that a sweep may take on a remote store. */
const SWEEP_PATIENCE_MS = 30_000

/** Makes the function that sweeps a store if it is time. Call it where a run begins. */
export function createSweeper(
  store: Store,
  retention: Retention,
  settings: Pick<HostSettings, 'files'>,
): () => Soon<void> {
  let sweptAt = 0
  let begun = 0
  return () => {
    const now = Date.now()
    // The clock may have been set back since then.
    if (Math.abs(now - sweptAt) < SWEEP_EVERY_MS && ++begun < SWEEP_EVERY_RUNS) return
    sweptAt = now
    begun = 0
    const { files } = settings
    if (!store.isRemote) return store.write(tx => sweep(tx, retention, tx.now, files))
    const swept = store.write(tx => sweepForAll(tx, retention, files), SWEEP_PATIENCE_MS)
    // Nobody waits for it. The next sweep deletes what is left.
    void Promise.resolve(swept).catch(() => {})
  }
}
