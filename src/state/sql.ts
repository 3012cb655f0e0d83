/**
 * The store on SQL, written once for every SQLite that a runtime offers.
 *
 * @module
 */

import { splitChunks } from './chunks.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Outcome, Work } from './patient.ts'
import { alone, type Presence } from './presence.ts'
import { SqlLogs } from './sql-log.ts'
import type { Document, Filter, ListQuery, LogEntry, NearStore, Tags, Transaction } from './store.ts'

/** What binds to a statement. */
export type SqlValue = string | number | null

/** A row, by column. */
export type SqlRow = Readonly<Record<string, unknown>>

/** A SQLite database. Statements repeat word for word, so that a driver can keep them prepared. */
export interface SqlDriver {
  all(sql: string, ...values: SqlValue[]): SqlRow[]
  run(sql: string, ...values: SqlValue[]): void
  /** Runs `work`, which only reads, on the database as it is at one moment. */
  snapshot<T>(work: () => T): T
  /** Runs `work` in a transaction that writes, and undoes it when it throws. */
  transaction<T>(work: () => T): T
  /** The same inside of a transaction, of which it undoes no more. Throws {@link TransactionLost}. */
  savepoint<T>(work: () => T): T
  close(): void
}

/** The database has undone the whole transaction, not a part of it alone. */
export class TransactionLost extends Error {
  constructor(cause: unknown) {
    super('The transaction was undone by the database', { cause })
  }
}

/** A store on a database. */
export interface SqlStore extends NearStore {
  /** Runs works as one commit. What one of them throws undoes that one alone; throws where none of them is written. */
  commit(works: readonly Work[]): readonly Outcome[]
}

/** Makes a store on a database, which is brought to the newest schema when it is first used. */
export function sqlStore(driver: SqlDriver, presence: Presence = alone()): SqlStore {
  const tx = new SqlTransaction(driver)
  let isMigrated = false
  const prepare = () => {
    // A database that is up to date is not written: nobody waits for another one who writes just now.
    if (!isMigrated && driver.snapshot(() => versionOf(driver)) < MIGRATIONS.length) {
      driver.transaction(() => migrate(driver))
    }
    isMigrated = true
  }
  const transact = <T>(work: (tx: Transaction) => T): T => {
    prepare()
    return driver.transaction(() => work(tx))
  }
  const commit = (works: readonly Work[]): readonly Outcome[] => {
    const [only, ...others] = works
    if (only === undefined) return []
    if (others.length === 0) return [{ value: transact(only) }]
    const outcomeOf = (work: Work): Outcome => {
      try {
        return { value: driver.savepoint(() => work(tx)) }
      } catch (error) {
        if (error instanceof TransactionLost) throw error
        return { error }
      }
    }
    prepare()
    return driver.transaction(() => works.map(outcomeOf))
  }
  return {
    get instance() {
      return presence.instance
    },
    isShared: presence.isShared,
    isAlive: other => presence.isAlive(other),
    read(work) {
      prepare()
      return driver.snapshot(() => work(tx))
    },
    write: transact,
    transact,
    commit,
    close: () => driver.close(),
  }
}

const SCHEMA = "SELECT 1 FROM sqlite_master WHERE name = 'servable_schema'"

function versionOf(driver: SqlDriver): number {
  if (driver.all(SCHEMA).length === 0) return 0
  return Number(driver.all('SELECT MAX(version) AS version FROM servable_schema')[0]?.version ?? 0)
}

function migrate(driver: SqlDriver): void {
  driver.run('CREATE TABLE IF NOT EXISTS servable_schema (version INTEGER NOT NULL)')
  const done = versionOf(driver)
  for (const [index, statements] of MIGRATIONS.entries()) {
    if (index < done) continue
    for (const statement of statements) driver.run(statement)
    driver.run('INSERT INTO servable_schema (version) VALUES (?)', index + 1)
  }
}

const COLUMNS = 'id, partition, at, expires, tags, value'

class SqlTransaction implements Transaction {
  readonly #sql: SqlDriver
  readonly #logs: SqlLogs

  constructor(sql: SqlDriver) {
    this.#sql = sql
    this.#logs = new SqlLogs(sql)
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    const [row] = this.#sql.all(
      `SELECT ${COLUMNS} FROM documents WHERE collection = ? AND id = ?`,
      collection,
      id,
    )
    return row && this.#toDocument<T>(collection, row)
  }

  put<T>(collection: string, { id, partition, at, expiresAt, tags, value }: Document<T>): void {
    const [first = '', ...rest] = splitChunks(JSON.stringify(value))
    this.#deleteParts(collection, id)
    this.#sql.run(
      `INSERT OR REPLACE INTO documents (collection, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      collection,
      id,
      partition,
      at,
      expiresAt ?? null,
      JSON.stringify(tags),
      first,
    )
    for (const [index, data] of rest.entries()) {
      this.#sql.run(
        'INSERT INTO document_parts (collection, id, part, data) VALUES (?, ?, ?, ?)',
        collection,
        id,
        index + 1,
        data,
      )
    }
  }

  delete(collection: string, id: string): void {
    this.#deleteParts(collection, id)
    this.#sql.run('DELETE FROM documents WHERE collection = ? AND id = ?', collection, id)
  }

  list<T>(collection: string, { after, limit, ...filter }: ListQuery): Document<T>[] {
    const where = whereOf(collection, filter)
    const rows = this.#sql.all(
      `SELECT ${COLUMNS} FROM documents WHERE ${where.sql}` +
        (after === undefined ? '' : ' AND (at, id) < (?, ?)') +
        ' ORDER BY at DESC, id DESC LIMIT ?',
      ...where.values,
      ...(after === undefined ? [] : [after.at, after.id]),
      limit,
    )
    return rows.map(row => this.#toDocument<T>(collection, row))
  }

  countMatching(collection: string, filter: Filter): number {
    const { sql, values } = whereOf(collection, filter)
    const [row] = this.#sql.all(`SELECT COUNT(*) AS n FROM documents WHERE ${sql}`, ...values)
    return Number(row?.n ?? 0)
  }

  count(collection: string, partition?: string): number {
    const [row] =
      partition === undefined
        ? this.#sql.all('SELECT COUNT(*) AS n FROM documents WHERE collection = ?', collection)
        : this.#sql.all(
            'SELECT COUNT(*) AS n FROM documents WHERE collection = ? AND partition = ?',
            collection,
            partition,
          )
    return Number(row?.n ?? 0)
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    const rows = this.#sql.all(
      `SELECT ${COLUMNS} FROM documents WHERE collection = ? AND expires <= ? ORDER BY expires LIMIT ?`,
      collection,
      now,
      limit,
    )
    return rows.map(row => this.#toDocument<T>(collection, row))
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    const rows = this.#sql.all(
      `SELECT ${COLUMNS} FROM documents WHERE collection = ?` +
        (partition === undefined ? '' : ' AND partition = ?') +
        ' ORDER BY at, id LIMIT ?',
      collection,
      ...(partition === undefined ? [] : [partition]),
      limit,
    )
    return rows.map(row => this.#toDocument<T>(collection, row))
  }

  append(log: string, data: string, seal = false): number | undefined {
    return this.#logs.append(log, data, seal)
  }

  read(log: string, after: number, limit: number): LogEntry[] {
    return this.#logs.read(log, after, limit)
  }

  isSealed(log: string): boolean {
    return this.#logs.isSealed(log)
  }

  deleteLog(log: string): void {
    this.#logs.delete(log)
  }

  #toDocument<T>(collection: string, row: SqlRow): Document<T> {
    const id = String(row.id)
    const parts = this.#sql.all(
      'SELECT data FROM document_parts WHERE collection = ? AND id = ? ORDER BY part',
      collection,
      id,
    )
    const text = [row, ...parts].map(({ value, data }) => value ?? data).join('')
    return {
      id,
      partition: String(row.partition),
      at: Number(row.at),
      tags: JSON.parse(String(row.tags)) as Tags,
      ...(row.expires !== null && { expiresAt: Number(row.expires) }),
      value: JSON.parse(text) as T,
    }
  }

  #deleteParts(collection: string, id: string): void {
    this.#sql.run('DELETE FROM document_parts WHERE collection = ? AND id = ?', collection, id)
  }
}

/** The condition of a filter, always of the same words for the same members. */
function whereOf(
  collection: string,
  { partition, tags = {}, since }: Filter,
): { sql: string; values: SqlValue[] } {
  const filters = Object.entries(tags)
  const sql =
    'collection = ? AND partition = ?' +
    (since === undefined ? '' : ' AND at >= ?') +
    filters.map(() => ' AND json_extract(tags, ?) = ?').join('')
  return {
    sql,
    values: [
      collection,
      partition,
      ...(since === undefined ? [] : [since]),
      ...filters.flatMap(([tag, value]) => [`$."${tag}"`, value]),
    ],
  }
}
