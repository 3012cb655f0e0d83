/**
 * The indices of documents. Each row that is written costs an entry in each of them, so they are most of what a run writes to the log
 * of the database. Version 3 of the schema replaced those of version 1:
 *
 * - They ascend, and lists read them backwards. What is new comes last in its list, so that pages become full. New rows at the
 *   front of a list cut each page in two halves.
 * - They leave out collections that nobody asks in that way. Such a query is right all the same: it reads the collection.
 *
 * They still end with the id, which orders documents of one time. Without it they are smaller, but while the database has no statistics it
 * reads and sorts a whole list for its newest documents.
 *
 * @module
 */

import { INDEXED_TAGS, nameOfTagIndex } from '../sql/migrations.ts'

/** Collections without lists. Nobody asks for their partitions, or for their oldest documents. */
export const UNLISTED: readonly string[] = ['asked', 'result']

/** Collections of which nobody asks for the oldest documents of all partitions, or which are small. */
export const UNAGED: readonly string[] = [...UNLISTED, 'journal', 'running']

/** A condition on the collection of documents. An index has it, and so must a query whose plan is made before its collection is known. */
export function isIn(collections: readonly string[], column = 'collection'): string {
  return `${column} IN (${collections.map(name => `'${name}'`).join(', ')})`
}

/** The value of a tag, as its index has it. */
export function tagColumn(tag: string): string {
  return `(tags->>'${tag}')`
}

/** The indices of version 1 of the schema. */
export function firstIndices(s: string): readonly string[] {
  return [
    `CREATE INDEX documents_by_partition ON ${s}.documents (collection, partition, at DESC, id DESC)`,
    `CREATE INDEX documents_by_age ON ${s}.documents (collection, at, id)`,
    `CREATE INDEX documents_by_expiry ON ${s}.documents (collection, expires) WHERE expires IS NOT NULL`,
    ...INDEXED_TAGS.map(
      tag =>
        `CREATE INDEX ${nameOfTagIndex(tag).toLowerCase()} ON ${s}.documents (collection, partition, ${tagColumn(tag)} COLLATE "C", at DESC, id DESC)
            WHERE ${tagColumn(tag)} IS NOT NULL`,
    ),
  ]
}

/** The indices of version 3, each with the one that it replaces. */
const REPLACED: readonly (readonly [name: string, columns: string, where: string, before: string])[] = [
  ['documents_in_lists', 'partition, at, id', `NOT ${isIn(UNLISTED)}`, 'documents_by_partition'],
  ['documents_in_time', 'at, id', `NOT ${isIn(UNAGED)}`, 'documents_by_age'],
  ...INDEXED_TAGS.map(
    tag =>
      [
        `documents_tagged_${tag.toLowerCase()}`,
        `partition, ${tagColumn(tag)} COLLATE "C", at, id`,
        `${tagColumn(tag)} IS NOT NULL`,
        nameOfTagIndex(tag).toLowerCase(),
      ] as const,
  ),
]

/**
 * Replaces the indices of version 1. The tables are locked meanwhile. An index that is there already was made before, without a
 * lock. Nothing asks for commits by their age but the deletion of old ones, which may read the table: it has those of ten minutes.
 */
export function replaceIndices(s: string): readonly string[] {
  return [
    lockTables(s),
    ...REPLACED.map(
      ([name, columns, where]) =>
        `CREATE INDEX IF NOT EXISTS ${name} ON ${s}.documents (collection, ${columns}) WHERE ${where}`,
    ),
    ...REPLACED.map(([, , , before]) => `DROP INDEX IF EXISTS ${s}.${before}`),
    `DROP INDEX IF EXISTS ${s}.commits_by_age`,
    // The statistics of tags belong to their indices.
    `DO $rows$ BEGIN IF EXISTS (SELECT FROM ${s}.documents) THEN ANALYZE ${s}.documents; END IF; END $rows$`,
  ]
}

/** Statements that make the indices of version 3 while processes of an older version work. Each is a transaction of its own. */
export function earlyIndices(s: string): readonly string[] {
  return REPLACED.map(
    ([name, columns, where]) =>
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${s}.documents (collection, ${columns}) WHERE ${where}`,
  )
}

/**
 * Locks both tables. Commits lock them in either order, so whoever waits too long gives its locks back, and tries again. Then drops
 * indices that were given up while they were made.
 */
function lockTables(s: string): string {
  return `DO $lock$ DECLARE given_up regclass; BEGIN
      FOR tries IN 1..10 LOOP
        BEGIN
          SET LOCAL lock_timeout = '3s';
          LOCK TABLE ${s}.documents, ${s}.commits IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
          IF tries = 10 THEN RAISE; END IF;
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      FOR given_up IN SELECT indexrelid FROM pg_index WHERE indrelid = '${s}.documents'::regclass AND NOT indisvalid LOOP
        EXECUTE 'DROP INDEX ' || given_up;
      END LOOP;
    END $lock$`
}
