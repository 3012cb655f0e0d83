/**
 * The store over a SQLite file, which is opened when it is first used, and again when it is used after it was closed.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { type SqlDriver, sqlStore } from '../../state/sql.ts'
import type { Store } from '../../state/store.ts'
import { atExit } from './at-exit.ts'
import { openDatabase } from './driver.ts'
import { explain } from './explain.ts'
import { holdLock, type Lock, removeDeadLocks } from './lock.ts'

/** A file that is open. */
interface Opened {
  readonly store: Store
  close(): void
}

/** Makes the store. Its first use throws `invalid_options` where the file cannot be opened. */
export function sqliteStore(path: string): Store {
  const isShared = path !== ':memory:'
  // The same one however often the file is opened: what it has at work stays its own.
  const instance = crypto.randomUUID()
  let opened: Opened | undefined
  const open = () => {
    opened ??= isShared ? openFile(path, instance) : openMemory()
    return opened.store
  }
  return {
    instance,
    isShared,
    isAlive: other => (isShared ? open().isAlive(other) : other === instance),
    transact: work => open().transact(work),
    close() {
      opened?.close()
      opened = undefined
    },
  }
}

function openMemory(): Opened {
  const driver = openDatabase(':memory:')
  return { store: sqlStore(driver), close: driver.close }
}

/** Opens a file and looks whether it can be written. Nothing stays open, nor beside it, where it cannot. */
function openFile(path: string, instance: string): Opened {
  let driver: SqlDriver | undefined
  let lock: Lock | undefined
  try {
    driver = openDatabase(path)
    lock = holdLock(path, instance)
    const store = sqlStore(driver, lock)
    store.transact(() => {})
    return closing(path, { store, driver, lock })
  } catch (error) {
    driver?.close()
    lock?.release()
    throw explain(path, error)
  }
}

function closing(
  path: string,
  { store, driver, lock }: { readonly store: Store; readonly driver: SqlDriver; readonly lock: Lock },
): Opened {
  const close = () => {
    forget()
    driver.close()
    lock.release()
    tidy(path)
  }
  const forget = atExit(close)
  return { store, close }
}

/**
 * Whoever closes the database last takes its write-ahead log away; of two who do so at the same instant, each may think
 * that it is the other.
 */
function tidy(path: string): void {
  if (existsSync(`${path}-wal`) && !removeDeadLocks(path)) openDatabase(path).close()
}
