/**
 * What becomes of approvals that nobody decided in time.
 *
 * @module
 */

import type { Answer } from '../agents/contract.ts'
import type { Approvals, Asking } from '../runs/approvals.ts'
import { RESULTS, RUNS, type StoredRun, toDocument } from '../runs/record.ts'
import { ASKING, EXPIRED, openOf, putWaiting, WAITING, type Waiting, waitingIn } from '../runs/waiting.ts'
import type { Reader, Transaction } from '../state/store.ts'

/** Runs or tasks that are looked at in one go. What they ask is small: it stands without their work. */
const AT_ONCE = 1000

/** The runs, or the tasks, of which something has expired. An object has one of them, and no list. */
export function dueIn(tx: Reader, isTask: boolean, isInObject: boolean): readonly string[] {
  if (isInObject) return tx.expired<Waiting>(WAITING, tx.now, 1).map(({ id }) => id)
  const found = tx.expired<Asking>(ASKING, tx.now, AT_ONCE)
  return found.filter(({ value }) => (value.run.isTask === true) === isTask).map(({ id }) => id)
}

/** The answers that deny what is open. */
export function denialsOf(waiting: Waiting): Answer[] {
  const open = openOf(waiting).filter(({ kind }) => kind === 'approval')
  return open.map(({ id }) => ({ id, decision: 'deny', reason: EXPIRED }))
}

/** Fails a run that waits. Its work is deleted; what it asked stays, so that a late answer is told why. */
export function failRun(tx: Transaction, id: string, keepMs: number, approvals: Approvals): void {
  const waiting = waitingIn(tx, id)
  const run = tx.get<StoredRun>(RUNS, id)?.value
  if (waiting === undefined || run?.record.status !== 'input_required') return tx.delete(ASKING, id)
  const { userId, identity } = waiting.options
  const left = {
    ...{ ...waiting, input: '', options: { userId, identity } },
    work: { done: [], answered: [], states: {} },
    hasExpired: true,
  } as const
  putWaiting(tx, id, left, { thing: id }, approvals)
  tx.delete(RESULTS, id)
  const { finishReason: _, ...before } = run.record
  const updatedAt = new Date(tx.now).toISOString()
  const error = { code: 'approval_expired', message: EXPIRED }
  const record = { ...before, updatedAt, status: 'failed', error } as const
  const leaves = run.keyId === null ? 'first' : 'last'
  tx.put(RUNS, toDocument({ ...run, record }, tx.now + keepMs), { thing: id, leaves })
}
