import { alone } from '../../state/presence.ts'
import type { NearStore } from '../../state/store.ts'
import { ObjectTransaction } from './object-transaction.ts'
import { Passing } from './passing.ts'
import type { ObjectStorage } from './platform.ts'
import { Tables } from './tables.ts'

/** A store that may not be there yet. */
export interface ObjectStore extends NearStore {
  /**
   * Whether nothing was ever written. Throws `state_unavailable` where a newer version has written.
   */
  isEmpty(): boolean
  /** Whether there is anything in other collections than these. */
  holdsBeside(collections: readonly string[]): boolean
  /** These collections are kept in memory from now on. */
  pass(collections: readonly string[]): void
  /** Deletes everything, the database and the alarm too. */
  clear(): Promise<void>
}

/** The store in a Durable Object's own database. Only the object has it open, so whoever had it before is gone. */
export function objectStore(storage: ObjectStorage): ObjectStore {
  const tables = new Tables(storage)
  const tx = new ObjectTransaction(tables)
  const inObject: NearStore['transact'] = work => {
    try {
      return storage.transactionSync(() => {
        const done = work(tx)
        tx.flush()
        return done
      })
    } catch (error) {
      tables.forget()
      tx.forget()
      throw error
    }
  }
  const passing = new Passing()
  let presence = alone()
  const transact: NearStore['transact'] = work =>
    passing.transact(() => inObject(kept => work(passing.over(kept))))
  return {
    get instance() {
      return presence.instance
    },
    isShared: false,
    isAlive: instance => presence.isAlive(instance),
    // Whoever asks for a run that does not exist reaches an object of that name: to read makes no tables.
    read: work => transact(work),
    write: transact,
    transact,
    close() {},
    isEmpty: () => tables.isEmpty,
    holdsBeside: collections => tx.holdsBeside(collections),
    pass(collections) {
      for (const each of collections) passing.add(each)
    },
    async clear() {
      await storage.deleteAlarm()
      const deleted = storage.deleteAll()
      // The tables are gone before that is told: what goes on in this object meanwhile must not look for them.
      tables.forget()
      tx.forget()
      passing.clear()
      // What was at work has nothing left to write into.
      presence = alone()
      await deleted
    },
  }
}
