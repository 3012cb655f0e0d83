import { memoryStore } from '../../state/memory.ts'
import { alone } from '../../state/presence.ts'
import type { NearStore } from '../../state/store.ts'
import { ObjectTransaction } from './object-transaction.ts'
import { PassingTransaction } from './passing.ts'
import type { ObjectStorage } from './platform.ts'
import { Tables } from './tables.ts'

/** A store that may not be there yet. */
export interface ObjectStore extends NearStore {
  /**
   * Whether nothing was ever written. Who asks for a run that does not exist reaches an object of that name: answering
   * must not leave a database behind.
   */
  isEmpty(): boolean
  /** Deletes everything, the database and the alarm too. */
  clear(): Promise<void>
}

/** How an object's store is made. */
export interface ObjectStoreOptions {
  /** Collections that are kept in memory only. */
  readonly passing?: readonly string[]
}

/** The store in a Durable Object's own database. Only the object has it open, so whoever had it before is gone. */
export function objectStore(storage: ObjectStorage, { passing = [] }: ObjectStoreOptions = {}): ObjectStore {
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
  let presence = alone()
  let memory = memoryStore()
  const passed: NearStore['transact'] = work =>
    memory.transact(tx => inObject(kept => work(new PassingTransaction(kept, tx, passing))))
  const transact = passing.length === 0 ? inObject : passed
  return {
    get instance() {
      return presence.instance
    },
    isShared: false,
    isAlive: instance => presence.isAlive(instance),
    // Its first use may make tables; nothing else is written.
    read: work => transact(work),
    write: transact,
    transact,
    close() {},
    isEmpty: () => tables.isEmpty,
    async clear() {
      await storage.deleteAlarm()
      const deleted = storage.deleteAll()
      // The tables are gone before that is told: what goes on in this object meanwhile must not look for them.
      tables.forget()
      tx.forget()
      memory = memoryStore()
      // What was at work has nothing left to write into.
      presence = alone()
      await deleted
    },
  }
}
