/**
 * `servable store`: migrates the schema to the newest version, and checks whether a deployment would work.
 *
 * @module
 */

import { deferred } from '../../base/wake.ts'
import { type PostgresDriver, postgresDriver } from './driver.ts'
import {
  DATABASE_URL,
  isDatabaseUrl,
  isSchemaName,
  MIGRATIONS,
  type Migration,
  migrate,
  prepareMigration,
  quoted,
  SCHEMA_NAME,
  schemaState,
} from './schema.ts'

/** The options of the command line. */
export interface StoreOptions {
  readonly url?: unknown
  readonly listenUrl?: unknown
  readonly schema?: unknown
  readonly prepare?: unknown
}

/** Milliseconds to wait for a notification. */
const NOTIFIED_MS = 5000

/** Runs one action, prints each step on a line, and returns the exit code. Throws for wrong options. */
export async function storeCommand(
  act: string,
  options: StoreOptions,
  print: (line: string) => void,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number> {
  const { url, listenUrl, schema = 'servable', prepare } = options
  if (act !== 'migrate' && act !== 'check')
    throw new Error(`\`store ${act}\` is unknown: use \`store prune\`, \`store migrate\` or \`store check\``)
  if (!isDatabaseUrl(url)) throw new Error(`--url, or DATABASE_URL, must be ${DATABASE_URL}`)
  if (listenUrl !== undefined && !isDatabaseUrl(listenUrl))
    throw new Error(`--listen-url must be ${DATABASE_URL}`)
  if (!isSchemaName(schema)) throw new Error(`--schema must be ${SCHEMA_NAME}`)
  const driver = postgresDriver(url, { max: 1, prepare: prepare !== false, ssl: undefined })
  try {
    const known = { driver, schema, print, migrations }
    return await (act === 'migrate' ? migrated(known) : checked(known, listenUrl))
  } finally {
    await driver.end().catch(() => {})
  }
}

/** The arguments of both actions. */
interface CommandTarget {
  readonly driver: PostgresDriver
  readonly schema: string
  readonly print: (line: string) => void
  readonly migrations: readonly Migration[]
}

async function migrated({ driver, schema, print, migrations }: CommandTarget): Promise<number> {
  const { version } = await schemaState(driver, schema)
  await prepareMigration(driver, schema, migrations)
  await migrate(driver, schema, migrations)
  const isNew = version < migrations.length
  print(
    isNew
      ? `${schema}: version ${version} → ${migrations.length}`
      : `${schema}: version ${version}, nothing to do`,
  )
  return 0
}

async function checked(
  { driver, schema, print, migrations }: CommandTarget,
  listenUrl: string | undefined,
): Promise<number> {
  let wrongs = 0
  const check = (isRight: boolean, what: string, fix: string) => {
    if (!isRight) wrongs++
    print(isRight ? `ok     ${what}` : `wrong  ${what}: ${fix}`)
  }
  const [server] = await driver.query(
    "SELECT current_setting('server_version') AS name, current_setting('server_version_num')::int AS version",
    [],
  )
  check(Number(server?.version) >= 130_000, `PostgreSQL ${server?.name}`, 'use 13 or newer')
  const { version, oldest } = await schemaState(driver, schema)
  check(version >= migrations.length, `schema ${schema}, version ${version}`, 'run `servable store migrate`')
  check(oldest <= migrations.length, 'this version of servable is new enough', 'use a newer one')
  if (version > 0) check(await mayWrite(driver, schema), 'the role may read and write', RIGHTS)
  if (listenUrl !== undefined) {
    check(
      await isNotified(driver, listenUrl, schema),
      'notifications arrive',
      'the address must not be that of a pooler in transaction mode',
    )
  }
  return wrongs === 0 ? 0 : 1
}

const RIGHTS =
  'grant it USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, USAGE on its sequences, EXECUTE on its functions'

async function mayWrite(driver: PostgresDriver, schema: string): Promise<boolean> {
  const s = quoted(schema)
  const tables = ['documents', 'logs', 'entries', 'commits', 'workers'].flatMap(table =>
    ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map(right => `has_table_privilege('${s}.${table}', '${right}')`),
  )
  const [row] = await driver.query(
    `SELECT has_schema_privilege('${schema}', 'USAGE') AND CASE WHEN has_schema_privilege('${schema}', 'USAGE') THEN
      ${tables.join(' AND ')} AND has_sequence_privilege('${s}.versions', 'USAGE') END AS is`,
    [],
  )
  return row?.is === true
}

async function isNotified(driver: PostgresDriver, url: string, schema: string): Promise<boolean> {
  const token = crypto.randomUUID()
  const { promise, resolve } = deferred<boolean>()
  const ear = postgresDriver(url, {
    ...{ max: 1, prepare: false, ssl: undefined },
    onNotify: text => {
      if (text === token) resolve(true)
    },
  })
  const timer = setTimeout(() => resolve(false), NOTIFIED_MS)
  try {
    await ear.query(`LISTEN ${quoted(schema)}`, [])
    await driver.query('SELECT pg_notify($1::text, $2::text)', [schema, token])
    return await promise
  } finally {
    clearTimeout(timer)
    await ear.end().catch(() => {})
  }
}
