/**
 * SQLite through `node:sqlite`, on Node, Bun and Deno.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { type LocalState, localState } from '../core/local-state.ts'
import type { Synchronous } from '../stores/sqlite/driver.ts'
import { sqliteModule } from '../stores/sqlite/module.ts'
import { sqliteStore } from '../stores/sqlite/store.ts'
import { type CountRetention, checkRetention } from '../stores/state.ts'
import { closedByLast } from './closed-by-last.ts'

export { openDatabase } from '../stores/sqlite/driver.ts'

/** The database file, and what it retains. */
export interface SqliteStateOptions extends CountRetention {
  /**
   * The database file. It is created if it does not exist; its folder must exist. While the file is open, there are a `-wal`
   * file, a `-shm` file and one lock file for each process beside it. A process that ends normally leaves none of them.
   */
  readonly path: string
  /**
   * When a commit reaches the disk. `full`: before it counts, so a power cut loses nothing. `normal`: some time after it, so a power
   * cut may lose the newest commits. Neither loses anything if the process dies. Default: `normal`.
   */
  readonly synchronous?: Synchronous | undefined
}

/**
 * Keeps state in a SQLite file, so that it outlives the process. Several processes of one machine may share the file. At the
 * next start, runs that a dead process left unfinished fail with `interrupted`, and keep their events. By default, each run's
 * own retention counts.
 *
 * The file opens with `serve`, or with the first request. If it cannot be opened, `serve` rejects with `invalid_options`,
 * which names the file and the fix. A handler without `serve` logs `state.failed`, answers requests that need the state with
 * 500 and `GET /health` with 503, and tries again with the next request. Throws `invalid_options` if the runtime has no
 * `node:sqlite`.
 *
 * @example
 * createHandler({ agents, state: sqliteState({ path: 'servable.db' }) })
 */
export function sqliteState(options: SqliteStateOptions): LocalState {
  const { path, maxRuns, synchronous } = checked(options)
  sqliteModule()
  const store = sqliteStore(path, synchronous)
  return localState({
    store,
    retention: { maxRuns },
    isVolatile: false,
    // A database in memory would be lost if it closed.
    ...(store.isShared && closedByLast(() => store.close())),
  })
}

function checked(options: SqliteStateOptions): SqliteStateOptions {
  const { path, maxRuns, synchronous, ...others } = Object(options) as Partial<SqliteStateOptions>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw wrong(`\`${unknown}\` is not an option: use \`path\`, \`maxRuns\` and \`synchronous\``)
  }
  checkRetention({ maxRuns }, wrong)
  if (synchronous !== undefined && synchronous !== 'full' && synchronous !== 'normal')
    throw wrong('`synchronous` must be `full` or `normal`')
  if (typeof path === 'string' && path !== '') return { ...options, path }
  throw wrong('`path` must name a file, such as `servable.db`')
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `sqliteState: ${what}`)
}
