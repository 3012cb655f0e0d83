/**
 * Writes that another run continues one: after its answers, or when its owner resumes it. Also ends a run that nobody answers any
 * more.
 *
 * @module
 */

import type { Answer, FinishEvent } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import type { ResumedRun, ResumeRequest } from '../stored/host.ts'
import { requestIn, withoutParts, workIn, writeRequest } from '../stored/journal.ts'
import { ended, RUNS, type RunRecord, type RunSummary, type StoredRun, toDocument } from '../stored/record.ts'
import { type RunRetention, runKeepMsOf } from '../stored/retention.ts'
import { textOfRun } from '../stored/searched.ts'
import {
  type AnsweredRun,
  type Answering,
  answered,
  continuedBy,
  keyRequired,
  openOf,
  putWaiting,
  recordIn,
  type Waiting,
  waitingIn,
} from './waiting.ts'

/** Answers for a run. */
export interface GivenAnswers {
  readonly answers: readonly Answer[]
  readonly next: string
  readonly by: Answering
}

/** Stores answers, as documented at `RunHost.answer`. */
export function answerRun(
  tx: Transaction,
  run: StoredRun,
  { answers, next, by }: GivenAnswers,
  keeping: RunRetention,
): AnsweredRun {
  const { id } = run.record
  const { approvals } = keeping.settings
  const before = waitingFor(tx, run, by, keeping)
  const after = answered(before, answers, next, by)
  putWaiting(tx, id, by.change?.(after, tx.now) ?? after, { thing: id }, approvals)
  if (openOf(after).length > 0) return { record: recordIn(tx, run) }
  if (after.next === undefined) return { record: rest(tx, run, keeping) }
  if (before.next === undefined) settle(tx, continuing(run, after.next), keeping)
  const { record } = continuing(run, after.next)
  const { target, input, options, client, usedKey } = after
  // The next run needs the client's key, so it does not start without one.
  if (usedKey && !by.hasKey) return { record }
  const continues = continuedBy(after, id)
  const { webhook } = run
  return { record, next: { id: after.next, target, input, options, client, webhook, continues } }
}

/** Lets an interrupted run go on, as documented at `RunHost.resume`. */
export function resumeRun(
  tx: Transaction,
  run: StoredRun,
  { next, hasKey }: ResumeRequest,
  keeping: RunRetention,
): ResumedRun {
  const { id } = run.record
  const asked = requestIn(tx, id)
  if (run.record.resumable !== true || asked?.resumes !== true) throw notResumable(run.record)
  if (asked.usedKey === true && !hasKey) throw keyRequired()
  const chosen = asked.next ?? next
  const record = { ...run.record, continuedBy: chosen }
  if (asked.next === undefined) {
    writeRequest(tx, id, { ...asked, next: chosen })
    settle(tx, { ...run, record }, keeping)
  }
  const { target, input, options, client } = asked
  const work = withoutParts(workIn(tx, id, asked))
  // The answers to that run's agent still count.
  const answers = asked.continues?.answers ?? []
  const { traceparent } = options
  const continues = { from: id, answers, traceparent, work: { ...work, first: work.first ?? id } }
  return { record, next: { id: chosen, target, input, options, client, webhook: run.webhook, continues } }
}

/** Ends a waiting run that nobody answers any more. */
export function giveUpRun(
  tx: Transaction,
  run: StoredRun | undefined,
  event: FinishEvent,
  keeping: RunRetention,
): void {
  const waiting = run && waitingIn(tx, run.record.id)
  if (!run || !waiting || !recordIn(tx, run).requests) return
  const { id } = run.record
  const { approvals, notices } = keeping.settings
  // Keep it, so that clients that list waiting runs see that it has expired.
  putWaiting(tx, id, { ...waiting, hasExpired: true }, { thing: id }, approvals)
  const over = { ...run, record: ended(run.record, event) }
  settle(tx, over, keeping)
  notices?.note(tx, over, {})
}

/** Returns what a run waits for. Throws `run_ended`, and `approval_expired`. */
function waitingFor(tx: Reader, { record }: StoredRun, by: Answering, { settings }: RunRetention): Waiting {
  const waiting = record.status === 'cancelled' ? undefined : waitingIn(tx, record.id)
  if (waiting !== undefined && by.change === undefined) settings.approvals?.check(waiting, tx.now)
  if (waiting !== undefined && record.status !== 'failed') return waiting
  throw waitsForNothing(record)
}

/** Writes that every request has an answer and that the run waits for its owner's key. Its retention stays the same. */
function rest(tx: Transaction, run: StoredRun, { settings }: RunRetention): RunRecord {
  const record = { ...answeredRecord(run), resumable: true } as const
  const { expiresAt } = tx.get(RUNS, record.id) ?? {}
  const text = textOfRun(tx, record, settings)
  tx.put(RUNS, { ...toDocument({ ...run, record }, expiresAt), text }, { thing: record.id, leaves: 'last' })
  return record
}

/** Writes the record of a run that no longer waits. Its retention begins now. */
function settle(tx: Transaction, run: StoredRun, keeping: RunRetention): void {
  const leaves = run.keyId === null ? 'first' : 'last'
  const document = toDocument(run, tx.now + runKeepMsOf({ ...run.record, owner: run.owner }, keeping))
  const text = textOfRun(tx, run.record, keeping.settings)
  tx.put(RUNS, { ...document, text }, { thing: run.record.id, leaves })
}

function continuing(run: StoredRun, continuedBy: string): StoredRun {
  const { resumable: _, ...record } = answeredRecord(run)
  return { ...run, record: { ...record, continuedBy } }
}

/** The record without `waiting`. */
function answeredRecord({ record: { waiting: _, ...record } }: StoredRun): RunSummary {
  return record
}

function notResumable({ status }: RunSummary): ServableError {
  const text = `The run is ${status} and cannot go on: \`POST /runs/:id/retry\` runs its input again`
  return new ServableError('not_resumable', text)
}

function waitsForNothing({ status }: RunSummary): ServableError {
  return new ServableError('run_ended', `The run is ${status} and waits for no answer`)
}
