/**
 * The tables of a Durable Object. Each row that is written is billed, and once more for each index of its table. So a table
 * is made with its first row, and an index when a list needs it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { SqlRow, SqlValue } from '../sql/sql-driver.ts'

/** The storage of a Durable Object. It is restated here, so that the declarations need no types package that a user may not have. */
export interface ObjectStorage {
  readonly sql: { exec(query: string, ...values: SqlValue[]): { toArray(): SqlRow[] } }
  transactionSync<T>(work: () => T): T
  getAlarm(): Promise<number | null>
  setAlarm(at: number): Promise<void>
  deleteAlarm(): Promise<void>
  deleteAll(): Promise<void>
}

/**
 * The version of the data in an object. A later version has tables whose names end with it, such as `object_log_v2`, and
 * reads the tables of earlier versions. A stored version number would cost one row more for every run. Version 1 has no
 * ending.
 */
const VERSION = 1

/** The tables, each with the statement that makes it. A released statement never changes: a different form is a new version. */
const TABLES = {
  // A value that is too large for a row continues in rows of its own, with parts from 1.
  object_documents: `CREATE TABLE object_documents (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    part INTEGER NOT NULL,
    partition TEXT,
    at INTEGER,
    expires INTEGER,
    tags TEXT,
    parts INTEGER,
    value TEXT NOT NULL,
    PRIMARY KEY (collection, id, part)
  ) WITHOUT ROWID`,
  // A row holds the entries from \`first\` to \`last\` in order, or a part of one entry.
  object_log: `CREATE TABLE object_log (
    log TEXT NOT NULL,
    last INTEGER NOT NULL,
    part INTEGER NOT NULL,
    first INTEGER NOT NULL,
    sealed INTEGER NOT NULL,
    lengths TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (log, last, part)
  ) WITHOUT ROWID`,
} as const

/** A table's name. */
type TableName = keyof typeof TABLES

/** The tables and indices that exist, and statements on them. */
export class Tables {
  readonly #storage: ObjectStorage
  /** Names of the tables and indices that exist. Undefined if they must be looked up. */
  #names: Set<string> | undefined

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#storage.sql.exec(sql, ...values).toArray()
  }

  /** Whether the table is there. */
  has(name: TableName): boolean {
    return this.#known().has(name)
  }

  /** Whether there are no tables. */
  get isEmpty(): boolean {
    return this.#known().size === 0
  }

  /** Makes a table if it does not exist. Returns whether it made it. */
  make(name: TableName): boolean {
    if (this.has(name)) return false
    this.all(TABLES[name])
    this.#known().add(name)
    return true
  }

  /** Whether lists of a collection have an index. */
  isIndexed(collection: string): boolean {
    return this.#known().has(indexOf(collection))
  }

  /** Gives the lists of a collection an index. */
  index(collection: string): void {
    const name = indexOf(collection)
    this.all(
      `CREATE INDEX ${quoted(name, '"')} ON object_documents (partition, at DESC, id DESC) WHERE ${isOf(collection)}`,
    )
    this.#known().add(name)
  }

  /** Forgets the names, after a transaction was undone or everything was deleted. */
  forget(): void {
    this.#names = undefined
  }

  /** Throws `state_unavailable` if a newer version has written. */
  #known(): Set<string> {
    this.#names ??= this.#look()
    return this.#names
  }

  #look(): Set<string> {
    // The runtime has tables of its own.
    const rows = this.all("SELECT name FROM sqlite_master WHERE name LIKE 'object_%'")
    const names = rows.map(({ name }) => String(name))
    checkVersion(Math.max(VERSION, ...names.map(versionOf)))
    return new Set(names)
  }
}

/** The version of a table, by its name. */
function versionOf(name: string): number {
  return Number(/^object_(?:documents|log)_v(\d+)$/.exec(name)?.[1] ?? VERSION)
}

function checkVersion(version: number): void {
  if (version <= VERSION) return
  throw new ServableError(
    'state_unavailable',
    `The data of this object has storage version ${version}, and this version of servable reads up to ${VERSION}: ` +
      'deploy the newer version again',
  )
}

/** The condition of an index. SQLite uses the index only for a query with the same text. */
export function isOf(collection: string): string {
  // A statement ends at a NUL.
  const name = quoted(collection, "'").replaceAll('\0', "'||char(0)||'")
  return `collection = ${name} AND part = 0`
}

/** The name of a collection's index. */
function indexOf(collection: string): string {
  return `object_documents_of_${JSON.stringify(collection)}`
}

function quoted(text: string, quote: string): string {
  return quote + text.replaceAll(quote, quote + quote) + quote
}
