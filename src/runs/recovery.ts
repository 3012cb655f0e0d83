/**
 * Ends what the dead have left at work.
 *
 * @module
 */

import { LOOK_MS } from '../state/presence.ts'
import type { Reader, Soon, Store, Transaction } from '../state/store.ts'
import type { WorkerName } from './worker-name.ts'

/** The collection of workers that have something at work, where several share a store. */
export const WORKERS = 'worker'

/** What a recovery needs. */
export interface RecoveryOptions {
  readonly worker: WorkerName
  /** Documents of what is at work, each with the name of its worker as its value. */
  readonly collection: string
  /** The worker of a thing, while it is at work: where places are not kept (in objects) it alone says so. */
  readonly workerOf: (tx: Reader, id: string) => string | undefined
  /** Ends one of them, which deletes its document. */
  readonly end: (tx: Transaction, id: string) => void
}

/** Ends what the dead have left at work. */
export interface Recovery {
  /**
   * Looks for the dead, once on a store of one's own and at most every {@link LOOK_MS} milliseconds on a shared one. Whoever
   * awaits it reads nothing of theirs that is not ended. Rejects where the store cannot be read or written; the next one
   * tries again. Whoever is about to read one thing names it.
   */
  look(id?: string): Soon<void>
  /** Writes down that this worker has something at work: in the transaction that does so. */
  enlist(tx: Transaction): void
}

/** Makes a {@link Recovery}. */
export function createRecovery(
  store: Store,
  { worker, collection, workerOf, end }: RecoveryOptions,
): Recovery {
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  const deadIn = (tx: Reader): string[] => {
    const workers = tx.list(WORKERS, { partition: collection, limit: MANY })
    return workers.flatMap(({ id }) => (worker.isThere(id) ? [] : [id]))
  }
  const isLeft = (tx: Reader) => (store.isShared ? deadIn(tx).length > 0 : tx.count(collection) > 0)
  const bury = (tx: Transaction) => {
    // Looked at again: whoever opens the store again under the same name does so before this, or after.
    const dead = store.isShared ? new Set(deadIn(tx)) : undefined
    for (const { id, value } of tx.oldest<string>(collection, MANY)) {
      if (dead === undefined ? !worker.isThere(value) : dead.has(value)) end(tx, id)
    }
    for (const name of dead ?? []) tx.delete(WORKERS, name)
  }
  const lookNow = async () => {
    if (await store.read(isLeft)) await store.write(bury)
    lookedAt = performance.now()
  }

  /** On a shared store all places are kept: whoever has none is not at work. */
  const lookAt = async (id: string) => {
    const isLeft = (tx: Reader) => {
      const name = workerOf(tx, id)
      return name !== undefined && !worker.isThere(name)
    }
    if (!(await store.read(isLeft))) return
    await store.write(tx => {
      if (isLeft(tx)) end(tx, id)
    })
  }

  return {
    look(id) {
      if (id !== undefined && !store.isShared) return lookAt(id)
      const isFresh = store.isShared ? performance.now() - lookedAt < LOOK_MS : lookedAt >= 0
      if (isFresh) return
      looking ??= lookNow().finally(() => {
        looking = undefined
      })
      return looking
    },
    enlist(tx) {
      if (!store.isShared || tx.get(WORKERS, worker.own) !== undefined) return
      tx.put(WORKERS, { id: worker.own, partition: collection, at: Date.now(), tags: {}, value: null })
    },
  }
}

/** More than are ever at work. */
const MANY = 1_000_000
