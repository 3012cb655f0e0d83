/**
 * The store over a SQLite file. The file opens on first use, and reopens on the next use after it was closed. If it is lost to
 * this process, it closes at once, so that other processes can take over the work of this one.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { setImmediate } from 'node:timers'
import { isServableError } from '../../base/errors.ts'
import { alone } from '../presence.ts'
import { createRetrying, isLost } from '../remote/retrying.ts'
import { type SqlStore, sqlStore } from '../sql/sql.ts'
import type { SqlDriver } from '../sql/sql-driver.ts'
import type { Store } from '../store.ts'
import { DEFLATED } from './codec.ts'
import { openDatabase, type Synchronous } from './driver.ts'
import { explain, isBusy } from './explain.ts'
import { type Files, filesOf } from './files.ts'
import { holdLock, type Lock, removeDeadLocks } from './lock.ts'

/** An open file. */
interface Opened {
  readonly store: SqlStore
  /** Undefined for a database in memory. */
  readonly files?: Files
  close(): void
  /** Closes it, and leaves all other files as they are. */
  leave(): void
}

/** The error after a loss, and whether the store can be opened again. */
interface Loss {
  readonly error: unknown
  isOver(): boolean
}

/** Milliseconds after a commit of several works in which further writes are gathered. */
const GATHER_MS = 3

/**
 * Creates the store. Its first use throws `invalid_options` if the file cannot be opened. A relative path is resolved against the
 * current directory of the process.
 */
export function sqliteStore(given: string, synchronous?: Synchronous): Store {
  const isShared = given !== ':memory:'
  const path = isShared ? resolve(given) : given
  // The id stays the same when the file reopens, so its running work stays its own. After a loss it changes.
  let instance: string = crypto.randomUUID()
  let opened: Opened | undefined
  let loss: Loss | undefined
  const wakes: ((why: unknown) => void)[] = []
  let forget = () => {}
  const open = (): Opened => {
    if (opened !== undefined) return opened
    if (loss?.isOver() === false) throw loss.error
    try {
      opened = isShared ? openFile(path, instance, synchronous) : openMemory()
    } catch (error) {
      throw loss && isServableError(error) ? loss.error : error
    }
    loss = undefined
    if (isShared) forget = atExit(close)
    return opened
  }
  const use = <T>(isWrite: boolean, work: (store: SqlStore) => T): T => {
    const { files, store } = open()
    try {
      files?.check(isWrite)
      return work(store)
    } catch (error) {
      if (isLost(error)) lose(error)
      throw error
    }
  }
  const lose = (error: unknown) => {
    forget()
    try {
      opened?.leave()
    } catch {
      // Its lock is released, even if the lock file cannot be removed.
    }
    loss = { error, isOver: opened?.files?.leave() ?? (() => false) }
    opened = undefined
    instance = crypto.randomUUID()
    queueMicrotask(() => {
      for (const wake of wakes) wake(error)
    })
  }
  const { read, write, flush } = createRetrying(
    {
      read: work => use(false, store => store.read(work)),
      commit: works => use(true, store => store.commit(works)),
    },
    { gatherMs: GATHER_MS, atEndOfTurn: setImmediate },
  )
  const close = () => {
    flush()
    forget()
    opened?.close()
    opened = undefined
  }
  return {
    get instance() {
      return instance
    },
    isShared,
    isAlive: other => (isShared ? open().store.isAlive(other) : other === instance),
    read,
    write,
    onLost: wake => void wakes.push(wake),
    close,
  }
}

function openMemory(): Opened {
  const driver = openDatabase(':memory:')
  return { store: sqlStore(driver, alone(), { codec: DEFLATED }), close: driver.close, leave: driver.close }
}

/** Opens a file and checks that it can be written. On failure it closes the file and leaves no files beside it. */
function openFile(path: string, instance: string, synchronous: Synchronous | undefined): Opened {
  let driver: SqlDriver | undefined
  let lock: Lock | undefined
  try {
    driver = openDatabase(path, synchronous)
    lock = holdLock(path, instance)
    const store = sqlStore(driver, lock, { codec: DEFLATED })
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
  const leave = () => {
    driver.close()
    lock.release()
  }
  const close = () => {
    leave()
    tidy(path)
  }
  return { store, files: filesOf(path), close, leave }
}

/**
 * The last process to close the database removes its write-ahead log. If two processes close it at the same instant, each may
 * leave the log to the other.
 */
function tidy(path: string): void {
  if (existsSync(`${path}-wal`) && !removeDeadLocks(path)) openDatabase(path).close()
}

/** The work for the end of the process. All databases share one listener. */
const AT_EXIT = Symbol.for('servable.at-exit')

type Works = Set<() => void>

/**
 * Does `work` when the process ends normally or by `process.exit`. `work` must be synchronous. Returns a function that
 * cancels it.
 */
function atExit(work: () => void): () => void {
  const holder = process as { [AT_EXIT]?: Works }
  const works = holder[AT_EXIT] ?? listen()
  holder[AT_EXIT] = works
  works.add(work)
  return () => void works.delete(work)
}

function listen(): Works {
  const works: Works = new Set()
  process.on('exit', () => {
    for (const work of works) {
      try {
        work()
      } catch {
        // There is nowhere to report the error. The other work still runs.
      }
    }
  })
  return works
}
