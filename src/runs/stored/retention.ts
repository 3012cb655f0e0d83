/**
 * Ends a run's record, and decides how long it is kept.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunInput, RunResult } from '../../agents/contract.ts'
import { Fold } from '../../agents/fold.ts'
import { readLog } from '../../stores/read-log.ts'
import type { Retention } from '../../stores/state.ts'
import type { Document, Reader, Soon, Store, Transaction } from '../../stores/store.ts'
import {
  FEEDBACK,
  type Feedback,
  type FeedbackInput,
  putFeedback,
  type Rating,
  ratingOf,
} from '../feedback.ts'
import type { FileStorage } from '../files.ts'
import type { RunNotices } from '../notices.ts'
import type { RunNumbers } from '../numbers.ts'
import { dropWaiting, type Notes, putWaiting, type Waiting } from '../waiting/waiting.ts'
import { FOLDED, markForFold } from './folding.ts'
import type { HostSettings } from './host.ts'
import { endJournal, forgetJournal } from './journal.ts'
import { ended, KEYS, RESULTS, RUNNING, RUNS, type RunSummary, type StoredRun, toDocument } from './record.ts'
import type { Retained } from './retention-of.ts'
import { textOfRun } from './searched.ts'

/** A run with an idempotency key is kept at least this long, whatever the count. */
const KEYED_MIN_MS = 60 * 60 * 1000

/**
 * Milliseconds for which something ended is kept: the shorter of its own and the state's retention; at least `leastMs` of its
 * own.
 */
export function keepMsOf(
  what: Retained,
  { retentionMs, retentionOf = () => retentionMs }: Pick<HostSettings, 'retentionMs' | 'retentionOf'>,
  { maxAgeMs = Number.POSITIVE_INFINITY }: Retention,
  leastMs = 0,
): number {
  return Math.min(Math.max(retentionOf(what), leastMs), maxAgeMs)
}

/** The settings that decide how long runs are kept. */
export interface RunRetention {
  readonly settings: HostSettings
  readonly retention: Retention
}

/** The retention of a run: once it has ended, or while it waits for answers. */
export function runKeepMsOf(
  { kind, name, owner }: Retained,
  { settings, retention }: RunRetention,
  isWaiting = false,
): number {
  const what = { kind, name, owner }
  const keepMs = keepMsOf(what, settings, retention)
  if (!isWaiting) return keepMs
  const { waitingMs = 0, approvals } = settings
  // A run that expires shows that for as long as any other that has ended.
  const expiringMs = approvals === undefined ? 0 : approvals.expiresMs + keepMs
  return keepMsOf(what, settings, retention, Math.max(waitingMs, expiringMs))
}

/** The most runs that one sweep deletes. */
const SWEEP_LIMIT = 1000

/** The last event of a run with the facts of its end. */
export interface RunEnd {
  readonly event: FinishEvent | ErrorEvent
  readonly json: string
  readonly result: RunResult | undefined
  readonly keepMs: number
  /** What the run waits for, if anything. */
  readonly waiting?: Waiting | undefined
  /** The worker that writes it, which must have the run. Absent if the worker is gone. */
  readonly instance?: string | undefined
  /** Whether its owner may let it go on. */
  readonly resumable?: boolean | undefined
  /** Whether its journal stays, since the store is emptied when the run is deleted. */
  readonly keepsJournal?: boolean | undefined
  /** The most entries that its journal has, if this is known. */
  readonly journal?: number | undefined
  readonly approvals?: Notes | undefined
  readonly notices?: RunNotices | undefined
  /** The numbers of the run, if the service measures runs. */
  readonly numbers?: RunNumbers | undefined
  /** The bytes of its log, if it may be folded, and after how many milliseconds. */
  readonly bytes?: number | undefined
  readonly piecesMs?: number | undefined
  /** What the text of the run is made of, and whether it has one. */
  readonly searched?: (Pick<HostSettings, 'hasTexts'> & { readonly input?: RunInput | undefined }) | undefined
}

/**
 * Seals the log of a running run and updates its record, which it returns. Returns undefined, without writing, if it has ended
 * before.
 */
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
    journal,
    bytes = 0,
    piecesMs,
    searched = {},
  }: RunEnd,
): RunSummary | undefined {
  const stored = tx.get<StoredRun>(RUNS, id)?.value
  // The run was deleted by a process that thought its worker dead, so delete its log too.
  if (stored === undefined) tx.deleteLog(id)
  if (stored?.record.status !== 'running' || (instance ?? stored.instance) !== stored.instance)
    return undefined
  if (tx.append(id, json, true) === undefined) return undefined
  const expiresAt = tx.now + keepMs
  const record = {
    ...ended(stored.record, event),
    ...numbers,
    ...(waiting !== undefined && { waiting: true as const }),
    ...(resumable && { resumable: true as const }),
  }
  const document = toDocument({ ...stored, record }, expiresAt)
  const text = textOfRun(tx, record, searched, {
    input: searched.input ?? waiting?.input,
    result: result ?? null,
  })
  tx.put(RUNS, { ...document, text }, { thing: id, leaves: leavesOf({ ...stored, record }) })
  if (result !== undefined) {
    tx.put(RESULTS, { ...document, expiresAt: undefined, tags: {}, value: result }, { thing: id })
  }
  markForFold(tx, id, bytes, piecesMs)
  if (waiting !== undefined) putWaiting(tx, id, waiting, { thing: id }, approvals)
  if (!resumable && !keepsJournal) forgetJournal(tx, id, { keepsAsked: true, entries: journal })
  tx.delete(RUNNING, id)
  notices?.note(tx, { ...stored, record }, { result, requests: waiting?.requests })
  return record
}

/** Runs that someone may still ask for, and runs that continue another (whose answers would start them again), are evicted last. */
function leavesOf({ keyId, record }: StoredRun): 'first' | 'last' {
  return keyId === null && record.waiting === undefined && record.continuedFrom === undefined
    ? 'first'
    : 'last'
}

/** Writes into the record of a run what was said of it. Its time in lists, and how long it is kept, stay the same. */
export function rateRun(
  tx: Transaction,
  stored: StoredRun,
  feedback: Rating,
  settings: Pick<HostSettings, 'hasTexts'>,
): void {
  const { id } = stored.record
  if (stored.record.feedback === feedback) return
  const run = { ...stored, record: { ...stored.record, feedback } }
  const document = toDocument(run, tx.get(RUNS, id)?.expiresAt)
  const text = textOfRun(tx, run.record, settings)
  tx.put(RUNS, { ...document, text }, { thing: id, leaves: leavesOf(run) })
}

/** Keeps what was said of a run beside it. */
export function sayOfRun(
  tx: Transaction,
  stored: StoredRun,
  given: FeedbackInput,
  settings: Pick<HostSettings, 'hasTexts'>,
): Feedback {
  const { id } = stored.record
  rateRun(tx, stored, ratingOf(given), settings)
  return putFeedback(tx, { id, partition: '' }, given, { thing: id })
}

/** Folds the log of a run, and counts its characters and entries. */
export function foldedLog(
  tx: Reader,
  id: string,
  maxLength?: number,
): { readonly fold: Fold; readonly bytes: number; readonly length: number } {
  const fold = new Fold(maxLength)
  let bytes = 0
  let length = 0
  // The log holds only events that this library wrote.
  for (const { data } of readLog(tx, id)) {
    bytes += data.length
    length++
    fold.add(JSON.parse(data) as RunEvent)
  }
  return { fold, bytes, length }
}

/** The collection with the time of the last sweep of a shared store. */
const SWEPT = 'swept'

/**
 * The most runs that one sweep of a shared store reads, and the milliseconds between two sweeps: each is one commit that others
 * wait for.
 */
const SHARED_SWEEP_LIMIT = 200
const SHARED_SWEEP_EVERY_MS = 5000

/** Sweeps for all machines, unless one of them did it a moment ago. Of several at once, one sweeps. */
function sweepForAll(tx: Transaction, maxRuns: number, files: FileStorage | undefined): void {
  const last = tx.get(SWEPT, RUNS)?.at ?? Number.NEGATIVE_INFINITY
  if (Math.abs(tx.now - last) < SHARED_SWEEP_EVERY_MS) return
  tx.put(SWEPT, { id: RUNS, partition: '', at: tx.now, tags: {}, value: null })
  sweep(tx, maxRuns, files, SHARED_SWEEP_LIMIT)
}

/** Deletes runs past the count: those that have expired, and then the oldest ended ones. */
function sweep(
  tx: Transaction,
  maxRuns: number,
  files: FileStorage | undefined,
  limit: number = SWEEP_LIMIT,
): void {
  // Sweeps leave more than usual behind only after the limit was lowered.
  let surplus = Math.min(tx.count(RUNS) - tx.count(RUNNING) - maxRuns, limit)
  if (surplus <= 0) return
  const forget = ({ value }: Document<StoredRun>) => {
    forgetRun(tx, value, files)
    surplus--
  }
  tx.expired<StoredRun>(RUNS, tx.now, surplus).forEach(forget)
  for (const run of tx.oldest<StoredRun>(RUNS, surplus + limit)) {
    if (surplus <= 0) return
    if (mayLeave(run.value, tx.now)) forget(run)
  }
}

function mayLeave({ record, keyId }: StoredRun, now: number): boolean {
  if (record.status === 'running') return false
  return keyId === null || now - Date.parse(record.updatedAt) >= KEYED_MIN_MS
}

/** Deletes everything that is stored of a run. */
export function forgetRun(tx: Transaction, { record, keyId }: StoredRun, files?: FileStorage): undefined {
  files?.forgetIn?.(tx, record.id)
  tx.delete(RUNS, record.id)
  tx.delete(RESULTS, record.id)
  tx.delete(FOLDED, record.id)
  dropWaiting(tx, record.id)
  forgetJournal(tx, record.id)
  tx.delete(FEEDBACK, record.id)
  tx.deleteLog(record.id)
  // The answers to the earlier run, or its owner, may start it only once.
  if (record.continuedFrom !== undefined) {
    dropWaiting(tx, record.continuedFrom)
    endJournal(tx, record.continuedFrom)
  }
  if (keyId !== null) tx.delete(KEYS, keyId)
}

/** The shortest time between two sweeps, in milliseconds. */
const SWEEP_EVERY_MS = 60_000

/** The number of runs after which a sweep does not wait for that. So many may be kept past the count. */
const SWEEP_EVERY_RUNS = 100

/** Milliseconds that a sweep may take on a remote store. */
const SWEEP_PATIENCE_MS = 30_000

/**
 * Makes the function that deletes runs past the count if it is time. Call it where a run begins: no timer does. What has expired is
 * deleted by the alarm.
 */
export function createSweeper(
  store: Store,
  { maxRuns }: Retention,
  settings: Pick<HostSettings, 'files' | 'alarm'>,
): () => Soon<void> {
  let sweptAt = 0
  let begun = 0
  const forget = (tx: Transaction, _: string, id: string) => {
    const run = tx.get<StoredRun>(RUNS, id)
    if (run !== undefined) forgetRun(tx, run.value, settings.files)
  }
  settings.alarm?.add({ expiring: [RUNS], forget })
  return () => {
    const now = Date.now()
    const isMany = ++begun >= SWEEP_EVERY_RUNS
    // The clock may have been set back since then.
    if (Math.abs(now - sweptAt) < SWEEP_EVERY_MS && !isMany) return
    sweptAt = now
    begun = 0
    // Many runs need the room of what has expired earlier than the alarm makes it.
    if (isMany) settings.alarm?.lookNow()
    if (maxRuns === undefined) return
    const { files } = settings
    if (!store.isRemote) return store.write(tx => sweep(tx, maxRuns, files))
    const swept = store.write(tx => sweepForAll(tx, maxRuns, files), SWEEP_PATIENCE_MS)
    // Nobody waits for it. The next sweep deletes what is left.
    void Promise.resolve(swept).catch(() => {})
  }
}
