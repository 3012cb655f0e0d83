/**
 * Ends the runs and tasks that dead processes left at work.
 *
 * @module
 */

import { LOOK_MS } from '../../stores/presence.ts'
import { mayPass } from '../../stores/remote/patient.ts'
import type { Reader, Soon, Store, Transaction } from '../../stores/store.ts'
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
  /** Told of each once that is written. */
  readonly onEnded?: (id: string) => void
}

/** Ends what the dead have left at work. */
export interface Recovery {
  /**
   * Looks for the dead, once on a store of one's own and at most every {@link LOOK_MS} milliseconds on a shared one. Whoever
   * awaits it reads nothing of theirs that is not ended, but where that could not be written soon. Rejects where the store
   * cannot be read. Whoever is about to read one thing names it.
   */
  look(id?: string): Soon<void>
  /**
   * Looks for the dead, and stops what is at work here, and says nothing, though others have ended it. What could not be
   * looked at is looked at by whoever asks next: never rejects.
   */
  lookAfter(atWork: AtWorkHere): Promise<void>
  /** Writes down that this worker has something at work, or the one of that name: in the transaction that does so. */
  enlist(tx: Transaction, name?: string): void
}

/** What is at work in this process. */
export interface AtWorkHere {
  readonly ids: readonly string[]
  logOf(id: string): string
  stop(id: string): void
}

/** Makes a {@link Recovery}. */
export function createRecovery(
  store: Store,
  { worker, collection, workerOf, end, onEnded = () => {} }: RecoveryOptions,
): Recovery {
  let nextAt = Number.NEGATIVE_INFINITY
  let hasLooked = false
  let looking: Promise<void> | undefined

  /** Who is gone of those who have, or had, something at work. The first look trusts no list of them. */
  const deadIn = (tx: Reader): ReadonlySet<string> => {
    const names = new Set<string>()
    if (store.isShared)
      for (const { id } of tx.list(WORKERS, { partition: collection, limit: MANY })) names.add(id)
    if (!hasLooked) for (const { value } of tx.oldest<string>(collection, MANY)) names.add(value)
    for (const name of names) if (worker.isThere(name)) names.delete(name)
    return names
  }
  /** Gives those that it ended. */
  const bury = (tx: Transaction): readonly string[] => {
    // Looked at again: whoever opens the store again under the same name does so before this, or after.
    const dead = deadIn(tx)
    const left = tx.oldest<string>(collection, MANY).filter(({ value }) => dead.has(value))
    for (const { id } of left) end(tx, id)
    if (store.isShared) for (const name of dead) tx.delete(WORKERS, name)
    return left.map(({ id }) => id)
  }
  const lookNow = async () => {
    // A store that another one writes for long is read meanwhile, and looked at again.
    nextAt = performance.now() + LOOK_MS
    if ((await store.read(deadIn)).size > 0 && !(await areBuried())) return
    hasLooked = true
    if (!store.isShared) nextAt = Number.POSITIVE_INFINITY
  }
  const areBuried = async () => {
    try {
      for (const id of await store.write(bury, WRITE_PATIENCE_MS)) onEnded(id)
      return true
    } catch (error) {
      if (!mayPass(error)) throw error
      return false
    }
  }

  /** On a shared store all places are kept: whoever has none is not at work. */
  const lookAt = async (id: string) => {
    const isLeft = (tx: Reader) => {
      const name = workerOf(tx, id)
      return name !== undefined && !worker.isThere(name)
    }
    if (!(await store.read(isLeft))) return
    const hasEnded = await store.write(tx => {
      if (!isLeft(tx)) return false
      end(tx, id)
      return true
    })
    if (hasEnded) onEnded(id)
  }

  const look = (id?: string): Soon<void> => {
    if (id !== undefined && !store.isShared) return lookAt(id)
    if (looking === undefined && performance.now() < nextAt) return
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return looking
  }

  return {
    look,
    async lookAfter({ ids, logOf, stop }) {
      try {
        await look()
        for (const id of await store.read(tx => ids.filter(id => tx.isSealed(logOf(id))))) stop(id)
      } catch {
        // Whoever asks next looks again.
      }
    },
    enlist(tx, name = worker.own) {
      if (!store.isShared || tx.get(WORKERS, name) !== undefined) return
      tx.put(WORKERS, { id: name, partition: collection, at: tx.now, tags: {}, value: null })
    },
  }
}

/** Milliseconds for which whoever looks waits for a store that another one writes. */
const WRITE_PATIENCE_MS = 100

/** More than are ever at work. */
const MANY = 1_000_000
