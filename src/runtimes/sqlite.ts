/**
 * SQLite through `node:sqlite`, on Node (22.13 or newer), Bun and Deno.
 *
 * @module
 */

import { existsSync, readdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Presence } from '../state/presence.ts'
import { type SqlDriver, type SqlRow, type SqlValue, sqlStore } from '../state/sql.ts'
import type { LocalState, Retention } from '../state/state.ts'

/** Where the database is, and how much it keeps. */
export interface SqliteStateOptions extends Retention {
  /** The database file; it is made if it is not there. Beside it stand `-wal`, `-shm` and a lock file a process. */
  readonly path: string
}

/**
 * Keeps state in a SQLite file, so that it outlives the process. Runs that a dead process left unfinished are failed
 * with `interrupted` at the next start, and keep the events that they had. Several processes of one machine may have
 * the file open. Default: as long as each run's own retention says.
 *
 * @example
 * createHandler({ agents, state: sqliteState({ path: 'servable.db' }) })
 */
export function sqliteState({ path, ...retention }: SqliteStateOptions): LocalState {
  const driver = openDatabase(path)
  const lock = path === ':memory:' ? undefined : holdLock(path)
  const store = sqlStore({ ...driver, close: () => closeAll(driver, lock) }, lock)
  return { kind: 'local', store, retention, isVolatile: false }
}

/** Opens a database file (`:memory:` for none) as a driver of the SQL store. */
export function openDatabase(path: string): SqlDriver {
  const database = new DatabaseSync(path)
  // Another process may be writing: wait for it instead of failing.
  database.exec('PRAGMA busy_timeout = 5000')
  // A write-ahead log lets readers go on beside the writer; with it, NORMAL loses nothing when the process dies.
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = NORMAL')
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  return {
    all: (sql: string, ...values: SqlValue[]): SqlRow[] => prepare(sql).all(...values),
    run: (sql: string, ...values: SqlValue[]): void => void prepare(sql).run(...values),
    transaction(work) {
      prepare('BEGIN IMMEDIATE').run()
      try {
        const result = work()
        prepare('COMMIT').run()
        return result
      } catch (error) {
        prepare('ROLLBACK').run()
        throw error
      }
    },
    close() {
      statements.clear()
      database.close()
    },
  }
}

/** A presence that can be given up. */
interface Lock extends Presence {
  release(): void
}

/**
 * Tells other processes that this one is there: it holds an exclusive lock on a small database file of its own, which
 * the operating system takes back when the process ends, however it ends.
 */
function holdLock(path: string): Lock {
  const instance = crypto.randomUUID()
  const file = lockFile(path, instance)
  removeDeadLocks(path)
  const held = lockForGood(file)
  return {
    instance,
    isShared: true,
    isAlive: other => other === instance || isLocked(lockFile(path, other)),
    release() {
      held.close()
      unlinkSync(file)
    },
  }
}

function lockFile(path: string, instance: string): string {
  return `${path}-${instance}.lock`
}

/** The open database with its lock, or undefined where another process has it. */
function lockExclusively(file: string): DatabaseSync | undefined {
  const database = new DatabaseSync(file)
  try {
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch {
    database.close()
    return undefined
  }
}

/** Another process that looks for dead locks may have taken this one away before it was held: then again. */
function lockForGood(file: string): DatabaseSync {
  for (let tries = 0; tries < 100; tries++) {
    const held = lockExclusively(file)
    if (held !== undefined && existsSync(file)) return held
    held?.close()
  }
  throw new Error(`The lock file ${file} cannot be held`)
}

function isLocked(file: string): boolean {
  if (!existsSync(file)) return false
  const free = lockExclusively(file)
  free?.close()
  return free === undefined
}

function removeDeadLocks(path: string): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!name.startsWith(`${basename(path)}-`) || !name.endsWith('.lock')) continue
    const dead = lockExclusively(file)
    if (dead === undefined) continue
    // While it is held nobody else can come to hold it.
    unlinkSync(file)
    dead.close()
  }
}

function closeAll(driver: SqlDriver, lock: Lock | undefined): void {
  driver.close()
  lock?.release()
}
