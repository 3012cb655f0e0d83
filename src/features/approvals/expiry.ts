/**
 * When an approval expires, and how its run ends then. `service.ts` (`#expire`) calls it. `runs/stored/local-host.ts` triggers that at
 * each read, at the start and, on a shared store, every second. On Workers the alarm of a run's object triggers it,
 * and for tasks `protocols/a2a/tasks/local-task-host.ts`.
 *
 * @module
 */

import type { Answer } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { RunNotices } from '../../runs/notices.ts'
import { RESULTS, RUNS, type StoredRun, toDocument } from '../../runs/stored/record.ts'
import type { RetentionOf } from '../../runs/stored/retention-of.ts'
import { textOfRun } from '../../runs/stored/searched.ts'
import type { Approvals } from '../../runs/waiting/approvals.ts'
import type { Asking } from '../../runs/waiting/asking.ts'
import { ASKING, openOf, putWaiting, WAITING, type Waiting, waitingIn } from '../../runs/waiting/waiting.ts'
import type { Reader, Transaction } from '../../stores/store.ts'

/** The reason in the answer of an expired approval. */
export const EXPIRED = 'The approval has expired'

/** Milliseconds after which the start of a continued run is tried again. */
const GO_ON_AGAIN_MS = 60_000

/** The time of its next check: `expiresMs` after it began to wait, while an approval is open. */
export function expiryOf(waiting: Waiting, now: number, expiresMs: number): number | undefined {
  const mayExpire = waiting.isGoingOn || openOf(waiting).some(({ kind }) => kind === 'approval')
  if (!mayExpire) return undefined
  return waiting.at === undefined ? now + expiresMs : waiting.expiresAt
}

/** Throws `approval_expired` if it takes no more answers. */
export function checkTime(
  { hasExpired, next, expiresAt = Number.POSITIVE_INFINITY }: Waiting,
  now: number,
): void {
  if (hasExpired || (next === undefined && now >= expiresAt))
    throw new ServableError('approval_expired', EXPIRED)
}

/** Denies the call. The waiting run stays due until the continued run has been started. */
export function denied(after: Waiting, now: number): Waiting {
  if (after.next === undefined) return after
  return { ...after, isGoingOn: true, expiresAt: now + GO_ON_AGAIN_MS }
}

/** Marks the continued run as started. */
export function started(after: Waiting): Waiting {
  return { ...after, isGoingOn: undefined }
}

/** Runs or tasks to check at once. Their requests are small, since they are stored without the work. */
const AT_ONCE = 1000

/** The runs or tasks with expired requests. An object has only one of them, and no list. */
export function dueIn(tx: Reader, isTask: boolean, isInObject: boolean): readonly string[] {
  if (isInObject) return tx.expired<Waiting>(WAITING, tx.now, 1).map(({ id }) => id)
  const found = tx.expired<Asking>(ASKING, tx.now, AT_ONCE)
  return found.filter(({ value }) => (value.run.isTask === true) === isTask).map(({ id }) => id)
}

/** The answers that deny the open approvals. */
export function denialsOf(waiting: Waiting): Answer[] {
  const open = openOf(waiting).filter(({ kind }) => kind === 'approval')
  return open.map(({ id }) => ({ id, decision: 'deny', reason: EXPIRED }))
}

/** Fails a waiting run. Its work is deleted. Its requests stay, so that a late answer gets the reason. */
export function failRun(
  tx: Transaction,
  id: string,
  {
    keepMs,
    notices,
    approvals,
  }: {
    readonly keepMs: RetentionOf
    readonly notices: RunNotices | undefined
    readonly approvals: Approvals
  },
): void {
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
  const { finishReason: _, waiting: __, ...before } = run.record
  const updatedAt = new Date(tx.now).toISOString()
  const error = { code: 'approval_expired', message: EXPIRED }
  const record = { ...before, updatedAt, status: 'failed', error } as const
  const leaves = run.keyId === null ? 'first' : 'last'
  const document = toDocument({ ...run, record }, tx.now + keepMs({ ...run.record, owner: run.owner }))
  tx.put(
    RUNS,
    { ...document, text: textOfRun(tx, record, {}, { input: waiting.input }) },
    { thing: id, leaves },
  )
  notices?.note(tx, { ...run, record }, {})
}
