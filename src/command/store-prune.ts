/**
 * `servable store prune`: deletes the expired runs of a database, and joins the pieces of those that have ended.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import type { LocalState } from '../core/local-state.ts'
import { FILE_TRANSACTIONS } from '../features/files/transactions.ts'
import { type Amount, prune } from '../runs/stored/prune.ts'
import { sqliteState } from '../runtimes/sqlite.ts'
import { EXIT, type Options, UsageError } from './service.ts'

/** The database of the command line. Throws {@link UsageError}. */
async function stateOf({ file, url, schema, prepare }: Options): Promise<LocalState> {
  if (file === undefined) {
    if (typeof url !== 'string')
      throw new UsageError('Give --file, a SQLite file, or --url, the address of a PostgreSQL database')
    const { postgresState } = await import('../runtimes/postgres.ts')
    const isPrepared = prepare !== false
    return postgresState({ url, migrate: 'never', max: 2, prepare: isPrepared, schema: schema as string })
  }
  if (typeof file !== 'string' || !existsSync(file)) throw new UsageError(`--file: there is no \`${file}\``)
  return sqliteState({ path: file })
}

const shown = (count: number) => count.toLocaleString('en-US')
const amount = ({ rows, bytes }: Amount) => `${shown(rows)} rows, ${shown(bytes)} bytes`

/** Prunes the database, and prints what that saves. Returns the exit code. */
export async function pruneCommand(options: Options, print: (line: string) => void): Promise<number> {
  const isDry = options.dryRun === true
  const state = await stateOf(options)
  const begin = performance.now()
  try {
    const { deleted, folded, hasMore } = await prune(state.store, {
      isDry,
      forget: (tx, id) => FILE_TRANSACTIONS.writes.forget(tx, id),
    })
    const would = isDry ? 'would be ' : ''
    print(`${shown(deleted.runs)} expired runs ${would}deleted: ${amount(deleted)}`)
    print(`${shown(folded.runs)} ended runs ${would}folded: ${amount(folded)} less`)
    if (hasMore) print('There is more: run the command again')
    const seconds = ((performance.now() - begin) / 1000).toFixed(1)
    print(isDry ? `${seconds} s, nothing was written` : `${seconds} s`)
    return EXIT.ok
  } finally {
    await state.store.close()
  }
}
