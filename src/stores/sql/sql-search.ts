/**
 * The statements that list and search documents. Queries with the same members have the same text. Each statement names its
 * index, since the planner does not know how many documents have a tag.
 *
 * @module
 */

import type { Position, Tags } from '../store.ts'
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

/** Selects those rows of a statement that have all of the tags. */
export function among({ sql, values }: SqlStatement, tags: Tags, limit?: number): SqlStatement {
  const all = Object.entries(tags)
  const conditions = all.map(() => 'json_extract(tags, ?) = ?').join(' AND ')
  return {
    sql:
      `SELECT * FROM (${sql}) WHERE ${conditions} ORDER BY at DESC, id DESC` +
      (limit === undefined ? '' : ' LIMIT ?'),
    values: [
      ...values,
      ...all.flatMap(([tag, value]) => [`$."${tag}"`, value]),
      ...(limit === undefined ? [] : [limit]),
    ],
  }
}
