/**
 * What is written of a run that another one goes on from: once it is answered, or its owner lets it go on. And of one that nobody
 * answers any more.
 *
 * @module
 */

import type { Answer, FinishEvent } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import type { ResumedRun, ResumeRequest } from '../stored/host.ts'
import { askedIn, withoutParts, workIn, writeAsked } from '../stored/journal.ts'
import { ended, RUNS, type RunRecord, type RunSummary, type StoredRun, toDocument } from '../stored/record.ts'
import { type Keeping, runKeepMsOf } from '../stored/retention.ts'
import {
  type AnsweredBy,
  type AnsweredRun,
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
  readonly by: AnsweredBy
}

/** Keeps answers, as `RunHost.answer` says. */
export function answerRun(
  tx: Transaction,
  run: StoredRun,
  { answers, next, by }: GivenAnswers,
  keeping: Keeping,
): AnsweredRun {
  const { id } = run.record
  const { approvals } = keeping.settings
  const before = waitingFor(tx, run, by, keeping)
  const after = answered(before, answers, next, by)
  putWaiting(tx, id, by.change?.(after, tx.now) ?? after, { thing: id }, approvals)
  if (openOf(after).length > 0) return { record: recordIn(tx, run) }
  if (after.next === undefined) return { record: rest(tx, run) }
  if (before.next === undefined) settle(tx, continuing(run, after.next), keeping)
  const { record } = continuing(run, after.next)
  const { target, input, options, client, usedKey } = after
  // Nobody starts it without the key that it needs.
  if (usedKey && !by.hasKey) return { record }
  const continues = continuedBy(after, id)
  const { webhook } = run
  return { record, next: { id: after.next, target, input, options, client, webhook, continues } }
}

/** Lets an interrupted run go on, as `RunHost.resume` says. */
export function resumeRun(
  tx: Transaction,
  run: StoredRun,
  { next, hasKey }: ResumeRequest,
  keeping: Keeping,
): ResumedRun {
  const { id } = run.record
  const asked = askedIn(tx, id)
  if (run.record.resumable !== true || asked?.resumes !== true) throw notResumable(run.record)
  if (asked.usedKey === true && !hasKey) throw keyRequired()
  const chosen = asked.next ?? next
  const record = { ...run.record, continuedBy: chosen }
  if (asked.next === undefined) {
    writeAsked(tx, id, { ...asked, next: chosen })
    settle(tx, { ...run, record }, keeping)
  }
  const { target, input, options, client } = asked
  const work = withoutParts(workIn(tx, id, asked))
  // What an agent asked before that run is answered still.
  const answers = asked.continues?.answers ?? []
  const { traceparent } = options
  const continues = { from: id, answers, traceparent, work: { ...work, first: work.first ?? id } }
  return { record, next: { id: chosen, target, input, options, client, webhook: run.webhook, continues } }
}

/** Ends a run that still waits: nobody answers it. */
export function giveUpRun(
  tx: Transaction,
  run: StoredRun | undefined,
  event: FinishEvent,
  keeping: Keeping,
): void {
  const waiting = run && waitingIn(tx, run.record.id)
  if (!run || !waiting || !recordIn(tx, run).requests) return
  const { id } = run.record
  const { approvals, notices } = keeping.settings
  // It stays, so that whoever lists what waits is told.
  putWaiting(tx, id, { ...waiting, hasExpired: true }, { thing: id }, approvals)
  const over = { ...run, record: ended(run.record, event) }
  settle(tx, over, keeping)
  notices?.note(tx, over, {})
}

/** What a run waits for. Throws `run_ended`, and `approval_expired`. */
function waitingFor(tx: Reader, { record }: StoredRun, by: AnsweredBy, { settings }: Keeping): Waiting {
  const waiting = record.status === 'cancelled' ? undefined : waitingIn(tx, record.id)
  if (waiting !== undefined && by.change === undefined) settings.approvals?.check(waiting, tx.now)
  if (waiting !== undefined && record.status !== 'failed') return waiting
  throw waitsForNothing(record)
}

/** Writes that all is answered, and that the run waits for its owner's key. It is kept as long as before. */
function rest(tx: Transaction, run: StoredRun): RunRecord {
  const record = { ...answeredRecord(run), resumable: true } as const
  const { expiresAt } = tx.get(RUNS, record.id) ?? {}
  tx.put(RUNS, toDocument({ ...run, record }, expiresAt), { thing: record.id, leaves: 'last' })
  return record
}

/** Writes the record of a run that waits no more. It is kept as long as any other from now on. */
function settle(tx: Transaction, run: StoredRun, keeping: Keeping): void {
  const leaves = run.keyId === null ? 'first' : 'last'
  tx.put(RUNS, toDocument(run, tx.now + runKeepMsOf({ ...run.record, owner: run.owner }, keeping)), {
    thing: run.record.id,
    leaves,
  })
}

function continuing(run: StoredRun, continuedBy: string): StoredRun {
  const { resumable: _, ...record } = answeredRecord(run)
  return { ...run, record: { ...record, continuedBy } }
}

/** It waits for nothing more. */
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
