import type { StatementSync } from 'node:sqlite'
import type { SqlDriver, SqlRow, SqlValue } from '../../state/sql.ts'
import { sqliteModule } from './module.ts'

/** Opens a database file (`:memory:` for none) as a driver of the SQL store. */
export function openDatabase(path: string): SqlDriver {
  const { DatabaseSync } = sqliteModule()
  const database = new DatabaseSync(path)
  try {
    // Another process may be writing: wait for it instead of failing.
    database.exec('PRAGMA busy_timeout = 5000')
    // A write-ahead log lets readers go on beside the writer; with it, NORMAL loses nothing when the process dies.
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
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
