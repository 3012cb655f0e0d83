/**
 * How a run's record ends, and how long it is kept.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunResult } from '../../agents/contract.ts'
import { Fold } from '../../agents/fold.ts'
import { readLog } from '../../stores/read-log.ts'
import type { Retention } from '../../stores/state.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { FEEDBACK } from '../feedback.ts'
import type { FileStorage } from '../files.ts'
import type { RunNotices } from '../notices.ts'
import type { RunNumbers } from '../numbers.ts'
import { dropWaiting, type Notes, putWaiting, type Waiting } from '../waiting/waiting.ts'
import type { HostSettings } from './host.ts'
import { endJournal, forgetJournal } from './journal.ts'
import { ended, KEYS, RESULTS, RUNNING, RUNS, type StoredRun, toDocument } from './record.ts'
import type { Retained } from './retention-of.ts'

/** A run with an idempotency key is kept at least this long, whatever the count. */
const KEYED_MIN_MS = 60 * 60 * 1000

/** Milliseconds for which what has ended is kept: as long as its own retention says, and the state's; at least `leastMs`. */
export function keepMsOf(
  what: Retained,
  { retentionMs, retentionOf = () => retentionMs }: Pick<HostSettings, 'retentionMs' | 'retentionOf'>,
  { maxAgeMs = Number.POSITIVE_INFINITY }: Retention,
  leastMs = 0,
): number {
  return Math.min(Math.max(retentionOf(what), leastMs), maxAgeMs)
}

/** What says how long runs are kept. */
export interface Keeping {
  readonly settings: HostSettings
  readonly retention: Retention
}

/** The same of a run: once it has ended, or while it waits for answers. */
export function runKeepMsOf(
  { kind, name, owner }: Retained,
  { settings, retention }: Keeping,
  isWaiting = false,
): number {
  const what = { kind, name, owner }
  const keepMs = keepMsOf(what, settings, retention)
  if (!isWaiting) return keepMs
  const { waitingMs = 0, approvals } = settings
  // One that expires says so for as long as any other that has ended.
  const expiringMs = approvals === undefined ? 0 : approvals.expiresMs + keepMs
  return keepMsOf(what, settings, retention, Math.max(waitingMs, expiringMs))
}

/** Most runs that one sweep looks at. */
const SWEEP_LIMIT = 1000

/** The last event of a run and what comes of it. */
export interface RunEnd {
  readonly event: FinishEvent | ErrorEvent
  readonly json: string
  readonly result: RunResult | undefined
  readonly keepMs: number
  /** What the run waits for, if it does. */
  readonly waiting?: Waiting | undefined
  /** Who writes it: only the worker of the run may. Absent: that worker is gone. */
  readonly instance?: string | undefined
  /** Its owner may let it go on. */
  readonly resumable?: boolean | undefined
  /** What is kept of its work stays, since the store is emptied when the run leaves. */
  readonly keepsJournal?: boolean | undefined
  readonly approvals?: Notes | undefined
  readonly notices?: RunNotices | undefined
  /** What the run took and used, if the service measures runs. */
  readonly numbers?: RunNumbers | undefined
}

/** Seals the log of a running run and updates its record; false, and nothing is written, where it has ended before. */
export function sealRun(
  tx: Transaction,
  id: string,
  {
    event,
    json,
    result,
    keepMs,
    waiting,
    approvals,
    notices,
    instance,
    numbers,
    resumable = false,
    keepsJournal = false,
  }: RunEnd,
): boolean {
  const stored = tx.get<StoredRun>(RUNS, id)?.value
  // It was deleted by someone who thought that nobody worked on it: nothing of it may be left.
  if (stored === undefined) tx.deleteLog(id)
  if (stored?.record.status !== 'running' || (instance ?? stored.instance) !== stored.instance) return false
  if (tx.append(id, json, true) === undefined) return false
  const expiresAt = tx.now + keepMs
  const record = {
    ...ended(stored.record, event),
    ...numbers,
    ...(waiting !== undefined && { waiting: true as const }),
    ...(resumable && { resumable: true as const }),
  }
  const document = toDocument({ ...stored, record }, expiresAt)
  // What someone may still ask for, and what goes on from another run (its answers would start it again), leaves last.
  const isFirst = stored.keyId === null && waiting === undefined && stored.record.continuedFrom === undefined
  tx.put(RUNS, document, { thing: id, leaves: isFirst ? 'first' : 'last' })
  if (result !== undefined) {
    tx.put(RESULTS, { ...document, expiresAt: undefined, tags: {}, value: result }, { thing: id })
  }
  if (waiting !== undefined) putWaiting(tx, id, waiting, { thing: id }, approvals)
  if (!resumable && !keepsJournal) forgetJournal(tx, id, true)
  tx.delete(RUNNING, id)
  notices?.note(tx, { ...stored, record }, { result, requests: waiting?.requests })
  return true
}

/** The result of what a run has told so far, from its log. */
export function foldLog(tx: Reader, id: string): RunResult {
  return foldedLog(tx, id).fold.result({ runId: id, durationMs: 0 })
}

/** What a run has told so far, and the characters of its log. */
export function foldedLog(
  tx: Reader,
  id: string,
  maxLength?: number,
): { readonly fold: Fold; readonly bytes: number; readonly length: number } {
  const fold = new Fold(maxLength)
  let bytes = 0
  let length = 0
  // The log holds what this library wrote into it.
  for (const { data } of readLog(tx, id)) {
    bytes += data.length
    length++
    fold.add(JSON.parse(data) as RunEvent)
  }
  return { fold, bytes, length }
}

/** The collection that says when the runs of a store on other machines were swept. */
const SWEPT = 'swept'

/** Most runs that one sweep of such a store looks at, and milliseconds between two: it is one commit, and others wait for it. */
const SHARED_SWEEP_LIMIT = 200
const SHARED_SWEEP_EVERY_MS = 5000

/** Sweeps for all machines, if nobody has done it a moment ago: of several at once, one does. */
export function sweepForAll(tx: Transaction, retention: Retention, files: FileStorage | undefined): void {
  const last = tx.get(SWEPT, RUNS)?.at ?? Number.NEGATIVE_INFINITY
  if (Math.abs(tx.now - last) < SHARED_SWEEP_EVERY_MS) return
  tx.put(SWEPT, { id: RUNS, partition: '', at: tx.now, tags: {}, value: null })
  sweep(tx, retention, tx.now, files, SHARED_SWEEP_LIMIT)
}

/** Deletes runs whose time has come, then, past the count, the oldest ended ones. */
export function sweep(
  tx: Transaction,
  { maxRuns }: Retention,
  now: number,
  files: FileStorage | undefined,
  limit: number = SWEEP_LIMIT,
): void {
  for (const { value } of tx.expired<StoredRun>(RUNS, now, limit)) forgetRun(tx, value, files)
  if (maxRuns === undefined) return
  // What is left for the next sweep is more than usual once at the most: where the bound was lowered.
  let surplus = Math.min(tx.count(RUNS) - tx.count(RUNNING) - maxRuns, limit)
  if (surplus <= 0) return
  for (const { value } of tx.oldest<StoredRun>(RUNS, surplus + limit)) {
    if (surplus <= 0) return
    if (!mayLeave(value, now)) continue
    forgetRun(tx, value, files)
    surplus--
  }
}

function mayLeave({ record, keyId }: StoredRun, now: number): boolean {
  if (record.status === 'running') return false
  return keyId === null || now - Date.parse(record.updatedAt) >= KEYED_MIN_MS
}

/** Deletes all that is kept of a run. */
export function forgetRun(tx: Transaction, { record, keyId }: StoredRun, files?: FileStorage): undefined {
  files?.forgetIn?.(tx, record.id)
  tx.delete(RUNS, record.id)
  tx.delete(RESULTS, record.id)
  dropWaiting(tx, record.id)
  forgetJournal(tx, record.id)
  tx.delete(FEEDBACK, record.id)
  tx.deleteLog(record.id)
  // Its answers, or its owner, start it once: never again.
  if (record.continuedFrom !== undefined) {
    dropWaiting(tx, record.continuedFrom)
    endJournal(tx, record.continuedFrom)
  }
  if (keyId !== null) tx.delete(KEYS, keyId)
}
