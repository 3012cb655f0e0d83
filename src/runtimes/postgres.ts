/**
 * State in PostgreSQL, for several machines.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../errors.ts'
import { type LocalState, localState } from '../runs/local-state.ts'
import { count, flag } from '../schemas.ts'
import { checkRetention, type Retention } from '../state/state.ts'
import { validate } from '../validation.ts'
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

const OptionsSchema = v.strictObject({
  url: v.pipe(v.string(), v.regex(/^postgres(ql)?:\/\//, 'must begin with `postgres://`')),
  schema: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z_][a-z\d_]{0,62}$/, 'must be a name of a-z, 0-9 and _')),
  ),
  max: v.optional(count),
  prepare: v.optional(flag),
  ssl: v.optional(v.unknown()),
  maxRuns: v.optional(v.unknown()),
  maxAgeMs: v.optional(v.unknown()),
})

/** Keeps state in PostgreSQL. Throws `invalid_options`. */
export function postgresState(options: PostgresStateOptions): LocalState {
  validate(OptionsSchema, options, 'invalid_options', 'postgresState')
  const { url, schema = 'servable', max = 10, prepare = true, ssl, maxRuns, maxAgeMs } = options
  const retention = { maxRuns, maxAgeMs }
  checkRetention(retention, what => new ServableError('invalid_options', `postgresState: ${what}`))
  const store = postgresStore(postgresDriver(url, { max, prepare, ssl }), schema)
  return localState({ store, retention, isVolatile: false })
}
