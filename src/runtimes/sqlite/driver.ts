import type { StatementSync } from 'node:sqlite'
import { type SqlDriver, type SqlRow, type SqlValue, TransactionLost } from '../../state/sql-driver.ts'
import { sqliteModule } from './module.ts'

/** Opens a database file (`:memory:` for none) as a driver of the SQL store. */
export function openDatabase(path: string): SqlDriver {
  const { DatabaseSync } = sqliteModule()
  const database = new DatabaseSync(path)
  try {
    // Another process may be writing. To wait for it here would hold up everything else: whoever asks tries again.
    database.exec('PRAGMA busy_timeout = 0')
    // A write-ahead log lets readers go on beside the writer; with it, NORMAL loses nothing when the process dies.
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
    // 16 MB: where many runs speak at once, moving them into the file more often costs more than all else.
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
      // A failing disk has undone it already.
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
