import { alone } from '../presence.ts'
import type { NearStore } from '../store.ts'
import { InMemoryCollections } from './in-memory.ts'
import { type ObjectStorage, Tables } from './tables.ts'
import { ObjectTransaction } from './transaction.ts'

/** A store that may have no tables yet. */
export interface ObjectStore extends NearStore {
  /** Whether nothing was ever written. Throws `state_unavailable` if a newer version has written. */
  isEmpty(): boolean
  /** Whether other collections than these have documents. */
  holdsBeside(collections: readonly string[]): boolean
  /** Holds these collections in memory only from now on. */
  holdInMemory(collections: readonly string[]): void
  /** Deletes everything, with the database and the alarm. */
  clear(): Promise<void>
}

/** The store in a Durable Object's own database. Only this object opens it, so an earlier instance is gone. */
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
  const inMemory = new InMemoryCollections()
  let presence = alone()
  const transact: NearStore['transact'] = work =>
    inMemory.transact(() => inObject(kept => work(inMemory.over(kept))))
  return {
    get instance() {
      return presence.instance
    },
    isShared: false,
    isAlive: instance => presence.isAlive(instance),
    // A request for a run that does not exist reaches an object of that name. So reading makes no tables.
    read: work => transact(work),
    write: transact,
    transact,
    close() {},
    isEmpty: () => tables.isEmpty,
    holdsBeside: collections => tx.holdsBeside(collections),
    holdInMemory(collections) {
      for (const each of collections) inMemory.add(each)
    },
    async clear() {
      await storage.deleteAlarm()
      const deleted = storage.deleteAll()
      // The tables are gone before `deleteAll` resolves. Code of this object that runs meanwhile must not look for them.
      tables.forget()
      tx.forget()
      inMemory.clear()
      // Work in progress has nothing left to write into.
      presence = alone()
      await deleted
    },
  }
}
