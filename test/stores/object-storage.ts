/** The storage of a Durable Object, in this process. */
import { openDatabase } from '../../src/runtimes/sqlite.ts'
import { objectStore } from '../../src/stores/objects/store.ts'
import type { ObjectStorage } from '../../src/stores/objects/tables.ts'
import type { NearStore } from '../../src/stores/store.ts'

export interface TestStorage extends ObjectStorage {
  /** The statements since the last call. */
  taken(): string[]
  close(): void
}

/** An empty storage. */
export function objectStorage(): TestStorage {
  const driver = openDatabase(':memory:')
  let statements: string[] = []
  return {
    sql: {
      exec(query, ...values) {
        statements.push(query)
        const rows = driver.all(query, ...values)
        return { toArray: () => rows }
      },
    },
    transactionSync: work => driver.transaction(work),
    getAlarm: async () => null,
    setAlarm: async () => {},
    deleteAlarm: async () => {},
    async deleteAll() {
      for (const { name } of driver.all("SELECT name FROM sqlite_master WHERE type = 'table'"))
        driver.run(`DROP TABLE ${name}`)
    },
    taken() {
      const all = statements
      statements = []
      return all
    },
    close: () => driver.close(),
  }
}

/** A store in an object that is not evicted, or that is evicted before each transaction. */
export function inObject(isEvicted: boolean): NearStore {
  const storage = objectStorage()
  let store = objectStore(storage)
  const transact: NearStore['transact'] = work => {
    if (isEvicted) store = objectStore(storage)
    return store.transact(work)
  }
  return { ...store, read: transact, write: transact, transact, close: () => storage.close() }
}
