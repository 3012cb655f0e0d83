/**
 * State in PostgreSQL, for several machines. Published as `servable/postgres`; needs the package `postgres`.
 *
 * @module
 */

import { type LocalState, localState } from '../core/local-state.ts'
import { postgresDriver } from '../stores/postgres/driver.ts'
import type { Listen } from '../stores/postgres/notifications.ts'
import { DATABASE_URL, isDatabaseUrl, isSchemaName, SCHEMA_NAME, wrong } from '../stores/postgres/schema.ts'
import { postgresStore } from '../stores/postgres/store.ts'
import { type CountRetention, checkRetention } from '../stores/state.ts'
import { closedByLast } from './closed-by-last.ts'

/** The database, and what it retains. */
export interface PostgresStateOptions extends CountRetention {
  /** The address of the database: `postgres://user:password@host/name`. It may be that of a pooler. */
  readonly url: string
  /**
   * The address for one more connection of each process. On it the process listens for the writes of other processes: followers
   * get events within milliseconds, and agents get a cancel. It must not be that of a pooler in transaction mode. Default: none;
   * then followers read four times a second.
   */
  readonly listenUrl?: string | undefined
  /** The schema with all tables. Several deployments may use one database, each with a schema of its own. Default: `servable`. */
  readonly schema?: string | undefined
  /**
   * `auto`: the first use creates the schema, or migrates it to the newest version; the role needs the rights to do so. `never`:
   * run `npx servable store migrate` for that; a schema that is too old is refused. Default: `auto`.
   */
  readonly migrate?: 'auto' | 'never' | undefined
  /** Most connections of this process, besides that of `listenUrl`. Default: 10. */
  readonly max?: number | undefined
  /** `false` for poolers without support for prepared statements, such as PgBouncer before 1.21. Default: true. */
  readonly prepare?: boolean | undefined
  /** TLS: `require` without checking the certificate, `verify-full`, or the options of `tls.connect`. Default: as the address says. */
  readonly ssl?: 'require' | 'verify-full' | boolean | object | undefined
}

/**
 * Keeps state in PostgreSQL 13 or newer, so that several processes share it, on any machines. It connects with `serve`, or at the
 * first request, and disconnects when the last server has closed. Throws `invalid_options`.
 */
export function postgresState(options: PostgresStateOptions): LocalState {
  const { url, listenUrl, schema = 'servable', migrate = 'auto', maxRuns } = checked(options)
  const { max = 10, prepare = true, ssl } = options
  const listen: Listen = listeners =>
    postgresDriver(listenUrl ?? url, { max: 1, prepare: false, ssl, ...listeners })
  const store = postgresStore({
    driver: postgresDriver(url, { max, prepare, ssl }),
    schema,
    listen: listenUrl === undefined ? undefined : listen,
    migrates: migrate === 'auto',
  })
  return localState({
    store,
    retention: { maxRuns },
    isVolatile: false,
    ...closedByLast(() => store.close()),
  })
}

const NAMES = ['url', 'listenUrl', 'schema', 'migrate', 'max', 'prepare', 'ssl', 'maxRuns']

function checked(options: PostgresStateOptions): PostgresStateOptions {
  const given = Object(options) as Partial<PostgresStateOptions>
  const { url, listenUrl, schema, migrate, max, prepare } = given
  const unknown = Object.keys(given).find(name => !NAMES.includes(name))
  if (unknown !== undefined) throw wrong(`\`${unknown}\` is not an option: use ${NAMES.join(', ')}`)
  checkRetention({ maxRuns: given.maxRuns }, wrong)
  if (!isDatabaseUrl(url)) throw wrong(`\`url\` must be ${DATABASE_URL}`)
  if (listenUrl !== undefined && !isDatabaseUrl(listenUrl))
    throw wrong(`\`listenUrl\` must be ${DATABASE_URL}`)
  if (schema !== undefined && !isSchemaName(schema)) throw wrong(`\`schema\` must be ${SCHEMA_NAME}`)
  if (migrate !== undefined && migrate !== 'auto' && migrate !== 'never')
    throw wrong('`migrate` must be `auto` or `never`')
  if (max !== undefined && !(Number.isInteger(max) && max >= 1))
    throw wrong('`max` must be a whole number, 1 or more')
  if (prepare !== undefined && typeof prepare !== 'boolean') throw wrong('`prepare` must be true or false')
  return options
}
