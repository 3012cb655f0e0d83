/**
 * When the runs of a store are swept: where runs start, and never by a timer.
 *
 * @module
 */

import type { Retention } from '../state/state.ts'
import type { Soon, Store } from '../state/store.ts'
import type { HostSettings } from './host.ts'
import { sweep, sweepForAll } from './retention.ts'

/** Milliseconds between two sweeps at the least; a sweep happens when a run starts, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/** Runs after which a sweep does not wait for that: so many may be kept past a count. */
const SWEEP_EVERY_RUNS = 100

/** Milliseconds that a sweep may take on a store that is far away. */
const SWEEP_PATIENCE_MS = 30_000

/** Sweeps a store from time to time. */
export class Sweeper {
  readonly #store: Store
  readonly #retention: Retention
  readonly #settings: Pick<HostSettings, 'files'>
  #sweptAt = 0
  /** Runs since then. */
  #begun = 0

  constructor(store: Store, retention: Retention, settings: Pick<HostSettings, 'files'>) {
    this.#store = store
    this.#retention = retention
    this.#settings = settings
  }

  /** A run begins: sweeps if it is time. */
  sweep(): Soon<void> {
    const now = Date.now()
    // The clock may have been set back since.
    if (Math.abs(now - this.#sweptAt) < SWEEP_EVERY_MS && ++this.#begun < SWEEP_EVERY_RUNS) return
    this.#sweptAt = now
    this.#begun = 0
    const { files } = this.#settings
    if (!this.#store.isFar) return this.#store.write(tx => sweep(tx, this.#retention, tx.now, files))
    const swept = this.#store.write(tx => sweepForAll(tx, this.#retention, files), SWEEP_PATIENCE_MS)
    // Nobody waits for it. What is left is swept the next time.
    void Promise.resolve(swept).catch(() => {})
  }
}
