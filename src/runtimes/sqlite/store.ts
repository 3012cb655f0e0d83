/**
 * The store over a SQLite file. The file opens on first use, and reopens on the next use after it was closed.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { createPatient } from '../../state/patient.ts'
import { type SqlStore, sqlStore } from '../../state/sql.ts'
import type { SqlDriver } from '../../state/sql-driver.ts'
import type { Store } from '../../state/store.ts'
import { atExit } from './at-exit.ts'
import { openDatabase } from './driver.ts'
import { explain, isBusy } from './explain.ts'
import { holdLock, type Lock, removeDeadLocks } from './lock.ts'

/** An open file. */
interface Opened {
  readonly store: SqlStore
  close(): void
}

/** Milliseconds after a commit in which further writes are gathered. */
const GATHER_MS = 3

/** Makes the store. Its first use throws `invalid_options` if the file cannot be opened. */
export function sqliteStore(path: string): Store {
  const isShared = path !== ':memory:'
  // The id stays the same when the file reopens, so its running work stays its own.
  const instance = crypto.randomUUID()
  let opened: Opened | undefined
  let forget = () => {}
  const open = () => {
    if (opened === undefined) {
      opened = isShared ? openFile(path, instance) : openMemory()
      if (isShared) forget = atExit(close)
    }
    return opened.store
  }
  const { read, write, flush } = createPatient(
    { read: work => open().read(work), commit: works => open().commit(works) },
    { gatherMs: GATHER_MS },
  )
  const close = () => {
    flush()
    forget()
    opened?.close()
    opened = undefined
  }
  return {
    instance,
    isShared,
    isAlive: other => (isShared ? open().isAlive(other) : other === instance),
    read,
    write,
    close,
  }
}

function openMemory(): Opened {
  const driver = openDatabase(':memory:')
  return { store: sqlStore(driver), close: driver.close }
}

/** Opens a file and checks that it can be written. On failure it closes the file and leaves no files beside it. */
function openFile(path: string, instance: string): Opened {
  let driver: SqlDriver | undefined
  let lock: Lock | undefined
  try {
    driver = openDatabase(path)
    lock = holdLock(path, instance)
    const store = sqlStore(driver, lock)
    checkWritable(store)
    return closing(path, { store, driver, lock })
  } catch (error) {
    driver?.close()
    lock?.release()
    throw explain(path, error)
  }
}

/** Throws if the file cannot be written. A file that another process is writing passes. */
function checkWritable(store: SqlStore): void {
  try {
    store.transact(() => {})
  } catch (error) {
    if (!isBusy(error)) throw error
    store.read(() => {})
  }
}

function closing(
  path: string,
  { store, driver, lock }: { readonly store: SqlStore; readonly driver: SqlDriver; readonly lock: Lock },
): Opened {
  const close = () => {
    driver.close()
    lock.release()
    tidy(path)
  }
  return { store, close }
}

/**
 * The last process to close the database removes its write-ahead log. If two processes close it at the same instant, each may
 * leave the log to the other.
 */
function tidy(path: string): void {
  if (existsSync(`${path}-wal`) && !removeDeadLocks(path)) openDatabase(path).close()
}
