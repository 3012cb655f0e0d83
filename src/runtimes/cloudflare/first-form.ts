/**
 * The tables that version 0.1.0 made in an object, and how they become those of today.
 *
 * @module
 */

import type { Tables } from './tables.ts'

/** Collections that are kept in another way: places in memory, batches by their isolate. */
const LEFT = "'running', 'metrics-batch'"

const MOVES = [
  `INSERT INTO object_documents (collection, id, part, partition, at, expires, tags, parts, value)
    SELECT collection, id, 0, partition, at, expires, tags,
      (SELECT COUNT(*) FROM document_parts p WHERE p.collection = d.collection AND p.id = d.id), value
    FROM documents d WHERE collection NOT IN (${LEFT})`,
  `INSERT INTO object_documents (collection, id, part, value)
    SELECT collection, id, part, data FROM document_parts WHERE collection NOT IN (${LEFT})`,
  `INSERT INTO object_log (log, last, part, first, sealed, lengths, data)
    SELECT log, seq, part, seq, sealed, '', data FROM log_entries`,
]

const FIRST_TABLES = ['documents', 'document_parts', 'log_entries', 'servable_schema']

/** Moves what stands in the first tables, where there are any; within a transaction. */
export function leaveFirstForm(tables: Tables): void {
  if (!tables.has('servable_schema')) return
  tables.make('object_documents')
  tables.make('object_log')
  for (const statement of MOVES) tables.all(statement)
  for (const name of FIRST_TABLES) tables.all(`DROP TABLE ${name}`)
  tables.forget()
}
