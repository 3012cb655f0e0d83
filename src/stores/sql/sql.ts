/**
 * The store on SQL. It works with the SQLite of every runtime.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { alone, type Presence } from '../presence.ts'
import { lost, type Work, type WorkOutcome } from '../remote/retrying.ts'
import type {
  Counted,
  Document,
  Filter,
  Found,
  ListQuery,
  NearStore,
  Position,
  SearchQuery,
  Transaction,
} from '../store.ts'
import { INDEXED_TAGS, MIGRATIONS, TAG_INDICES } from './migrations.ts'
import { documentOf, positionOf, splitChunks } from './rows.ts'
import { type SqlDriver, type SqlRow, TransactionLost } from './sql-driver.ts'
import { LogTransaction, SqlLogs } from './sql-log.ts'
import { among, type Newest, newest, numbered, withTexts } from './sql-search.ts'
import { SqlTexts, TEXT_TABLES, type TextCodec, UNPACKED } from './texts.ts'

/** A store on a database. */
export interface SqlStore extends NearStore {
  /** Runs works as one commit. If a work throws, only its own writes are undone. Throws if nothing was written. */
  commit(works: readonly Work[]): readonly WorkOutcome[]
}

/** Options of the SQL store. */
export interface SqlStoreOptions {
  /** Keeps an index for each tag of {@link INDEXED_TAGS}, which is a few more rows for each document. Default: true. */
  readonly indexesTags?: boolean
  /** Makes texts shorter. A database always has the same one. Default: texts as they are. */
  readonly codec?: TextCodec
}

/**
 * Makes a store on a database. The first use brings the database to the newest schema. Throws `invalid_options` if a newer
 * version wrote the database. If one does so later, each use throws an error that is `lost`.
 */
export function sqlStore(
  driver: SqlDriver,
  presence: Presence = alone(),
  { indexesTags = true, codec = UNPACKED }: SqlStoreOptions = {},
): SqlStore {
  const tx = new SqlTransaction(driver, new Set(indexesTags ? INDEXED_TAGS : []), codec)
  let isMigrated = false
  const prepare = () => {
    if (isMigrated) return
    const version = driver.snapshot(() => versionOf(driver))
    if (version > MIGRATIONS.length) throw newer(version)
    // A database that is up to date is not written, so nothing waits for another process that is writing.
    if (version < MIGRATIONS.length || !driver.snapshot(() => hasTexts(driver)))
      driver.transaction(() => migrate(driver, indexesTags))
    isMigrated = true
  }
  /** A newer process may have brought the database to its own schema since. */
  const checked = <T>(work: () => T): T => {
    const version = versionIn(driver)
    if (version > MIGRATIONS.length) throw lost(NEWER, newer(version))
    return work()
  }
  const transact = <T>(work: (tx: Transaction) => T): T => {
    prepare()
    return driver.transaction(() => checked(() => work(tx)))
  }
  const commit = (works: readonly Work[]): readonly WorkOutcome[] => {
    const [only, ...others] = works
    if (only === undefined) return []
    if (others.length === 0) return [{ value: transact(only) }]
    const outcomeOf = (work: Work): WorkOutcome => {
      try {
        return { value: driver.savepoint(() => work(tx)) }
      } catch (error) {
        if (error instanceof TransactionLost) throw error
        return { error }
      }
    }
    prepare()
    return driver.transaction(() => checked(() => works.map(outcomeOf)))
  }
  return {
    get instance() {
      return presence.instance
    },
    isShared: presence.isShared,
    isAlive: other => presence.isAlive(other),
    read(work) {
      prepare()
      return driver.snapshot(() => checked(() => work(tx)))
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
  return versionIn(driver)
}

/** The version of a database that has one. */
function versionIn(driver: SqlDriver): number {
  return Number(driver.all('SELECT MAX(version) AS version FROM servable_schema')[0]?.version ?? 0)
}

/** The error message for clients of an older process. */
const NEWER = 'A newer version of servable has written the state: start the newer version here, too'

/** Refuses a database of a newer version. Its changes are unknown, so a write could damage it. */
function newer(version: number): ServableError {
  return new ServableError(
    'invalid_options',
    `a newer version of servable has written it (its schema is ${version}, and this version knows ${MIGRATIONS.length}). ` +
      'Start the newer version again, or give `path` a new name',
  )
}

function migrate(driver: SqlDriver, indexesTags: boolean): void {
  driver.run('CREATE TABLE IF NOT EXISTS servable_schema (version INTEGER NOT NULL)')
  const done = versionOf(driver)
  for (const [index, statements] of MIGRATIONS.entries()) {
    if (index < done) continue
    if (statements !== TAG_INDICES || indexesTags) for (const statement of statements) driver.run(statement)
    driver.run('INSERT INTO servable_schema (version) VALUES (?)', index + 1)
  }
  if (!hasTexts(driver)) for (const statement of TEXT_TABLES) driver.run(statement)
}

function hasTexts(driver: SqlDriver): boolean {
  return driver.all("SELECT 1 FROM sqlite_master WHERE name = 'text_bits'").length > 0
}

const COLUMNS = 'id, partition, at, expires, tags, value'

/** A filter with a text. */
interface OfText {
  readonly text: string
}

class SqlTransaction extends LogTransaction<SqlLogs> implements Transaction {
  readonly #sql: SqlDriver
  readonly #indexed: ReadonlySet<string>
  readonly #texts: SqlTexts

  constructor(sql: SqlDriver, indexed: ReadonlySet<string>, codec: TextCodec) {
    super(new SqlLogs(sql))
    this.#sql = sql
    this.#indexed = indexed
    this.#texts = new SqlTexts(sql, codec)
  }

  get now(): number {
    return Date.now()
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    const [row] = this.#sql.all(
      `SELECT ${COLUMNS} FROM documents WHERE collection = ? AND id = ?`,
      collection,
      id,
    )
    return row && this.#toDocument<T>(collection, row)
  }

  put<T>(collection: string, { id, partition, at, expiresAt, tags, value, text }: Document<T>): void {
    const [first = '', ...rest] = splitChunks(JSON.stringify(value))
    this.#deleteParts(collection, id)
    const row = { expires: expiresAt ?? null, tags: JSON.stringify(tags), first }
    if (!this.#update(collection, id, { partition, at, ...row })) {
      this.#sql.run(
        `INSERT OR REPLACE INTO documents (collection, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        collection,
        id,
        partition,
        at,
        row.expires,
        row.tags,
        first,
      )
    }
    for (const [index, data] of rest.entries()) {
      this.#sql.run(
        'INSERT INTO document_parts (collection, id, part, data) VALUES (?, ?, ?, ?)',
        collection,
        id,
        index + 1,
        data,
      )
    }
    this.#texts.put(collection, id, text)
  }

  /** Overwrites a document in place, which leaves most indices unchanged. False if there is no such document. */
  #update(
    collection: string,
    id: string,
    row: Readonly<Record<'partition' | 'tags' | 'first', string>> & { at: number; expires: number | null },
  ): boolean {
    const [before] = this.#sql.all(
      'SELECT partition, at, tags FROM documents WHERE collection = ? AND id = ?',
      collection,
      id,
    )
    if (before?.partition !== row.partition || before.at !== row.at) return false
    const values = [row.expires, row.first, collection, id]
    if (before.tags === row.tags) {
      this.#sql.run('UPDATE documents SET expires = ?, value = ? WHERE collection = ? AND id = ?', ...values)
    } else {
      this.#sql.run(
        'UPDATE documents SET tags = ?, expires = ?, value = ? WHERE collection = ? AND id = ?',
        row.tags,
        ...values,
      )
    }
    return true
  }

  delete(collection: string, id: string): void {
    this.#deleteParts(collection, id)
    this.#sql.run('DELETE FROM documents WHERE collection = ? AND id = ?', collection, id)
  }

  list<T>(collection: string, { partition, after, limit }: ListQuery): Document<T>[] {
    const { sql, values } = newest(COLUMNS, { collection, partition, after, limit })
    return this.#sql.all(sql, ...values).map(row => this.#toDocument<T>(collection, row))
  }

  search<T>(collection: string, { limit, ...query }: SearchQuery): Found<T> {
    const { looks, text } = query
    if (text) return this.#searchText(collection, { limit, ...query, text })
    const { looked, rest } = this.#choose(collection, query)
    // Without further conditions, every document that is looked at is a match.
    const { sql, values } =
      rest === undefined
        ? newest(COLUMNS, { ...looked, limit: Math.min(looks, limit + 1) })
        : among(newest(COLUMNS, { ...looked, limit: looks }), rest, limit + 1)
    const rows = this.#sql.all(sql, ...values)
    const documents = rows.slice(0, limit).map(row => this.#toDocument<T>(collection, row))
    if (rows.length > limit) return { documents, next: positionOf(rows[limit - 1]) }
    const { sql: end, values: of } = newest('at, id', { ...looked, limit: 1, offset: looks - 1 })
    const [last] = rest === undefined && rows.length < looks ? [] : this.#sql.all(end, ...of)
    return { documents, next: positionOf(last) }
  }

  /** Searches documents by their texts, which it compares here. */
  #searchText<T>(collection: string, { limit, ...filter }: SearchQuery & OfText): Found<T> {
    const contains = this.#texts.matcher(filter.text)
    const { rows, end } = this.#withTexts(collection, filter)
    const found: SqlRow[] = []
    for (const row of rows) {
      if (found.length > limit) break
      if (contains(row)) found.push(row)
    }
    const documents = found.slice(0, limit).flatMap(({ id }) => this.get<T>(collection, String(id)) ?? [])
    return { documents, next: found.length > limit ? positionOf(found[limit - 1]) : end()?.last }
  }

  /**
   * The documents that a search of texts looks at, with their texts, and what comes after them: the last one, and whether there are more.
   */
  #withTexts(
    collection: string,
    filter: Filter & OfText,
  ): {
    readonly rows: readonly SqlRow[]
    readonly end: () => { readonly last: Position | undefined; readonly isCut: boolean } | undefined
  } {
    const { text, looks } = filter
    const numbers = this.#texts.candidates(text)
    if (numbers !== undefined) {
      const { sql, values } = numbered(numbers, collection, { ...filter, looks: looks + 1 })
      const rows = this.#sql.all(sql, ...values)
      const end = rows.length > looks ? { last: positionOf(rows[looks - 1]), isCut: true } : undefined
      return { rows: rows.slice(0, looks), end: () => end }
    }
    const { looked, rest } = this.#choose(collection, filter)
    const { sql, values } = withTexts(newest('at, id, tags', { ...looked, limit: looks }), collection, rest)
    const end = () => {
      const { sql, values } = newest('at, id', { ...looked, limit: 2, offset: looks - 1 })
      const [last, more] = this.#sql.all(sql, ...values)
      return last && { last: positionOf(last), isCut: more !== undefined }
    }
    return { rows: this.#sql.all(sql, ...values), end }
  }

  countMatching(collection: string, filter: Filter): Counted {
    const { looks, text } = filter
    if (text) {
      const { rows, end } = this.#withTexts(collection, { ...filter, text })
      return { count: rows.filter(this.#texts.matcher(text)).length, isCut: end()?.isCut === true }
    }
    const { looked, rest } = this.#choose(collection, filter)
    const all = newest(rest === undefined ? 'at, id' : 'at, id, tags', { ...looked, limit: looks })
    const { sql, values } = rest === undefined ? all : among(all, rest)
    const count = Number(this.#sql.all(`SELECT COUNT(*) AS n FROM (${sql})`, ...values)[0]?.n ?? 0)
    if (rest === undefined && count < looks) return { count, isCut: false }
    const { sql: more, values: of } = newest('1', { ...looked, limit: 1, offset: looks })
    return { count, isCut: this.#sql.all(more, ...of).length > 0 }
  }

  /** Chooses the documents to look at, and the conditions that remain. A single tag with an index finds its documents at once. */
  #choose(
    collection: string,
    { tags = {}, partition, ...filter }: Filter & Pick<SearchQuery, 'after'>,
  ): { readonly looked: Newest; readonly rest: Filter['tags'] } {
    const all: Newest = { collection, partition, ...filter, limit: filter.looks }
    const names = Object.keys(tags)
    const ways = names
      .filter(tag => partition !== undefined && this.#indexed.has(tag))
      .map(tag => ({ ...all, tag: { name: tag, value: tags[tag]! } }))
    const looked = ways.length > 1 ? this.#smallest(ways) : (ways[0] ?? all)
    const { [looked.tag?.name ?? '']: _, ...rest } = tags
    return { looked, rest: Object.keys(rest).length === 0 ? undefined : rest }
  }

  /** The way with the fewest documents. It counts no more documents than may be looked at. */
  #smallest(ways: readonly Newest[]): Newest {
    let [smallest, fewest] = [ways[0]!, Number.POSITIVE_INFINITY]
    for (const way of ways) {
      const { sql, values } = newest('1', way)
      const count = Number(this.#sql.all(`SELECT COUNT(*) AS n FROM (${sql})`, ...values)[0]?.n ?? 0)
      if (count < fewest) [smallest, fewest] = [way, count]
    }
    return smallest
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    const rows = this.#sql.all(
      `SELECT ${COLUMNS} FROM documents WHERE collection = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?`,
      collection,
      prefix,
      `${prefix}\u{10ffff}`,
      limit,
    )
    return rows.map(row => this.#toDocument<T>(collection, row))
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

  #toDocument<T>(collection: string, row: SqlRow): Document<T> {
    const id = String(row.id)
    const parts = this.#sql.all(
      'SELECT data FROM document_parts WHERE collection = ? AND id = ? ORDER BY part',
      collection,
      id,
    )
    const text = [row, ...parts].map(({ value, data }) => value ?? data).join('')
    return documentOf(row, text)
  }

  #deleteParts(collection: string, id: string): void {
    this.#sql.run('DELETE FROM document_parts WHERE collection = ? AND id = ?', collection, id)
  }
}
