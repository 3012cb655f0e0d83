import type { StatementSync } from 'node:sqlite'
import { type SqlDriver, type SqlRow, type SqlValue, TransactionLost } from '../sql/sql-driver.ts'
import { sqliteModule } from './module.ts'

/** When a commit reaches the disk: `full`, before it counts, or `normal`, some time after it. */
export type Synchronous = 'full' | 'normal'

/** Opens a database file as a driver of the SQL store. `:memory:` opens a database without a file. */
export function openDatabase(path: string, synchronous: Synchronous = 'normal'): SqlDriver {
  const { DatabaseSync } = sqliteModule()
  const database = new DatabaseSync(path)
  try {
    // Another process may be writing. Waiting here would block this process, so the caller tries again.
    database.exec('PRAGMA busy_timeout = 0')
    // With a write-ahead log, readers continue beside the writer. Neither value loses anything if the process dies.
    database.exec('PRAGMA journal_mode = WAL')
    database.exec(`PRAGMA synchronous = ${synchronous}`)
    // 16 MB. With many runs at once, more frequent checkpoints would cost more than everything else.
    database.exec('PRAGMA wal_autocheckpoint = 4000')
  } catch (error) {
    database.close()
    throw error
  }
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const exec = (sql: string): void => void prepare(sql).run()
  const within =
    (begin: string, end: string, undo: (cause: unknown) => void) =>
    <T>(work: () => T): T => {
      exec(begin)
      try {
        const result = work()
        exec(end)
        return result
      } catch (error) {
        undo(error)
        throw error
      }
    }
  const rollBack = () => {
    try {
      exec('ROLLBACK')
    } catch {
      // A failing disk has already rolled it back.
    }
  }
  const rollBackOne = (cause: unknown) => {
    try {
      exec('ROLLBACK TO one')
      exec('RELEASE one')
    } catch {
      throw new TransactionLost(cause)
    }
  }
  return {
    all: (sql: string, ...values: SqlValue[]): SqlRow[] => prepare(sql).all(...values),
    run: (sql: string, ...values: SqlValue[]): void => void prepare(sql).run(...values),
    snapshot: within('BEGIN', 'COMMIT', rollBack),
    transaction: within('BEGIN IMMEDIATE', 'COMMIT', rollBack),
    savepoint: within('SAVEPOINT one', 'RELEASE one', rollBackOne),
    close() {
      statements.clear()
      database.close()
    },
  }
}
