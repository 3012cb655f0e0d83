import { createMutex } from '../../core/mutex.ts'
import type { Store } from '../../stores/store.ts'
import { addBatch, type Batch, noteBatch, readStats, sumUp } from './batches.ts'
import type { MetricsCore, MetricsStorage } from './core.ts'
import { readSteps } from './history.ts'

/** Milliseconds between a count and its write. A process that crashes loses the counts of that time. */
const WRITE_AFTER_MS = 100

/** Milliseconds until the next try when the store could not be written. */
const RETRY_MS = 2000

/**
 * Milliseconds for which a write waits for another process that writes. After that it is tried again later. A remote store has
 * longer.
 */
const PATIENCE_MS = 250

/** Most batches that wait for the store. Above it the oldest are lost. */
const MAX_UNWRITTEN = 1000

/** A batch and its number, from 1. */
interface Numbered {
  readonly number: number
  readonly batch: Batch
}

/**
 * Keeps the counts in a store, so that they survive a restart. Several processes may share the store. `onError` is called when
 * the store cannot be written. The counts then wait in memory. A snapshot of a remote store has only the written counts: the next
 * snapshot may come from another process, and no count may decrease.
 */
export function createLocalStorage(
  core: MetricsCore,
  store: Store,
  onError: (error: unknown) => void,
): MetricsStorage {
  let timer: ReturnType<typeof setTimeout> | undefined
  let unwritten: Numbered[] = []
  let taken = 0
  /** The name of this storage if an answer of the store can be lost. A batch that is written again is then added only once. */
  const name = store.isRemote === true ? crypto.randomUUID() : undefined
  // No batch is read while it is being written.
  const inTurn = createMutex()
  const writeIn = (ms: number) => {
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
    }, ms)
  }
  const take = () => {
    const batch = core.take()
    if (batch !== undefined) unwritten.push({ number: ++taken, batch })
  }
  const writeNow = async () => {
    if (timer !== undefined) clearTimeout(timer)
    timer = undefined
    take()
    if (unwritten.length === 0) return
    const batches = [...unwritten]
    try {
      await store.write(
        tx => {
          for (const { number, batch } of batches) {
            if (name === undefined || noteBatch(tx, name, number)) addBatch(tx, batch)
          }
        },
        name === undefined ? PATIENCE_MS : undefined,
      )
      unwritten = unwritten.slice(batches.length)
    } catch (error) {
      unwritten = unwritten.slice(-MAX_UNWRITTEN)
      onError(error)
      writeIn(RETRY_MS)
    }
  }
  const flush = () => inTurn(writeNow)
  /** The pending batches that a snapshot adds to the written counts. */
  const waiting = () => (name === undefined ? unwritten.map(({ batch }) => batch) : [])
  return {
    changed: () => writeIn(WRITE_AFTER_MS),
    flush,
    snapshot: () =>
      inTurn(async () => {
        await writeNow()
        const kept = await store.read(readStats)
        return sumUp([...kept, ...waiting().flatMap(({ stats }) => stats)], [core.gauges()])
      }),
    history: () =>
      inTurn(async () => {
        await writeNow()
        const kept = await store.read(readSteps)
        return [...kept, ...waiting().flatMap(({ history = [] }) => history)]
      }),
  }
}
