import { createMutex } from '../../core/mutex.ts'
import type { Store } from '../../stores/store.ts'
import { noteBatch } from './batch-places.ts'
import { addBatch, type Batch, readStats, sumUp } from './batches.ts'
import type { MetricsCore, MetricsStorage } from './core.ts'
import { readSteps } from './history.ts'

/** Milliseconds between a count and its write. A process that is killed loses the counts of that time. */
const WRITE_AFTER_MS = 100

/** Milliseconds until the next try when the store could not be written. */
const RETRY_MS = 2000

/** Milliseconds for which a write waits for another process that writes. After that it is tried again later. A far store takes its time. */
const PATIENCE_MS = 250

/** Most batches that wait for the store. Past it the oldest are lost. */
const MAX_UNWRITTEN = 1000

/** A batch and its number, from 1. */
interface Numbered {
  readonly place: number
  readonly batch: Batch
}

/**
 * Keeps the counts in a store, so that they survive a restart. Several processes may share the store. `onError` is called
 * when the store cannot be written. The counts then wait in memory. A snapshot of a far store has only what is written: the next one
 * may be of another process, and no count may be less there.
 */
export function createLocalStorage(
  core: MetricsCore,
  store: Store,
  onError: (error: unknown) => void,
): MetricsStorage {
  let timer: ReturnType<typeof setTimeout> | undefined
  let unwritten: Numbered[] = []
  let taken = 0
  /** Names this keeper where an answer of the store can be lost: a batch that is written again is not added again. */
  const name = store.isFar === true ? crypto.randomUUID() : undefined
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
    if (batch !== undefined) unwritten.push({ place: ++taken, batch })
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
          for (const { place, batch } of batches) {
            if (name === undefined || noteBatch(tx, name, place)) addBatch(tx, batch)
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
  /** What a snapshot adds to what is written. */
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
