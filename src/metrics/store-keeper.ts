import type { Store } from '../state/store.ts'
import { addBatch, readStats, sumUp } from './batches.ts'
import type { MetricsCore, MetricsKeeper } from './core.ts'

/** Milliseconds that what was counted waits to be written: a process that is killed loses no more. */
const WRITE_AFTER_MS = 100

/** Keeps what was counted in a store, so that it outlives a restart. Several processes may share the store. */
export function createStoreKeeper(core: MetricsCore, store: Store): MetricsKeeper {
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = () => {
    if (timer !== undefined) clearTimeout(timer)
    timer = undefined
    const batch = core.take()
    if (batch !== undefined) store.transact(tx => addBatch(tx, batch))
  }
  return {
    changed() {
      timer ??= setTimeout(write, WRITE_AFTER_MS)
    },
    async snapshot() {
      write()
      return sumUp(
        store.transact(tx => readStats(tx)),
        [core.gauges()],
      )
    },
  }
}
