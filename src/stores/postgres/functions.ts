/**
 * The functions of the schema: they answer queries, write commits, and mark logs that others follow. A released one never changes
 * (`schema.ts`). The function for most commits is in `commit.ts`.
 *
 * @module
 */

import { isIn, UNLISTED } from './indices.ts'

/** A document as {@link toVersioned} of `rows.ts` reads it. */
export const DOCUMENT = 'json_build_array(id, partition, at, expires, tags, value, version::text)'

/**
 * Settings that make every part of a function use an index, however few rows a table had when its plan was made. For a table of a
 * million rows PostgreSQL would compile the function at each call, which takes a second and more, and plan it at each call, which
 * takes a millisecond.
 */
export const BY_INDEX =
  'SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan'

/** A member of the given JSON, as an array. */
function column(path: string, type: string): string {
  return `ARRAY(SELECT jsonb_array_elements_text(g #> '{${path}}'))::${type}[]`
}

/** Answers queries for documents, logs and counts. It reads one moment, since it is `STABLE`. */
export function lookFunction(s: string): string {
  return lookWith(s, countOf(s, ''))
}

/**
 * The same function for the indices of version 3. It keeps its name, since it answers the same. Its plan is made before the collection is
 * known, so the query itself says that its index has the collection.
 */
export function lookFunctionByIndex(s: string): string {
  const unlisted = isIn(UNLISTED, 'x.c')
  const listed = `NOT ${isIn(UNLISTED, 'd.collection')}`
  const count = `CASE WHEN ${unlisted} THEN ${countOf(s, '')} ELSE ${countOf(s, ` AND ${listed}`)} END`
  return lookWith(s, count)
}

/** Counts a partition. */
function countOf(s: string, condition: string): string {
  return `(SELECT count(*) FROM ${s}.documents d WHERE d.collection = x.c AND d.partition = x.p${condition})`
}

function lookWith(s: string, count: string): string {
  return `CREATE FUNCTION ${s}.look_1(given text) RETURNS json LANGUAGE plpgsql STABLE ${BY_INDEX} AS $$
    DECLARE
      g jsonb := given::jsonb;
    BEGIN
      RETURN json_build_array(
        extract(epoch FROM clock_timestamp()) * 1000,
        (SELECT json_agg((
            SELECT ${DOCUMENT} FROM ${s}.documents d WHERE d.collection = x.c AND d.id = x.i
          ) ORDER BY x.n)
          FROM unnest(${column('get,collection', 'text')}, ${column('get,id', 'text')}) WITH ORDINALITY AS x(c, i, n)),
        (SELECT json_agg((
            SELECT json_build_array(l.version::text, l.last, l.sealed, CASE WHEN x.m > 0 THEN (
              SELECT json_agg(json_build_array(e.seq, e.data) ORDER BY e.seq) FROM ${s}.entries e
                WHERE e.log = x.l AND e.seq > x.a AND e.seq <= x.a + x.m
            ) END) FROM ${s}.logs l WHERE l.log = x.l
          ) ORDER BY x.n)
          FROM unnest(${column('log,log', 'text')}, ${column('log,after', 'bigint')}, ${column('log,limit', 'bigint')})
            WITH ORDINALITY AS x(l, a, m, n)),
        (SELECT json_agg(CASE WHEN x.p IS NULL
            THEN (SELECT count(*) FROM ${s}.documents d WHERE d.collection = x.c)
            ELSE ${count}
          END ORDER BY x.n)
          FROM unnest(${column('count,collection', 'text')}, ${column('count,partition', 'text')}) WITH ORDINALITY AS x(c, p, n))
      );
    END $$`
}

/** Returns the versions of the logs of a commit by name. Processes of the first version use it. */
export function commitFunction1(s: string): string {
  const was = `(SELECT coalesce(json_object_agg(log, version::text), '{}') FROM ${s}.logs WHERE log = ANY(touched))`
  return commitFunction(s, {
    ...{ name: 'commit_1', returns: 'json', declares: '', was, result: `coalesce(versions, '{}')` },
    ...{ begin: `INSERT INTO ${s}.commits (id) VALUES (own);`, version: `nextval('${s}.versions')` },
  })
}

/** Returns the version of a commit, which all documents get that it writes, and all logs that it begins. */
export function commitFunction2(s: string): string {
  const begin = `own_version := nextval('${s}.versions');
      INSERT INTO ${s}.commits (id, version) VALUES (own, own_version);`
  return commitFunction(s, {
    ...{ name: 'commit_2', returns: 'bigint', declares: '\n      own_version bigint;' },
    ...{ was: `(SELECT c.version FROM ${s}.commits c WHERE c.id = own)`, begin },
    ...{ version: 'own_version', result: 'own_version' },
  })
}

/** How the versions of a function for commits differ. */
interface CommitForm {
  readonly name: string
  readonly returns: string
  /** More variables. */
  readonly declares: string
  /** The result of a commit that was written before. */
  readonly was: string
  /** Writes that there is a commit. */
  readonly begin: string
  /** The version of a document or log. */
  readonly version: string
  readonly result: string
}

/**
 * Writes a commit if all that was seen is unchanged; else it returns null. Commits that touch the same documents and logs wait for
 * each other: each locks the rows of all of them, in one order, and then the names of those without a row. A commit that was written before is not written again.
 */
function commitFunction(s: string, form: CommitForm): string {
  return `CREATE FUNCTION ${s}.${form.name}(given text) RETURNS ${form.returns} LANGUAGE plpgsql ${BY_INDEX} AS $$
    DECLARE
      g jsonb := given::jsonb;
      own uuid := (g->>'id')::uuid;
      touched text[] := ${column('logs', 'text')} COLLATE "C";
      seen_c text[] := ${column('seen,collection', 'text')};
      seen_i text[] := ${column('seen,id', 'text')};
      puts_c text[] := ${column('puts,collection', 'text')};
      puts_i text[] := ${column('puts,id', 'text')};
      gone_c text[] := ${column('gone,collection', 'text')};
      gone_i text[] := ${column('gone,id', 'text')};
      versions json;
      put_count bigint;
      heard bigint[];${form.declares}
    BEGIN
      ${commitLocks(s)}
      ${commitChecks(s, form)}
      ${commitWrites(s, form)}
      ${commitCalls(s)}
      RETURN ${form.result};
    END $$`
}

/** Locks the rows and names that a commit touches. */
function commitLocks(s: string): string {
  return `PERFORM pg_advisory_xact_lock(hashtextextended('${s} commit ' || own, 0));
      PERFORM FROM ${s}.documents d
        JOIN unnest(seen_c || puts_c || gone_c, seen_i || puts_i || gone_i) AS x(c, i) ON d.collection = x.c AND d.id = x.i
        ORDER BY d.collection, d.id FOR NO KEY UPDATE OF d;
      PERFORM FROM ${s}.logs WHERE log = ANY(touched) ORDER BY log FOR NO KEY UPDATE;
      -- What is not there has no row to lock. Whoever deletes without having read needs no lock for it.
      PERFORM pg_advisory_xact_lock(key) FROM (
        SELECT DISTINCT hashtextextended(name, 0) AS key FROM (
          SELECT '${s} document ' || length(x.c) || ' ' || x.c || x.i AS name
            FROM unnest(seen_c || puts_c, seen_i || puts_i) AS x(c, i)
            WHERE NOT EXISTS (SELECT FROM ${s}.documents d WHERE d.collection = x.c AND d.id = x.i)
          UNION ALL SELECT '${s} log ' || x.l FROM unnest(touched) AS x(l)
            WHERE NOT EXISTS (SELECT FROM ${s}.logs l WHERE l.log = x.l)
        ) names ORDER BY key
      ) keys;`
}

/** Returns from a commit that was written before, and from one that has seen what has changed. */
function commitChecks(s: string, { was }: CommitForm): string {
  return `IF EXISTS (SELECT FROM ${s}.commits WHERE id = own) THEN
        RETURN ${was};
      END IF;
      IF EXISTS (
        SELECT FROM unnest(seen_c, seen_i, ${column('seen,version', 'bigint')}) AS x(c, i, v)
          LEFT JOIN ${s}.documents d ON d.collection = x.c AND d.id = x.i
          WHERE x.v IS DISTINCT FROM d.version
      ) OR EXISTS (
        SELECT FROM unnest(${column('heads,log', 'text')}, ${column('heads,version', 'bigint')},
            ${column('heads,last', 'bigint')}, ${column('heads,sealed', 'boolean')}) AS x(l, v, n, e)
          LEFT JOIN ${s}.logs l ON l.log = x.l
          WHERE x.v IS DISTINCT FROM l.version OR (x.n IS NOT NULL AND (x.n, x.e) <> (coalesce(l.last, 0), coalesce(l.sealed, false)))
      ) THEN
        RETURN NULL;
      END IF;`
}

/** Writes what a commit changes. */
function commitWrites(s: string, { begin, version }: CommitForm): string {
  return `${begin}
      IF g ? 'gone' THEN
        DELETE FROM ${s}.documents d
          USING unnest(gone_c, gone_i) AS x(c, i)
          WHERE d.collection = x.c AND d.id = x.i;
      END IF;
      IF g ? 'puts' THEN
        INSERT INTO ${s}.documents AS d (collection, id, partition, at, expires, tags, value, version)
          SELECT x.*, ${version} FROM unnest(
            puts_c, puts_i, ${column('puts,partition', 'text')},
            ${column('puts,at', 'float8')}, ${column('puts,expires', 'float8')}, ${column('puts,tags', 'jsonb')},
            ${column('puts,value', 'text')}) AS x
          ON CONFLICT (collection, id) DO UPDATE SET partition = excluded.partition, at = excluded.at,
            expires = excluded.expires, tags = excluded.tags, value = excluded.value, version = excluded.version
            -- A lean commit takes no lock on a name: it may have inserted the row since this one has looked.
            WHERE NOT EXISTS (
              SELECT FROM unnest(seen_c, seen_i, ${column('seen,version', 'bigint')}) AS x(c, i, v)
                WHERE x.c = d.collection AND x.i = d.id AND x.v IS DISTINCT FROM d.version
            );
        GET DIAGNOSTICS put_count = ROW_COUNT;
        IF put_count < cardinality(puts_c) THEN RAISE unique_violation; END IF;
      END IF;
      IF g ? 'deleted' THEN
        DELETE FROM ${s}.entries WHERE log = ANY(${column('deleted', 'text')});
        DELETE FROM ${s}.logs WHERE log = ANY(${column('deleted', 'text')});
      END IF;
      IF g ? 'grown' THEN
        INSERT INTO ${s}.entries (log, seq, data) SELECT * FROM unnest(
          ${column('entries,log', 'text')}, ${column('entries,seq', 'bigint')}, ${column('entries,data', 'text')});
        WITH written AS (
          INSERT INTO ${s}.logs AS l (log, version, last, sealed)
            SELECT x.l, ${version}, x.n, x.e FROM unnest(
              ${column('grown,log', 'text')}, ${column('grown,last', 'bigint')}, ${column('grown,sealed', 'boolean')}) AS x(l, n, e)
            ON CONFLICT (log) DO UPDATE SET last = excluded.last, sealed = excluded.sealed
            RETURNING log, version, watched
        )
        SELECT json_object_agg(log, version::text),
            array_agg(hashtextextended(log, 0)) FILTER (WHERE watched > clock_timestamp())
          INTO versions, heard FROM written;
      END IF;`
}

/** Tells other processes of a commit. */
function commitCalls(s: string): string {
  return `-- A notification has at most 8,000 bytes.
      PERFORM pg_notify(${channelText(s)}, string_agg(key::text, ' '))
        FROM unnest(heard) WITH ORDINALITY AS x(key, n) GROUP BY n / 300;
      IF g ? 'calls' THEN
        PERFORM pg_notify(${channelText(s)}, x) FROM unnest(${column('calls', 'text')}) AS x;
      END IF;`
}

/** Marks a log as followed by another process for a while, and returns its key in notifications. */
export function watchFunction(s: string): string {
  return `CREATE FUNCTION ${s}.watch_1(given text, seconds float8) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO ${s}.logs AS l (log, version, last, sealed, watched)
        VALUES (given, nextval('${s}.versions'), 0, false, clock_timestamp() + seconds * interval '1 second')
        ON CONFLICT (log) DO UPDATE SET watched = excluded.watched;
      RETURN hashtextextended(given, 0)::text;
    END $$`
}

/** The channel of notifications between processes. It has the name of the schema. */
function channelText(s: string): string {
  return `'${s.slice(1, -1)}'`
}
