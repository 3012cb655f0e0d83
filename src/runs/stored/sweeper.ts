/**
 * When the runs of a store are swept: where runs start, and never by a timer.
 *
 * @module
 */

import type { Retention } from '../../stores/state.ts'
import type { Soon, Store } from '../../stores/store.ts'
import type { HostSettings } from './host.ts'
import { sweep, sweepForAll } from './retention.ts'

/** Milliseconds between two sweeps at the least; a sweep happens when a run starts, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/** Runs after which a sweep does not wait for that: so many may be kept past a count. */
const SWEEP_EVERY_RUNS = 100

/** Milliseconds that a sweep may take on a store that is far away. */
const SWEEP_PATIENCE_MS = 30_000

/** Makes what sweeps a store, if it is time: to be called where a run begins. */
export function createSweeper(
  store: Store,
  retention: Retention,
  settings: Pick<HostSettings, 'files'>,
): () => Soon<void> {
  let sweptAt = 0
  let begun = 0
  return () => {
    const now = Date.now()
    // The clock may have been set back since.
    if (Math.abs(now - sweptAt) < SWEEP_EVERY_MS && ++begun < SWEEP_EVERY_RUNS) return
    sweptAt = now
    begun = 0
    const { files } = settings
    if (!store.isFar) return store.write(tx => sweep(tx, retention, tx.now, files))
    const swept = store.write(tx => sweepForAll(tx, retention, files), SWEEP_PATIENCE_MS)
    // Nobody waits for it. What is left is swept the next time.
    void Promise.resolve(swept).catch(() => {})
  }
}
