/**
 * The tables: {@link MIGRATIONS}. Their indices are in `indices.ts`, the functions that read and write them in `functions.ts` and
 * `commit.ts`. All are in a schema of their own, and every statement names it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { leanFunction } from './commit.ts'
import type { PostgresDriver } from './driver.ts'
import {
  BY_INDEX,
  commitFunction1,
  commitFunction2,
  lookFunction,
  lookFunctionByIndex,
  watchFunction,
} from './functions.ts'
import { earlyIndices, firstIndices, replaceIndices } from './indices.ts'

/** The rule for the name of a schema. */
export const SCHEMA_NAME =
  'a name of a-z, 0-9 and _, of at most 63 characters, which does not begin with `pg_`'

/** Whether a schema may have the name. It is put into statements unescaped. */
export function isSchemaName(name: unknown): name is string {
  return typeof name === 'string' && /^(?!pg_)[a-z_][a-z\d_]{0,62}$/.test(name)
}

/** The rule for the address of a database. The address may contain a password, so no error repeats it. */
export const DATABASE_URL = 'an address that begins with `postgres://`: is a variable missing?'

/** Whether it is the address of a database. */
export function isDatabaseUrl(url: unknown): url is string {
  return typeof url === 'string' && /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)
}

/** The error for an option. */
export function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `postgresState: ${what}`)
}

/** A quoted identifier. */
export function quoted(schema: string): string {
  return `"${schema}"`
}

/** One version of the schema. */
export interface Migration {
  readonly statements: (s: string) => readonly string[]
  /**
   * What may be done before, while older processes work: each of these is a transaction of its own. The statements of the version do what
   * is not done.
   */
  readonly early?: (s: string) => readonly string[]
  /** The oldest version whose processes can still use this schema, so that they continue while a newer version is deployed. */
  readonly oldest: number
}

/**
 * The versions of the schema. A released one never changes. Columns and functions are only added, and a changed function gets a
 * new name, so that older processes continue to work.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    statements: s => [
      `CREATE SEQUENCE ${s}.versions`,
      `CREATE TABLE ${s}.documents (
        collection text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        partition text COLLATE "C" NOT NULL,
        at float8 NOT NULL,
        expires float8,
        tags jsonb NOT NULL,
        value text NOT NULL,
        version bigint NOT NULL,
        PRIMARY KEY (collection, id)
      )`,
      ...firstIndices(s),
      `CREATE TABLE ${s}.logs (
        log text COLLATE "C" PRIMARY KEY,
        version bigint NOT NULL,
        last bigint NOT NULL,
        sealed boolean NOT NULL,
        watched timestamptz
      ) WITH (fillfactor = 50)`,
      `CREATE TABLE ${s}.entries (
        log text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        data text NOT NULL,
        PRIMARY KEY (log, seq)
      )`,
      `CREATE TABLE ${s}.commits (id uuid PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`,
      `CREATE INDEX commits_by_age ON ${s}.commits (at)`,
      `CREATE TABLE ${s}.workers (
        instance text PRIMARY KEY,
        seen timestamptz NOT NULL,
        suspected timestamptz,
        gone timestamptz
      )`,
      `CREATE INDEX workers_by_end ON ${s}.workers (gone)`,
      lookFunction(s),
      commitFunction1(s),
      watchFunction(s),
    ],
  },
  {
    // Processes of version 1 go on: they use `commit_1`, whose rows in `commits` have no version.
    oldest: 1,
    statements: s => [
      `ALTER TABLE ${s}.commits ADD COLUMN version bigint`,
      commitFunction2(s),
      leanFunction(s, BY_INDEX),
    ],
  },
  {
    // Processes of older versions go on: `look_1` answers the same, and their other queries find indices as good. Commits of any version
    // no longer write over what a lean one has just inserted.
    oldest: 1,
    statements: s => [
      ...replaceIndices(s),
      ...[lookFunctionByIndex(s), commitFunction1(s), commitFunction2(s)].map(orReplaced),
    ],
    early: earlyIndices,
  },
]

/** The statement for a function that may exist. */
function orReplaced(created: string): string {
  return created.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
}

/** Milliseconds for a migration: another process may be migrating, and indexing a large table takes time. */
const MIGRATE_MS = 60_000

/** The state of a schema. */
interface SchemaState {
  /** Its version; 0 if it does not exist. */
  readonly version: number
  /** The oldest version that still works with it. */
  readonly oldest: number
}

/** Reads the state of a schema without changing it. */
export async function schemaState(driver: PostgresDriver, schema: string): Promise<SchemaState> {
  const s = quoted(schema)
  const [found] = await driver.query('SELECT to_regclass($1::text) IS NOT NULL AS is', [
    `${s}.schema_versions`,
  ])
  if (found?.is !== true) return { version: 0, oldest: 0 }
  const [row] = await driver.query(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest), 0) AS oldest FROM ${s}.schema_versions`,
    [],
  )
  return { version: Number(row?.version), oldest: Number(row?.oldest) }
}

/**
 * Migrates the schema to the newest version. One process does it while others wait. The role needs `CREATE` on the database for a
 * new schema, and must own the schema for a newer version. Throws `invalid_options`.
 */
export async function migrate(
  driver: PostgresDriver,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  if (isCurrent(await schemaState(driver, schema), migrations.length)) return
  const s = quoted(schema)
  const steps = migrations.map(({ statements, oldest }, index) => {
    const written = statements(s).map(statement => `EXECUTE $step$${statement}$step$;`)
    return `IF done < ${index + 1} THEN
      ${written.join('\n')}
      INSERT INTO ${s}.schema_versions VALUES (${index + 1}, ${oldest});
    END IF;`
  })
  // One statement is one transaction, even behind poolers.
  await driver.query(
    `DO $migrate$ DECLARE done int; BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('servable schema ${schema}', 0));
      IF to_regnamespace('${s}') IS NULL THEN CREATE SCHEMA ${s}; END IF;
      CREATE TABLE IF NOT EXISTS ${s}.schema_versions (version int NOT NULL, oldest int NOT NULL);
      SELECT coalesce(max(version), 0) INTO done FROM ${s}.schema_versions;
      ${steps.join('\n')}
    END $migrate$`,
    [],
    { timeoutMs: MIGRATE_MS },
  )
}

/** Milliseconds for a statement that runs before a migration. It locks nothing that others need. */
const EARLY_MS = 60 * 60 * 1000

/** Does what needs no lock before a migration, so that the migration locks the tables for a moment only. Throws what the database does. */
export async function prepareMigration(
  driver: PostgresDriver,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const { version } = await schemaState(driver, schema)
  // A new schema has no rows yet.
  if (version === 0) return
  for (const { early } of migrations.slice(version)) {
    for (const statement of early?.(quoted(schema)) ?? [])
      await driver.query(statement, [], { timeoutMs: EARLY_MS })
  }
}

/** Throws `invalid_options` if this version cannot use the schema. */
export async function checkSchema(
  driver: PostgresDriver,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const state = await schemaState(driver, schema)
  if (isCurrent(state, migrations.length)) return
  throw wrong(
    `the schema \`${schema}\` has version ${state.version}, and this version of servable needs ${migrations.length}. ` +
      'Run `npx servable store migrate` with a role that may change it',
  )
}

/**
 * Whether this version can use the schema. It can use a newer one, unless that schema's `oldest` forbids it. Throws
 * `invalid_options`.
 */
function isCurrent({ version, oldest }: SchemaState, own: number): boolean {
  if (oldest <= own) return version >= own
  throw wrong(
    `a newer version of servable has written the schema: it needs version ${oldest}, and this one knows ${own}. ` +
      'Start the newer version again, or give `schema` a new name',
  )
}
