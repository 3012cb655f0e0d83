/**
 * Finds the runs and tasks that dead processes left at work: after a crash, a kill or a lost lease. `core/handler.ts` calls it at the
 * start and, on a shared store, every second. `local-work.ts` then ends each of them, or goes on with it (`takeover.ts`).
 *
 * @module
 */

import { LOOK_MS } from '../../stores/presence.ts'
import { mayPass } from '../../stores/remote/retrying.ts'
import type { Reader, Soon, Store, Transaction } from '../../stores/store.ts'
import type { WorkerName } from './worker-name.ts'

/** The collection of workers that have something at work, used if several share a store. */
export const WORKERS = 'worker'

/** The options of a recovery. */
export interface RecoveryOptions {
  readonly worker: WorkerName
  /** The collection of slots. The value of each is the name of its worker. */
  readonly collection: string
  /** The worker of a run or task, while it is at work. In objects, which store no slots, only this tells. */
  readonly workerOf: (tx: Reader, id: string) => string | undefined
  /** Ends one of them, and so deletes its slot. */
  readonly end: (tx: Transaction, id: string) => void
  /** Called with each id once that is written. */
  readonly onEnded?: (id: string) => void
  /** Called with each id that may be written as ended, or as this worker's, because the store did not report the outcome. */
  readonly onUnsure?: (id: string) => void
}

/** Ends the work that dead processes left. */
export interface Recovery {
  /**
   * Looks for dead workers: once on a store of one's own, at most every {@link LOOK_MS} milliseconds on a shared one. After it,
   * reads see their work ended, unless that could not be written soon. Rejects if the store cannot be read. Pass the id before
   * reading a single run or task.
   */
  look(id?: string): Soon<void>
  /**
   * Looks for dead workers, and stops work of this process that others have ended without notice. Never rejects: what fails now
   * is done by the next call.
   */
  lookAfter(atWork: AtWorkHere): Promise<void>
  /** Records that this worker, or the named one, has something at work: in the transaction that writes the work. */
  enlist(tx: Transaction, name?: string): void
}

/** The work of this process. */
export interface AtWorkHere {
  readonly ids: readonly string[]
  logOf(id: string): string
  stop(id: string): void
}

/** Makes a {@link Recovery}. */
export function createRecovery(store: Store, options: RecoveryOptions): Recovery {
  const { worker, collection, end, onEnded, onUnsure } = options
  let nextAt = Number.NEGATIVE_INFINITY
  let hasLooked = false
  /** How many of them one commit ends. When it fails there are fewer: what is too much at once would never end. */
  let most = MOST
  let looking: Promise<void> | undefined

  /** The dead workers among those that have, or had, something at work. The first look reads the slots as well as the list. */
  const deadIn = (tx: Reader): ReadonlySet<string> => {
    const names = new Set<string>()
    if (store.isShared)
      for (const { id } of tx.list(WORKERS, { partition: collection, limit: MANY })) names.add(id)
    if (!hasLooked) for (const { value } of tx.oldest<string>(collection, MANY)) names.add(value)
    for (const name of names) if (worker.isThere(name)) names.delete(name)
    return names
  }
  /** Ends some of the work of dead workers, from a place in its list on. Returns the ids, and whether there is more. */
  const bury = (
    tx: Transaction,
    place: number,
  ): { readonly ids: readonly string[]; readonly hasMore: boolean } => {
    // Check again: a process that opens the store again under the same name does so before this transaction, or after it.
    const dead = deadIn(tx)
    const all = tx.oldest<string>(collection, MANY).filter(({ value }) => dead.has(value))
    const from = Math.floor(place * Math.max(0, all.length - most + 1))
    const some = all.slice(from, from + most)
    for (const { id } of some) end(tx, id)
    const rest = new Set(all.filter(each => !some.includes(each)).map(({ value }) => value))
    if (store.isShared) for (const name of dead) if (!rest.has(name)) tx.delete(WORKERS, name)
    return { ids: some.map(({ id }) => id), hasMore: rest.size > 0 }
  }
  const lookNow = async () => {
    // A store that another process writes for long is read in the meantime, and checked again.
    nextAt = performance.now() + LOOK_MS
    if ((await store.read(deadIn)).size > 0 && !(await areBuried())) return
    hasLooked = true
    if (!store.isShared) nextAt = Number.POSITIVE_INFINITY
  }
  /** Ends some of them in a commit. Returns whether there is more; undefined if that cannot be written now. */
  const burySome = async (): Promise<boolean | undefined> => {
    const tried = new Set<string>()
    // Several processes do this at once: each begins elsewhere.
    const place = Math.random()
    const burying = (tx: Transaction) => {
      const buried = bury(tx, place)
      for (const id of buried.ids) tried.add(id)
      return buried
    }
    try {
      const { ids, hasMore } = await store.write(burying, buryPatienceOf(store))
      for (const id of ids) onEnded?.(id)
      most = Math.min(MOST, most * 2)
      return hasMore
    } catch (error) {
      if (!mayPass(error)) throw error
      for (const id of tried) onUnsure?.(id)
      most = Math.max(1, Math.floor(most / 4))
      return undefined
    }
  }
  const areBuried = async () => {
    let hasMore: boolean | undefined = true
    while (hasMore) hasMore = await burySome()
    return hasMore === false
  }

  const look = (id?: string): Soon<void> => {
    if (id !== undefined && !store.isShared) return lookAt(store, id, options)
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
        // The next call looks again.
      }
    },
    enlist(tx, name = worker.own) {
      if (!store.isShared || tx.get(WORKERS, name) !== undefined) return
      tx.put(WORKERS, { id: name, partition: collection, at: tx.now, tags: {}, value: null })
    },
  }
}

/** Checks one run or task. Needed only on a store of one's own, since a shared store has all slots. */
async function lookAt(
  store: Store,
  id: string,
  { worker, workerOf, end, onEnded }: RecoveryOptions,
): Promise<void> {
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
  if (hasEnded) onEnded?.(id)
}

/** Milliseconds that a look waits for a store that another process writes, and for one that is far away: that takes several messages. */
const WRITE_PATIENCE_MS = 100
const REMOTE_WRITE_PATIENCE_MS = 2000

/** Milliseconds that a look waits for its writes. */
export const buryPatienceOf = ({ isRemote = false }: Pick<Store, 'isRemote'>): number =>
  isRemote ? REMOTE_WRITE_PATIENCE_MS : WRITE_PATIENCE_MS

/** The most runs or tasks that one commit ends. */
const MOST = 32

/** More than are ever at work. */
const MANY = 1_000_000
