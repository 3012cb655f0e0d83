/**
 * The tables, and the functions that write them. All stand in a schema of their own, and are always named with it.
 *
 * @module
 */

import { ServableError } from '../../errors.ts'
import type { PostgresDriver } from './driver.ts'

/** What each version of the schema adds. Columns and functions are only added, so that older processes go on. */
const MIGRATIONS: readonly ((s: string) => readonly string[])[] = [
  s => [
    `CREATE SEQUENCE ${s}.versions`,
    `CREATE TABLE ${s}.documents (
      collection text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      partition text COLLATE "C" NOT NULL,
      at float8 NOT NULL,
      expires float8,
      tags text[] COLLATE "C" NOT NULL,
      value text NOT NULL,
      version bigint NOT NULL,
      PRIMARY KEY (collection, id)
    )`,
    `CREATE INDEX documents_by_partition ON ${s}.documents (collection, partition, at DESC, id DESC)`,
    `CREATE INDEX documents_by_age ON ${s}.documents (collection, at, id)`,
    `CREATE INDEX documents_by_expiry ON ${s}.documents (collection, expires) WHERE expires IS NOT NULL`,
    `CREATE TABLE ${s}.logs (
      log text COLLATE "C" PRIMARY KEY,
      version bigint NOT NULL,
      last bigint NOT NULL,
      sealed boolean NOT NULL
    ) WITH (fillfactor = 50)`,
    `CREATE TABLE ${s}.entries (
      log text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      data text NOT NULL,
      PRIMARY KEY (log, seq)
    )`,
    `CREATE TABLE ${s}.commits (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`,
    `CREATE INDEX commits_by_age ON ${s}.commits (at)`,
    `CREATE TABLE ${s}.workers (instance text PRIMARY KEY, seen timestamptz NOT NULL, gone boolean NOT NULL)`,
    commitFunction(s),
  ],
]

/**
 * Writes a commit, if all that was seen is as it was. Who touches the same documents and logs waits for the other: each takes
 * the locks of all of them, in one order.
 */
function commitFunction(s: string): string {
  return `CREATE FUNCTION ${s}.commit_1(given text) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      c json := given::json;
    BEGIN
      PERFORM pg_advisory_xact_lock(key) FROM (
        SELECT DISTINCT hashtextextended(name, 0) AS key FROM (
          SELECT '${s} commit ' || (c->>'id') AS name
          UNION ALL SELECT '${s} document ' || length(d.c) || ' ' || d.c || d.i
            FROM (
              SELECT * FROM json_to_recordset(c->'seen') AS x(c text, i text)
              UNION ALL SELECT * FROM json_to_recordset(c->'puts') AS x(c text, i text)
              UNION ALL SELECT * FROM json_to_recordset(c->'gone') AS x(c text, i text)
            ) d
          UNION ALL SELECT '${s} log ' || l.l
            FROM (
              SELECT * FROM json_to_recordset(c->'heads') AS x(l text)
              UNION ALL SELECT * FROM json_to_recordset(c->'logs') AS x(l text)
            ) l
        ) names ORDER BY key
      ) keys;
      IF EXISTS (SELECT FROM ${s}.commits WHERE id = c->>'id') THEN
        RETURN true;
      END IF;
      IF EXISTS (
        SELECT FROM json_to_recordset(c->'seen') AS x(c text, i text, v text)
          LEFT JOIN ${s}.documents d ON d.collection = x.c AND d.id = x.i
          WHERE x.v IS DISTINCT FROM d.version::text
      ) OR EXISTS (
        SELECT FROM json_to_recordset(c->'heads') AS x(l text, v text, n bigint, e boolean)
          LEFT JOIN ${s}.logs g ON g.log = x.l
          WHERE x.v IS DISTINCT FROM g.version::text
            OR (x.n IS NOT NULL AND (x.n <> coalesce(g.last, 0) OR x.e <> coalesce(g.sealed, false)))
      ) THEN
        RETURN false;
      END IF;
      INSERT INTO ${s}.commits (id) VALUES (c->>'id');
      DELETE FROM ${s}.documents d USING json_to_recordset(c->'gone') AS x(c text, i text)
        WHERE d.collection = x.c AND d.id = x.i;
      INSERT INTO ${s}.documents AS d (collection, id, partition, at, expires, tags, value, version)
        SELECT x.c, x.i, x.p, x.a, x.x, ARRAY(SELECT json_array_elements_text(x.t)), x.v, nextval('${s}.versions')
          FROM json_to_recordset(c->'puts') AS x(c text, i text, p text, a float8, x float8, t json, v text)
        ON CONFLICT (collection, id) DO UPDATE SET partition = excluded.partition, at = excluded.at,
          expires = excluded.expires, tags = excluded.tags, value = excluded.value, version = excluded.version;
      DELETE FROM ${s}.entries e USING json_to_recordset(c->'logs') AS x(l text, d boolean)
        WHERE x.d AND e.log = x.l;
      DELETE FROM ${s}.logs g USING json_to_recordset(c->'logs') AS x(l text, d boolean) WHERE x.d AND g.log = x.l;
      INSERT INTO ${s}.entries (log, seq, data)
        SELECT x.l, coalesce(g.last, 0) + e.n, e.data
          FROM json_to_recordset(c->'logs') AS x(l text, w json)
          LEFT JOIN ${s}.logs g ON g.log = x.l
          CROSS JOIN LATERAL json_array_elements_text(x.w) WITH ORDINALITY AS e(data, n);
      INSERT INTO ${s}.logs AS g (log, version, last, sealed)
        SELECT x.l, nextval('${s}.versions'), json_array_length(x.w), x.e
          FROM json_to_recordset(c->'logs') AS x(l text, w json, e boolean)
          WHERE json_array_length(x.w) > 0
        ON CONFLICT (log) DO UPDATE SET last = g.last + excluded.last, sealed = excluded.sealed;
      RETURN true;
    END $$`
}

/** A name as PostgreSQL writes it. */
export function quoted(schema: string): string {
  return `"${schema}"`
}

/** Brings the schema to the newest version. Of several processes one does it, and the others wait. Throws `invalid_options`. */
export async function migrate(driver: PostgresDriver, schema: string): Promise<void> {
  const s = quoted(schema)
  const known = await versionOf(driver, s)
  if (known > MIGRATIONS.length) throw newer(known)
  if (known === MIGRATIONS.length) return
  const steps = MIGRATIONS.map(
    (statements, index) =>
      `IF done < ${index + 1} THEN ${statements(s)
        .map(statement => `EXECUTE $step$${statement}$step$;`)
        .join('\n')} INSERT INTO ${s}.schema_versions VALUES (${index + 1}); END IF;`,
  )
  // One statement is one transaction, behind poolers too.
  await driver.query(
    `DO $migrate$ DECLARE done int; BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('servable schema ${schema}', 0));
      CREATE SCHEMA IF NOT EXISTS ${s};
      CREATE TABLE IF NOT EXISTS ${s}.schema_versions (version int NOT NULL);
      SELECT coalesce(max(version), 0) INTO done FROM ${s}.schema_versions;
      ${steps.join('\n')}
    END $migrate$`,
    [],
  )
}

async function versionOf(driver: PostgresDriver, s: string): Promise<number> {
  const [found] = await driver.query('SELECT to_regclass($1::text) IS NOT NULL AS is', [
    `${s}.schema_versions`,
  ])
  if (found?.is !== true) return 0
  const [row] = await driver.query(
    `SELECT coalesce(max(version), 0) AS version FROM ${s}.schema_versions`,
    [],
  )
  return Number(row?.version)
}

function newer(version: number): ServableError {
  return new ServableError(
    'invalid_options',
    `postgresState: a newer version of servable has written the schema (it is ${version}, and this version knows ${MIGRATIONS.length}). ` +
      'Start the newer version again, or give `schema` a new name',
  )
}
