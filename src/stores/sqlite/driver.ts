import process from 'node:process'
import type * as Sqlite from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { ServableError } from '../../base/errors.ts'
import { type SqlDriver, type SqlRow, type SqlValue, TransactionLost } from '../sql/sql-driver.ts'

/** Opens a database file as a driver of the SQL store. `:memory:` opens a database without a file. */
export function openDatabase(path: string): SqlDriver {
  const { DatabaseSync } = sqliteModule()
  const database = new DatabaseSync(path)
  try {
    // Another process may be writing. Waiting here would block this process, so the caller tries again.
    database.exec('PRAGMA busy_timeout = 0')
    // With a write-ahead log, readers continue beside the writer. Then NORMAL loses nothing if the process dies.
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
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

/**
 * `node:sqlite`, looked up on first use. An import would fail on a runtime without it, before any clear error. Throws
 * `invalid_options`.
 */
export function sqliteModule(): typeof Sqlite {
  const found = process.getBuiltinModule?.('node:sqlite') as typeof Sqlite | undefined
  if (typeof found?.DatabaseSync === 'function') return found
  throw new ServableError(
    'invalid_options',
    `\`sqliteState\` needs \`node:sqlite\`, which ${runtimeName()} does not have: ${adviceFor(process.versions)}`,
  )
}

/** The runtime's name, from its versions. Bun and Deno also report a Node version. */
export function runtimeName({ bun, deno, node }: Versions = process.versions): string {
  if (bun !== undefined) return `Bun ${bun}`
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`
}

interface Versions {
  readonly bun?: string | undefined
  readonly deno?: string | undefined
  readonly node?: string | undefined
}

/** The advice for a runtime without `node:sqlite`. */
export function adviceFor({ bun, deno }: Versions): string {
  if (bun !== undefined) return 'use a newer Bun (1.4.4 has it)'
  if (deno !== undefined) return 'use Deno 2.2 or newer'
  return 'use Node 22.13 or newer, without `--no-experimental-sqlite`'
}
