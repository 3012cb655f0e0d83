/**
 * The statements that list and search documents. Queries with the same members have the same text. Each statement names its
 * index, since the planner does not know how many documents have a tag.
 *
 * @module
 */

import type { Filter, Position, Tags } from '../store.ts'
import { nameOfTagIndex, tagColumn } from './migrations.ts'
import type { SqlValue } from './sql-driver.ts'

/** A statement and its parameters. */
export interface SqlStatement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** The newest documents of a partition or of all, or those of a partition with a tag that has an index. */
export interface Newest {
  readonly collection: string
  readonly partition: string | undefined
  readonly tag?: { readonly name: string; readonly value: string } | undefined
  readonly since?: number | undefined
  readonly after?: Position | undefined
  readonly limit: number
  readonly offset?: number | undefined
}

/** Selects these documents. */
export function newest(columns: string, query: Newest): SqlStatement {
  const { collection, partition, tag, since, after, limit, offset } = query
  const all = partition === undefined ? 'documents_by_time' : 'documents_by_partition'
  const index = tag === undefined ? all : nameOfTagIndex(tag.name)
  const sql =
    `SELECT ${columns} FROM documents INDEXED BY ${index} WHERE collection = ?` +
    (partition === undefined ? '' : ' AND partition = ?') +
    (tag === undefined ? '' : ` AND ${tagColumn(tag.name)} = ?`) +
    (since === undefined ? '' : ' AND at >= ?') +
    (after === undefined ? '' : ' AND (at, id) < (?, ?)') +
    ' ORDER BY at DESC, id DESC LIMIT ?' +
    (offset === undefined ? '' : ' OFFSET ?')
  const values = [
    collection,
    ...(partition === undefined ? [] : [partition]),
    ...(tag === undefined ? [] : [tag.value]),
    ...(since === undefined ? [] : [since]),
    ...(after === undefined ? [] : [after.at, after.id]),
    limit,
    ...(offset === undefined ? [] : [offset]),
  ]
  return { sql, values }
}

/** Selects the position and the text of rows of a statement that have all of the tags. */
export function withTexts({ sql, values }: SqlStatement, collection: string, tags: Tags = {}): SqlStatement {
  const { where, values: of } = having(tags)
  return {
    sql:
      'SELECT at, id, (SELECT text FROM texts WHERE texts.collection = ? AND texts.id = looked.id) AS text' +
      ` FROM (${sql}) AS looked${where === '' ? '' : ` WHERE ${where}`} ORDER BY at DESC, id DESC`,
    values: [collection, ...values, ...of],
  }
}

/** Selects the position and the text of documents by the numbers of their texts, newest first. */
export function numbered(
  numbers: readonly number[],
  collection: string,
  { partition, tags = {}, since, after, looks }: Filter,
): SqlStatement {
  const { where, values } = having(tags)
  return {
    sql:
      'SELECT at, documents.id AS id, texts.text AS text FROM json_each(?) AS n' +
      ' CROSS JOIN texts ON texts.number = n.value' +
      ' CROSS JOIN documents ON documents.collection = texts.collection AND documents.id = texts.id' +
      ' WHERE texts.collection = ?' +
      (partition === undefined ? '' : ' AND partition = ?') +
      (since === undefined ? '' : ' AND at >= ?') +
      (after === undefined ? '' : ' AND (at, documents.id) < (?, ?)') +
      (where === '' ? '' : ` AND ${where}`) +
      ' ORDER BY at DESC, documents.id DESC LIMIT ?',
    values: [
      JSON.stringify(numbers),
      collection,
      ...(partition === undefined ? [] : [partition]),
      ...(since === undefined ? [] : [since]),
      ...(after === undefined ? [] : [after.at, after.id]),
      ...values,
      looks,
    ],
  }
}

/** The condition that a row has all of the tags. Empty without tags. */
export function having(tags: Tags): { readonly where: string; readonly values: SqlValue[] } {
  const all = Object.entries(tags)
  return {
    where: all.map(() => 'json_extract(tags, ?) = ?').join(' AND '),
    values: all.flatMap(([tag, value]) => [`$."${tag}"`, value]),
  }
}

/** Selects those rows of a statement that have all of the tags. */
export function among({ sql, values }: SqlStatement, tags: Tags, limit?: number): SqlStatement {
  const { where, values: of } = having(tags)
  return {
    sql:
      `SELECT * FROM (${sql}) WHERE ${where} ORDER BY at DESC, id DESC` +
      (limit === undefined ? '' : ' LIMIT ?'),
    values: [...values, ...of, ...(limit === undefined ? [] : [limit])],
  }
}
