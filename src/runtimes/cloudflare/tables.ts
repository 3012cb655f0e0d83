/**
 * The tables of a Durable Object. Each row that is written is paid for, and each index of its table once more, so there are
 * no tables before something stands in them, and no indices before a list needs them.
 *
 * @module
 */

import { ServableError } from '../../errors.ts'
import type { SqlRow, SqlValue } from '../../state/sql-driver.ts'
import type { ObjectStorage } from './platform.ts'

/**
 * The version of what stands in an object. A later one has tables whose names end with it, such as `object_log_v2`, and reads
 * those of earlier ones: a number of its own would be one row more of every run. Version 1 has no ending.
 */
const VERSION = 1

/** Each with what makes it. What has been released is never changed: another form is another version. */
const TABLES = {
  // A value that is too large for a row goes on in rows of its own, with parts from 1.
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
  // A row holds entries from \`first\` to \`last\`, one after the other, or a part of one.
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
export type TableName = keyof typeof TABLES

/** The tables and indices that are there, and statements on them. */
export class Tables {
  readonly #storage: ObjectStorage
  /** Names of what is there; undefined where that is to be looked up. */
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

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#known().size === 0
  }

  /** Makes a table where it is not there. */
  make(name: TableName): void {
    if (this.has(name)) return
    this.all(TABLES[name])
    this.#known().add(name)
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

  /** What is there may be another thing than before: a transaction was undone, or everything deleted. */
  forget(): void {
    this.#names = undefined
  }

  /** Throws `state_unavailable` where a newer version has written. */
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

/** The condition of an index, word for word: a query that says the same uses it. */
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
