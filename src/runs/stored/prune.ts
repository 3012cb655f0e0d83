/**
 * Deletes the runs of a store whose time is over, and folds those whose time has come: what services do where runs begin.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { readLog } from '../../stores/read-log.ts'
import type { Reader, Store, Transaction } from '../../stores/store.ts'
import { FEEDBACK } from '../feedback.ts'
import { WAITING } from '../waiting/waiting.ts'
import { FOLDED, foldable, foldRun } from './folding.ts'
import { JOURNAL, REQUESTS } from './journal.ts'
import { RESULTS, RUNS, type StoredRun } from './record.ts'
import { forgetRun } from './retention.ts'

/** How much is stored. */
export interface Amount {
  /** Documents and entries of logs. */
  readonly rows: number
  /** Bytes of their JSON in UTF-8, without what a database adds to a row. */
  readonly bytes: number
}

/** What was pruned, or would be. */
export interface Pruned {
  readonly deleted: Amount & { readonly runs: number }
  readonly folded: Amount & { readonly runs: number }
  /** Whether there is more than one call prunes. */
  readonly hasMore: boolean
}

/** How to prune. */
export interface PruneOptions {
  /** Whether nothing is written. */
  readonly isDry: boolean
  /** Forgets what else is stored of a run, such as its files. */
  readonly forget?: ((tx: Transaction, id: string) => void) | undefined
}

/** The most runs that one call deletes, and folds. */
const MAX_RUNS = 10_000

/** Thrown to undo what a dry run has written. */
class Undone extends ServableError {
  readonly saved: Amount

  constructor(saved: Amount) {
    super('internal_error', 'Nothing is written')
    this.saved = saved
  }
}

/** Prunes a store, one run in each commit. Throws `state_unavailable`. */
export async function prune(store: Store, { isDry, forget }: PruneOptions): Promise<Pruned> {
  const [expired, due] = await store.read(tx => [
    tx.expired<StoredRun>(RUNS, tx.now, MAX_RUNS).map(({ id }) => id),
    foldable(tx, MAX_RUNS),
  ])
  const isExpired = new Set(expired)
  const each = async (ids: readonly string[], work: (tx: Transaction, id: string) => void) => {
    const sum = { runs: 0, rows: 0, bytes: 0 }
    for (const id of ids) {
      const { rows, bytes } = await saved(store, id, isDry, work)
      if (rows === 0 && bytes === 0) continue
      sum.runs++
      sum.rows += rows
      sum.bytes += bytes
    }
    return sum
  }
  const deleted = await each(expired, (tx, id) => {
    const run = tx.get<StoredRun>(RUNS, id)
    if (run === undefined || (run.expiresAt ?? Number.POSITIVE_INFINITY) > tx.now) return
    forget?.(tx, id)
    forgetRun(tx, run.value)
  })
  const folded = await each(
    due.filter(id => !isExpired.has(id)),
    foldRun,
  )
  return { deleted, folded, hasMore: expired.length === MAX_RUNS || due.length === MAX_RUNS }
}

/** Does the work on a run, and tells what that saves. With `isDry` it is undone. */
async function saved(
  store: Store,
  id: string,
  isDry: boolean,
  work: (tx: Transaction, id: string) => void,
): Promise<Amount> {
  try {
    return await store.write(tx => {
      const before = amountOf(tx, id)
      work(tx, id)
      const after = amountOf(tx, id)
      const amount = { rows: before.rows - after.rows, bytes: before.bytes - after.bytes }
      if (isDry) throw new Undone(amount)
      return amount
    })
  } catch (error) {
    if (error instanceof Undone) return error.saved
    throw error
  }
}

/** What is stored of a run. */
function amountOf(tx: Reader, id: string): Amount {
  const encoder = new TextEncoder()
  let rows = 0
  let bytes = 0
  const add = (text: string) => {
    rows++
    bytes += encoder.encode(text).length
  }
  for (const collection of [RUNS, RESULTS, REQUESTS, WAITING, FOLDED, FEEDBACK]) {
    const document = tx.get(collection, id)
    if (document !== undefined) add(JSON.stringify(document.value))
  }
  for (const { value } of tx.list(JOURNAL, { partition: id, limit: 1_000_000 })) add(JSON.stringify(value))
  for (const { data } of readLog(tx, id)) add(data)
  return { rows, bytes }
}
