import { alone } from '../../state/presence.ts'
import { type SqlDriver, sqlStore } from '../../state/sql.ts'
import type { NearStore } from '../../state/store.ts'
import type { ObjectStorage } from './platform.ts'

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

const TABLES = "SELECT 1 FROM sqlite_master WHERE name = 'servable_schema'"

/** The store in a Durable Object's own database. Only the object has it open, so whoever had it before is gone. */
export function objectStore(storage: ObjectStorage): ObjectStore {
  const driver: SqlDriver = {
    all: (sql, ...values) => storage.sql.exec(sql, ...values).toArray(),
    run: (sql, ...values) => void storage.sql.exec(sql, ...values),
    // Nobody else is at it, and nothing is awaited.
    snapshot: work => work(),
    transaction: work => storage.transactionSync(work),
    savepoint: work => storage.transactionSync(work),
    close() {},
  }
  const isEmpty = () => driver.all(TABLES).length === 0
  // Every row is billed, those of an index too.
  const open = () => sqlStore(driver, alone(), { indexesTags: false })
  let store = open()
  return {
    get instance() {
      return store.instance
    },
    isShared: false,
    isAlive: instance => store.isAlive(instance),
    read: work => store.read(work),
    write: work => store.transact(work),
    transact: work => store.transact(work),
    close() {},
    isEmpty,
    async clear() {
      await storage.deleteAlarm()
      await storage.deleteAll()
      // What is written next begins with a schema again.
      store = open()
    },
  }
}
