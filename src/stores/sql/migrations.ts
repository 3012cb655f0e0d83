/** Tags that have an index in a store on files. For other tags, the store searches the newest documents. */
export const INDEXED_TAGS: readonly string[] = [
  ...['kind', 'name', 'status', 'sessionId'],
  ...['contextId', 'state'],
  'agent',
]

/** The indices of these tags. A store may omit them. */
export const TAG_INDICES: readonly string[] = INDEXED_TAGS.map(tagIndex)

/**
 * The schema of the SQL store, one list of statements for each version. A released list never changes. A change is a new list
 * at the end.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE documents (
      collection TEXT NOT NULL,
      id TEXT NOT NULL,
      partition TEXT NOT NULL,
      at INTEGER NOT NULL,
      expires INTEGER,
      tags TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (collection, id)
    )`,
    'CREATE INDEX documents_by_partition ON documents (collection, partition, at DESC, id DESC)',
    'CREATE INDEX documents_by_time ON documents (collection, at, id)',
    'CREATE INDEX documents_by_expiry ON documents (collection, expires) WHERE expires IS NOT NULL',
    `CREATE TABLE document_parts (
      collection TEXT NOT NULL,
      id TEXT NOT NULL,
      part INTEGER NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (collection, id, part)
    ) WITHOUT ROWID`,
    `CREATE TABLE log_entries (
      log TEXT NOT NULL,
      seq INTEGER NOT NULL,
      part INTEGER NOT NULL,
      sealed INTEGER NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (log, seq, part)
    )`,
  ],
  [
    'CREATE TABLE logs (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)',
    `CREATE TABLE entries (
      log INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      part INTEGER NOT NULL,
      sealed INTEGER NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (log, seq, part)
    )`,
    'INSERT INTO logs (name) SELECT DISTINCT log FROM log_entries',
    `INSERT INTO entries (log, seq, part, sealed, data)
      SELECT number, seq, part, sealed, data FROM log_entries JOIN logs ON name = log`,
    'DROP TABLE log_entries',
  ],
  TAG_INDICES,
]

/** Makes the index of a tag. It has the documents with that tag, in the order of lists. */
function tagIndex(tag: string): string {
  const column = tagColumn(tag)
  return (
    `CREATE INDEX ${nameOfTagIndex(tag)}` +
    ` ON documents (collection, partition, ${column}, at DESC, id DESC) WHERE ${column} IS NOT NULL`
  )
}

/** The name of the index of a tag. */
export function nameOfTagIndex(tag: string): string {
  return `documents_by_tag_${tag}`
}

/** The value of a tag, with the same text as in its index. SQLite uses the index only for the same text. */
export function tagColumn(tag: string): string {
  return `json_extract(tags, '$.${tag}')`
}
