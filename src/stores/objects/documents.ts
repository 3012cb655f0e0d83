/**
 * The documents of a Durable Object. Writing a document writes one row, unless its text is too long for a row. It writes one
 * row more if its collection is so large that its lists need an index. A document by its id costs no read if its row is known.
 *
 * @module
 */

import { folded, foldedText } from '../searched.ts'
import { documentOf, positionOf, splitChunks } from '../sql/rows.ts'
import type { SqlRow, SqlValue } from '../sql/sql-driver.ts'
import { having } from '../sql/sql-search.ts'
import type { Counted, Document, Filter, Found, ListQuery, SearchQuery, Tags } from '../store.ts'
import { KnownRows } from './known.ts'
import { isOf, type Tables } from './tables.ts'

/**
 * Collections with more documents than this get an index for their lists. Reading this many costs as much as writing a
 * quarter of a row.
 */
const MAX_UNINDEXED = 256

const COLUMNS = 'id, partition, at, expires, tags, parts, value'

/** The documents, within a transaction. */
export class ObjectDocuments {
  readonly #tables: Tables
  readonly #known = new KnownRows()

  constructor(tables: Tables) {
    this.#tables = tables
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    const row = this.#row(collection, id)
    return row === null ? undefined : this.#toDocument<T>(collection, row)
  }

  put<T>(collection: string, { id, partition, at, expiresAt, tags, value, text }: Document<T>): void {
    if (this.#tables.make('object_documents')) this.#known.begin()
    const [first = '', ...rest] = splitChunks(JSON.stringify(value))
    const before = this.#row(collection, id)
    if (before !== null) this.#deleteParts(collection, id, Number(before.parts))
    else if (this.#isLarge(collection)) this.#tables.index(collection)
    const key = [collection, id] as const
    const held = JSON.stringify({ ...tags, [TEXT]: foldedText(text) })
    const row = { expires: expiresAt ?? null, tags: held, parts: rest.length, value: first }
    const content = [row.expires, row.tags, row.parts, row.value] as const
    if (before?.partition === partition && before.at === at) {
      // SQLite does not write an index if the statement names none of its columns.
      this.#tables.all(
        'UPDATE object_documents SET expires = ?, tags = ?, parts = ?, value = ? WHERE collection = ? AND id = ? AND part = 0',
        ...content,
        ...key,
      )
    } else {
      this.#tables.all(
        'INSERT OR REPLACE INTO object_documents (collection, id, part, partition, at, expires, tags, parts, value) VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?)',
        ...key,
        partition,
        at,
        ...content,
      )
    }
    for (const [index, data] of rest.entries()) {
      this.#tables.all(
        'INSERT INTO object_documents (collection, id, part, value) VALUES (?, ?, ?, ?)',
        ...key,
        index + 1,
        data,
      )
    }
    this.#known.set(collection, id, { id, partition, at, ...row })
  }

  delete(collection: string, id: string): void {
    if (!this.#tables.has('object_documents') || this.#known.get(collection, id) === null) return
    this.#tables.all('DELETE FROM object_documents WHERE collection = ? AND id = ?', collection, id)
    this.#known.set(collection, id, null)
  }

  list<T>(collection: string, { limit, ...query }: ListQuery): Document<T>[] {
    return this.#newest(COLUMNS, collection, query, limit).map(row => this.#toDocument<T>(collection, row))
  }

  search<T>(collection: string, { limit, looks, tags, text, ...query }: SearchQuery): Found<T> {
    const { where, values } = matching(tags, text)
    const isPlain = where === ''
    const most = isPlain ? Math.min(looks, limit + 1) : looks
    const rows = this.#newest(COLUMNS, collection, query, most, { where, values, limit: limit + 1 })
    const documents = rows.slice(0, limit).map(row => this.#toDocument<T>(collection, row))
    if (rows.length > limit) return { documents, next: positionOf(rows[limit - 1]) }
    if (isPlain && rows.length < looks) return { documents, next: undefined }
    const [last] = this.#newest('at, id', collection, query, 1, { offset: looks - 1 })
    return { documents, next: positionOf(last) }
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    const rows = this.#select(
      `${isOf(collection)} AND id >= ? AND id < ? ORDER BY id LIMIT ?`,
      prefix,
      `${prefix}\u{10ffff}`,
      limit,
    )
    return rows.map(row => this.#toDocument<T>(collection, row))
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    const rows = this.#select(
      `${isOf(collection)}${partition === undefined ? '' : ' AND partition = ?'} ORDER BY at, id LIMIT ?`,
      ...(partition === undefined ? [] : [partition]),
      limit,
    )
    return rows.map(row => this.#toDocument<T>(collection, row))
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    const rows = this.#select(`${isOf(collection)} AND expires <= ? ORDER BY expires LIMIT ?`, now, limit)
    return rows.map(row => this.#toDocument<T>(collection, row))
  }

  count(collection: string, partition?: string): number {
    if (partition === undefined) return this.#count(isOf(collection))
    return this.#count(`${isOf(collection)} AND partition = ?`, partition)
  }

  countMatching(collection: string, { looks, tags, text, ...query }: Filter): Counted {
    const { where, values } = matching(tags, text)
    const count = this.#newest('at, id', collection, query, looks, { where, values, limit: looks }).length
    if (where === '' && count < looks) return { count, isCut: false }
    return { count, isCut: this.#newest('at, id', collection, query, 1, { offset: looks }).length > 0 }
  }

  /** Whether other collections than these have documents. */
  holdsBeside(collections: readonly string[]): boolean {
    if (!this.#tables.has('object_documents') || this.#known.isWithin(collections)) return false
    const others = collections.map(() => '?').join(', ')
    const sql = `SELECT 1 FROM object_documents WHERE collection NOT IN (${others}) LIMIT 1`
    return this.#tables.all(sql, ...collections).length > 0
  }

  /** Forgets what it knows of the rows, after a transaction was undone or all was deleted. */
  forget(): void {
    this.#known.forget()
  }

  /** The first row of a document. Null if there is none. */
  #row(collection: string, id: string): SqlRow | null {
    const known = this.#known.get(collection, id)
    if (known !== undefined) return known
    const [row = null] = this.#select('collection = ? AND id = ? AND part = 0', collection, id)
    this.#known.set(collection, id, row)
    return row
  }

  /** The newest documents of a partition, or of all. With a condition, at most `among.limit` documents that meet it. */
  #newest(
    columns: string,
    collection: string,
    { partition, since, after }: Pick<SearchQuery, 'partition' | 'since' | 'after'>,
    limit: number,
    { where = '', values = [], limit: most = limit, offset = 0 }: Among = {},
  ): SqlRow[] {
    if (!this.#tables.has('object_documents')) return []
    const inner =
      `SELECT ${where === '' ? columns : COLUMNS} FROM object_documents WHERE ${isOf(collection)}` +
      (partition === undefined ? '' : ' AND partition = ?') +
      (since === undefined ? '' : ' AND at >= ?') +
      (after === undefined ? '' : ' AND (at, id) < (?, ?)') +
      ' ORDER BY at DESC, id DESC LIMIT ? OFFSET ?'
    const bound = [
      ...(partition === undefined ? [] : [partition]),
      ...(since === undefined ? [] : [since]),
      ...(after === undefined ? [] : [after.at, after.id]),
      limit,
      offset,
    ]
    if (where === '') return this.#tables.all(inner, ...bound)
    const outer = `SELECT ${columns} FROM (${inner}) WHERE ${where} ORDER BY at DESC, id DESC LIMIT ?`
    return this.#tables.all(outer, ...bound, ...values, most)
  }

  #count(where: string, ...values: SqlValue[]): number {
    if (!this.#tables.has('object_documents')) return 0
    const [row] = this.#tables.all(`SELECT COUNT(*) AS n FROM object_documents WHERE ${where}`, ...values)
    return Number(row?.n ?? 0)
  }

  #select(where: string, ...values: SqlValue[]): SqlRow[] {
    if (!this.#tables.has('object_documents')) return []
    return this.#tables.all(`SELECT ${COLUMNS} FROM object_documents WHERE ${where}`, ...values)
  }

  /** Whether a collection that gets one more document needs an index and has none yet. */
  #isLarge(collection: string): boolean {
    if (this.#tables.isIndexed(collection)) return false
    const most = this.#known.sizeOf(collection) ?? MAX_UNINDEXED
    const size = most < MAX_UNINDEXED ? most : this.#sizeOf(collection)
    this.#known.setSize(collection, size + 1)
    return size >= MAX_UNINDEXED
  }

  /** Counts the documents of a collection, as far as matters. */
  #sizeOf(collection: string): number {
    const [row] = this.#tables.all(
      `SELECT COUNT(*) AS n FROM (SELECT 1 FROM object_documents WHERE ${isOf(collection)} LIMIT ?)`,
      MAX_UNINDEXED,
    )
    return Number(row?.n)
  }

  #deleteParts(collection: string, id: string, parts: number): void {
    if (parts === 0) return
    this.#tables.all(
      'DELETE FROM object_documents WHERE collection = ? AND id = ? AND part > 0',
      collection,
      id,
    )
  }

  #toDocument<T>(collection: string, row: SqlRow): Document<T> {
    const id = String(row.id)
    const rest =
      row.parts === 0
        ? []
        : this.#tables.all(
            'SELECT value FROM object_documents WHERE collection = ? AND id = ? AND part > 0 ORDER BY part',
            collection,
            id,
          )
    const { tags: held, ...document } = documentOf<T>(
      row,
      [row, ...rest].map(({ value }) => String(value)).join(''),
    )
    const { [TEXT]: _, ...tags } = held
    return { ...document, tags }
  }
}

/** Which of the newest documents to return. */
interface Among {
  readonly where?: string
  readonly values?: readonly SqlValue[]
  readonly limit?: number
  readonly offset?: number
}

/**
 * The member beside the tags that holds the text. No tag has this name. There is no index: a search reads the text of each document that it
 * looks at.
 */
const TEXT = '~text'

/** The condition that a document has all of the tags, and a text that contains the term. */
function matching(
  tags: Tags = {},
  term: string | undefined,
): { readonly where: string; readonly values: SqlValue[] } {
  const { where, values } = having(tags)
  if (!term) return { where, values }
  const contains = `instr(json_extract(tags, '$."${TEXT}"'), ?) > 0`
  return { where: where === '' ? contains : `${where} AND ${contains}`, values: [...values, folded(term)] }
}
