import type { Store } from '../state/store.ts'
import { addBatch, readStats, sumUp } from './batches.ts'
import type { Batch, MetricsCore, MetricsKeeper } from './core.ts'

/** Milliseconds that what was counted waits to be written: a process that is killed loses no more. */
const WRITE_AFTER_MS = 100

/** Milliseconds after which a store that could not be written is tried again. */
const RETRY_MS = 2000

/** Batches that wait for the store; past it the oldest are lost. */
const MAX_UNWRITTEN = 1000

/**
 * Keeps what was counted in a store, so that it outlives a restart. Several processes may share the store. `onError` is told
 * of a store that cannot be written; what it was to keep is kept here until it can.
 */
export function createStoreKeeper(
  core: MetricsCore,
  store: Store,
  onError: (error: unknown) => void,
): MetricsKeeper {
  let timer: ReturnType<typeof setTimeout> | undefined
  let unwritten: Batch[] = []
  const writeIn = (ms: number) => {
    timer ??= setTimeout(write, ms)
  }
  const write = () => {
    if (timer !== undefined) clearTimeout(timer)
    timer = undefined
    const batch = core.take()
    if (batch !== undefined) unwritten.push(batch)
    if (unwritten.length === 0) return
    try {
      store.transact(tx => {
        for (const each of unwritten) addBatch(tx, each)
      })
      unwritten = []
    } catch (error) {
      unwritten = unwritten.slice(-MAX_UNWRITTEN)
      onError(error)
      writeIn(RETRY_MS)
    }
  }
  return {
    changed: () => writeIn(WRITE_AFTER_MS),
    flush: write,
    async snapshot() {
      write()
      const kept = store.transact(tx => readStats(tx))
      return sumUp([...kept, ...unwritten.flatMap(({ stats }) => stats)], [core.gauges()])
    },
  }
}
