/**
 * State in PostgreSQL, for several machines.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { type LocalState, localState } from '../runs/local-state.ts'
import { checkRetention, type Retention } from '../state/state.ts'
import { postgresDriver } from './postgres/driver.ts'
import { postgresStore } from './postgres/store.ts'

/** The database, and how much it keeps. */
export interface PostgresStateOptions extends Retention {
  /** The address of the database: `postgres://user:password@host/name`. */
  readonly url: string
  /** The schema that has all tables. Several deployments may use one database, each with a schema of its own. Default: `servable`. */
  readonly schema?: string | undefined
  /** Most connections of this process. Default: 10. */
  readonly max?: number | undefined
  /** `false` for poolers that do not know prepared statements. Default: true. */
  readonly prepare?: boolean | undefined
  /** As the package `postgres` has it. Default: as the address says. */
  readonly ssl?: 'require' | 'verify-full' | boolean | object | undefined
}

/**
 * Keeps state in PostgreSQL, so that several processes share it, on any machines. The schema is made, or brought to the newest version,
 * at the first use. Throws `invalid_options`.
 */
export function postgresState(options: PostgresStateOptions): LocalState {
  const { url, schema = 'servable', max = 10, prepare = true, ssl, maxRuns, maxAgeMs } = checked(options)
  const store = postgresStore(postgresDriver(url, { max, prepare, ssl }), schema)
  return localState({ store, retention: { maxRuns, maxAgeMs }, isVolatile: false })
}

const NAMES = ['url', 'schema', 'max', 'prepare', 'ssl', 'maxRuns', 'maxAgeMs']

function checked(options: PostgresStateOptions): PostgresStateOptions {
  const { url, schema, max, prepare, ...others } = Object(options) as Partial<PostgresStateOptions>
  const unknown = Object.keys(others).find(name => !NAMES.includes(name))
  if (unknown !== undefined) throw wrong(`\`${unknown}\` is not an option: use ${NAMES.join(', ')}`)
  checkRetention(others, wrong)
  if (!/^postgres(ql)?:\/\//.test(String(url)))
    throw wrong('`url` must begin with `postgres://`: is a variable missing?')
  if (schema !== undefined && !/^[a-z_][a-z\d_]{0,62}$/.test(schema))
    throw wrong('`schema` must be a name of a-z, 0-9 and _, of at most 63 characters')
  if (max !== undefined && !(Number.isInteger(max) && max >= 1))
    throw wrong('`max` must be a whole number, 1 or more')
  if (prepare !== undefined && typeof prepare !== 'boolean') throw wrong('`prepare` must be true or false')
  return options
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `postgresState: ${what}`)
}
