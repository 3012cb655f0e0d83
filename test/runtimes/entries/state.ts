/** The state of a server under test. */
import process from 'node:process'
import type { LocalState } from '../../../src/core/local-state.ts'
import { memoryState } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'

/**
 * In memory without a place. In PostgreSQL where it is an address, in the schema SCHEMA; others are heard at the address LISTEN. SSL has
 * its option as JSON, and MIGRATE that option. Else in the SQLite file of that path.
 */
export async function stateAt(place: string | undefined): Promise<LocalState> {
  if (place === undefined) return memoryState()
  if (!place.startsWith('postgres://')) return sqliteState({ path: place })
  const { postgresState } = await import('../../../src/runtimes/postgres.ts')
  const { SCHEMA: schema, LISTEN: listenUrl, MAX, PREPARE, SSL, MIGRATE } = process.env
  return postgresState({
    url: place,
    schema,
    listenUrl,
    max: MAX === undefined ? undefined : Number(MAX),
    prepare: PREPARE === undefined ? undefined : PREPARE === 'true',
    ssl: SSL === undefined ? undefined : JSON.parse(SSL),
    migrate: MIGRATE as 'auto' | 'never' | undefined,
  })
}
