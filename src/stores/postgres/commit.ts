/**
 * A commit without locks on names: one call of the function `commit_lean_1`, with arrays instead of JSON. The function locks the
 * documents and logs that were seen, compares their versions, and writes everything, or nothing if one of them has changed. What was not
 * there is inserted, and a unique violation means that it has come to be. The function `commit_2` writes the rare commits that
 * {@link isLean} refuses.
 *
 * @module
 */

import { nameOf } from '../remote/known.ts'
import type { Commit, DocumentChange } from '../remote/remote.ts'
import { grownLogs, toRow } from './rows.ts'
import { stored, storedKey } from './text.ts'

/**
 * Whether a commit needs no lock on a name that has no row: what it has seen to be absent, it writes. It deletes no log, and notifies no
 * process of ended work.
 */
export function isLean({ seen, documents, logs, calls }: Commit): boolean {
  if (calls.length > 0 || logs.some(({ isDeleted }) => isDeleted)) return false
  const puts = new Set(
    documents.flatMap(change => (change.document ? nameOf(change.collection, change.id) : [])),
  )
  const grown = new Set(logs.map(({ log }) => log))
  return (
    seen.documents.every(each => each.version !== undefined || puts.has(nameOf(each.collection, each.id))) &&
    seen.logs.every(({ log, version }) => version !== undefined || grown.has(log))
  )
}

/** The arguments of the function, each an array, with the types of their elements. */
const ARGUMENTS = {
  seen: { c: 'text', i: 'text', v: 'bigint' },
  heads: { l: 'text', v: 'bigint', n: 'bigint', e: 'boolean' },
  gone: { c: 'text', i: 'text' },
  puts: {
    ...{ k: 'text', c: 'text', i: 'text', p: 'text' },
    ...{ a: 'float8', x: 'float8', t: 'text', d: 'text' },
  },
  entries: { l: 'text', n: 'bigint', d: 'text' },
  logs: { b: 'boolean', l: 'text', n: 'bigint', e: 'boolean' },
} as const

type Rows = Readonly<Record<keyof typeof ARGUMENTS, readonly (readonly unknown[])[]>>

const TABLES = Object.keys(ARGUMENTS) as (keyof typeof ARGUMENTS)[]

/** How a document is put: it was absent, it was there, or nobody has looked. */
type PutKind = 'new' | 'old' | 'any'

/** Makes the call of a lean commit, with its parameters. */
export function leanCommit(
  s: string,
  commit: Commit,
): { readonly text: string; readonly values: readonly string[] } {
  const rows = rowsOf(commit)
  const values = [commit.id]
  const parameters = TABLES.flatMap(table =>
    Object.values(ARGUMENTS[table]).map((type, column) => {
      const array = `{${rows[table].map(row => elementOf(row[column])).join(',')}}`
      return `$${values.push(array)}::text::${type}[]`
    }),
  )
  return { text: `SELECT ${s}.commit_lean_1($1::text::uuid, ${parameters.join(', ')}) AS version`, values }
}

/** The function of the schema. Each of its statements has one plan, whatever the arrays hold. */
export function leanFunction(s: string, settings: string): string {
  const columns = (table: keyof typeof ARGUMENTS) =>
    Object.keys(ARGUMENTS[table]).map(name => `g_${table}_${name}`)
  const declared = TABLES.flatMap(table => {
    const types = Object.values(ARGUMENTS[table])
    return columns(table).map((name, at) => `${name} ${types[at]}[]`)
  })
  const from = (table: keyof typeof ARGUMENTS) =>
    `unnest(${columns(table).join(', ')}) AS x(${Object.keys(ARGUMENTS[table]).join(', ')})`
  const insert = `INSERT INTO ${s}.documents (collection, id, partition, at, expires, tags, value, version)
          SELECT x.c, x.i, x.p, x.a, x.x, x.t::jsonb, x.d, own_version FROM ${from('puts')}`
  return `CREATE FUNCTION ${s}.commit_lean_1(own uuid, ${declared.join(', ')}) RETURNS text LANGUAGE plpgsql ${settings} AS $$
    DECLARE
      same bigint;
      own_version bigint;
    BEGIN
      -- The rows are locked in one order. A row that another commit holds is compared when that has ended.
      IF cardinality(g_seen_c) > 0 THEN
        SELECT count(*) FILTER (WHERE is_same) INTO same FROM (
          SELECT d.version = x.v AS is_same FROM ${from('seen')}
            JOIN ${s}.documents d ON d.collection = x.c AND d.id = x.i
            ORDER BY d.collection, d.id FOR NO KEY UPDATE OF d
        ) rows;
        IF same < cardinality(g_seen_c) THEN RETURN NULL; END IF;
      END IF;
      IF cardinality(g_heads_l) > 0 THEN
        SELECT count(*) FILTER (WHERE is_same) INTO same FROM (
          SELECT l.version = x.v AND (x.n IS NULL OR (l.last = x.n AND l.sealed = x.e)) AS is_same FROM ${from('heads')}
            JOIN ${s}.logs l ON l.log = x.l
            ORDER BY l.log FOR NO KEY UPDATE OF l
        ) rows;
        IF same < cardinality(g_heads_l) THEN RETURN NULL; END IF;
      END IF;
      own_version := nextval('${s}.versions');
      INSERT INTO ${s}.commits (id, version) VALUES (own, own_version);
      IF cardinality(g_gone_c) > 0 THEN
        DELETE FROM ${s}.documents d USING ${from('gone')} WHERE d.collection = x.c AND d.id = x.i;
      END IF;
      IF 'new' = ANY(g_puts_k) THEN
        ${insert} WHERE x.k = 'new';
      END IF;
      IF 'old' = ANY(g_puts_k) THEN
        UPDATE ${s}.documents d SET partition = x.p, at = x.a, expires = x.x, tags = x.t::jsonb, value = x.d, version = own_version
          FROM ${from('puts')} WHERE x.k = 'old' AND d.collection = x.c AND d.id = x.i;
      END IF;
      IF 'any' = ANY(g_puts_k) THEN
        ${insert} WHERE x.k = 'any'
          ON CONFLICT (collection, id) DO UPDATE SET partition = excluded.partition, at = excluded.at,
            expires = excluded.expires, tags = excluded.tags, value = excluded.value, version = excluded.version;
      END IF;
      IF cardinality(g_entries_l) > 0 THEN
        INSERT INTO ${s}.entries (log, seq, data) SELECT x.l, x.n, x.d FROM ${from('entries')};
      END IF;
      IF true = ANY(g_logs_b) THEN
        INSERT INTO ${s}.logs (log, version, last, sealed) SELECT x.l, own_version, x.n, x.e FROM ${from('logs')} WHERE x.b;
      END IF;
      IF false = ANY(g_logs_b) THEN
        WITH grown AS (
          UPDATE ${s}.logs l SET last = x.n, sealed = x.e FROM ${from('logs')} WHERE NOT x.b AND l.log = x.l
            RETURNING l.log, l.watched
        )
        -- Each notification has at most 20 bytes.
        SELECT count(pg_notify('${s.slice(1, -1)}', hashtextextended(log, 0)::text)) INTO same FROM grown
          WHERE watched > clock_timestamp();
      END IF;
      RETURN own_version;
    END $$`
}

/** The rows of a commit. */
function rowsOf({ seen, documents, logs, assumed }: Commit): Rows {
  const versions = new Map(seen.documents.map(each => [nameOf(each.collection, each.id), each]))
  const fresh = new Set(assumed)
  const kindOf = (change: DocumentChange): PutKind => {
    const before = versions.get(nameOf(change.collection, change.id))
    if (before === undefined) return fresh.has(change.id) ? 'new' : 'any'
    return before.version === undefined ? 'new' : 'old'
  }
  const grown = grownLogs({ seen, logs })
  return {
    seen: seen.documents.flatMap(each =>
      each.version === undefined ? [] : [[...keyOf(each), each.version]],
    ),
    heads: seen.logs.flatMap(({ log, version, head }) =>
      version === undefined ? [] : [[stored(log), version, head?.length, head?.isSealed]],
    ),
    gone: documents.filter(({ document }) => document === undefined).map(keyOf),
    puts: documents.flatMap(change =>
      change.document
        ? [[kindOf(change), ...documentRow(change.collection, change.document, change.text)]]
        : [],
    ),
    entries: grown.flatMap(({ log, length, entries }) =>
      entries.map((data, at) => [stored(log), length + at + 1, stored(data)]),
    ),
    logs: grown.map(({ log, version, length, entries, isSealed }) => {
      return [version === undefined, stored(log), length + entries.length, isSealed]
    }),
  }
}

function documentRow(
  collection: string,
  document: NonNullable<DocumentChange['document']>,
  text: string | undefined,
): unknown[] {
  const { id, partition, at, expires, tags, value } = toRow(document, text)
  return [stored(collection), id, partition, at, expires, JSON.stringify(tags), value]
}

const keyOf = ({ collection, id }: { readonly collection: string; readonly id: string }) => [
  stored(collection),
  storedKey(id),
]

/** The element of an array as PostgreSQL reads it. */
function elementOf(value: unknown): string {
  if (value === undefined || value === null) return 'NULL'
  return `"${String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
