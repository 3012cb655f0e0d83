/**
 * The stored schedules. Each is a document that expires when the schedule is due, so the index finds due ones, however many
 * schedules there are.
 *
 * @module
 */

import { MAX_DEATHS, restAfter } from '../../stores/deaths.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import type { Rule } from './cron.ts'

/** The documents of schedules, by name. */
export const SCHEDULES = 'schedules'

/** The document with the version of the code whose schedules are stored. */
const CODE = 'schedules_code'

/** A tick whose run the claiming process starts. */
export interface TickClaim {
  readonly tickAt: number
  readonly claimedAt: number
  /** After this time another process may start the run. */
  readonly until: number
  /** The number of failed starts. */
  readonly failures: number
  /** Number of starts in a row that began and have no result. */
  readonly begun?: number | undefined
}

/** Whether so many starts in a row have crashed that it is given up. */
export function isDeadly({ begun = 0 }: TickClaim): boolean {
  return begun >= MAX_DEATHS
}

/** The run of a tick, or a run that an administrator has started. */
export interface LastRun {
  readonly id: string
  /** The time of its tick, or of its start by hand. */
  readonly at: number
}

/** Why a run could not be started. */
export interface StartError {
  readonly code: string
  readonly message: string
  readonly at: number
}

/** A stored schedule. */
export interface StoredSchedule extends Rule {
  /** The time of the next tick. Absent while it is paused. */
  readonly nextAt?: number | undefined
  readonly isPaused?: true | undefined
  readonly claim?: TickClaim | undefined
  readonly last?: LastRun | undefined
  /** Present until the next successful start. */
  readonly lastError?: StartError | undefined
}

/** A schedule with a due tick or claim. */
export interface Due {
  readonly name: string
  readonly dueAt: number
  readonly kept: StoredSchedule
}

/** The due schedules, and the time of the next check. */
export interface DueSchedules {
  readonly now: number
  readonly due: readonly Due[]
  /** The earliest time of the schedules that are not due yet. */
  readonly soonest: number | undefined
}

/** Reads the due schedules, at most `limit`, the longest overdue first. */
export function readDue(tx: Reader, limit: number): DueSchedules {
  const { now } = tx
  const found = tx.expired<StoredSchedule>(SCHEDULES, Number.MAX_SAFE_INTEGER, limit + 1)
  const all = found.map(({ id: name, expiresAt: dueAt = 0, value: kept }) => ({ name, dueAt, kept }))
  const due = all.filter(({ dueAt }) => dueAt <= now)
  return { now, due: due.slice(0, limit), soonest: all[due.length]?.dueAt ?? all[limit]?.dueAt }
}

/** A tick to claim. */
export interface Want {
  readonly name: string
  /** The schedule as it was read. The claim fails if it has changed since. */
  readonly seen: StoredSchedule
  /** The tick. Undefined if it is skipped. */
  readonly tickAt: number | undefined
  /** The time of the next tick after it. */
  readonly nextAt: number | undefined
  /** Why it is given up. */
  readonly error?: Pick<StartError, 'code' | 'message'> | undefined
  readonly isPaused?: true | undefined
}

/** Milliseconds that a process has to start the run of a claimed tick. */
export const CLAIM_MS = 30_000

/** Claims ticks. Returns the claimed ones. */
export function claimTicks(tx: Transaction, wants: readonly Want[]): Want[] {
  const { now } = tx
  return wants.filter(({ name, seen, tickAt, nextAt, error, isPaused }) => {
    const kept = tx.get<StoredSchedule>(SCHEDULES, name)?.value
    if (kept === undefined || kept.nextAt !== seen.nextAt || kept.claim?.tickAt !== seen.claim?.tickAt)
      return false
    const before = kept.claim?.tickAt === tickAt ? kept.claim : undefined
    const claim = tickAt === undefined ? undefined : claimOf(tickAt, now, before)
    const lastError = error === undefined ? kept.lastError : { ...error, at: now }
    put(tx, name, { ...kept, nextAt, claim, lastError, isPaused: isPaused ?? kept.isPaused })
    return claim !== undefined
  })
}

function claimOf(tickAt: number, now: number, before?: TickClaim): TickClaim {
  const begun = (before?.begun ?? 0) + 1
  return {
    tickAt,
    claimedAt: before?.claimedAt ?? now,
    until: now + CLAIM_MS + restAfter(begun),
    failures: before?.failures ?? 0,
    begun,
  }
}

/** The result of a claimed tick. */
export type TickOutcome = { readonly name: string; readonly tickAt: number } & (
  | { readonly runId: string }
  | { readonly error: Pick<StartError, 'code' | 'message'> }
)

/** Milliseconds until the first retry of a start. Each further delay is twice as long. */
const RETRY_MS = 1000
const MAX_RETRY_MS = 60_000

/** Stores the results of claimed ticks: the run, or the next try. */
export function settleTicks(tx: Transaction, outcomes: readonly TickOutcome[]): void {
  for (const outcome of outcomes) {
    const { name, tickAt } = outcome
    const kept = tx.get<StoredSchedule>(SCHEDULES, name)?.value
    const claim = kept?.claim
    if (kept === undefined || claim?.tickAt !== tickAt) continue
    if ('runId' in outcome) {
      const last = { id: outcome.runId, at: tickAt }
      put(tx, name, { ...kept, claim: undefined, last, lastError: undefined })
      continue
    }
    const until = tx.now + Math.min(RETRY_MS * 2 ** claim.failures, MAX_RETRY_MS)
    const lastError = { ...outcome.error, at: tx.now }
    put(tx, name, { ...kept, claim: { ...claim, until, failures: claim.failures + 1, begun: 0 }, lastError })
  }
}

/** Pauses a schedule, or resumes it at `nextAt`. Undefined if there is no such schedule. */
export function pauseAt(
  tx: Transaction,
  name: string,
  nextAt: number | undefined,
): StoredSchedule | undefined {
  const kept = tx.get<StoredSchedule>(SCHEDULES, name)?.value
  // A running schedule already has its next tick, which may be due.
  if (kept === undefined || (nextAt !== undefined && !kept.isPaused)) return kept
  const isPaused = nextAt === undefined ? true : undefined
  // A pause drops the retries of a failed start. A start without a known result keeps its claim.
  const claim = isPaused && (kept.claim?.failures ?? 0) > 0 ? undefined : kept.claim
  return put(tx, name, { ...kept, nextAt, isPaused, claim })
}

/** Stores a run that an administrator has started. */
export function noteRun(tx: Transaction, name: string, id: string): void {
  const kept = tx.get<StoredSchedule>(SCHEDULES, name)?.value
  if (kept !== undefined) put(tx, name, { ...kept, last: { id, at: tx.now } })
}

/** Stored schedules, by name. */
export function schedulesOf(tx: Reader, names: readonly string[]): Map<string, StoredSchedule> {
  const found = names.flatMap(name => {
    const kept = tx.get<StoredSchedule>(SCHEDULES, name)?.value
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return new Map(found)
}

/** A page of schedules. A full page may be followed by another. */
export function pageOf(
  tx: Reader,
  after: Document<StoredSchedule> | undefined,
  limit: number,
): Document<StoredSchedule>[] {
  return tx.list<StoredSchedule>(SCHEDULES, { partition: '', after, limit })
}

/** Writes new schedules, and those with a changed rule. The other stored data stays. */
export function putRules(
  tx: Transaction,
  rules: readonly (Rule & { readonly name: string; readonly nextAt: number | undefined })[],
): void {
  for (const { name, cron, timezone, nextAt } of rules) {
    const kept = tx.get<StoredSchedule>(SCHEDULES, name)?.value
    if (kept?.cron === cron && kept.timezone === timezone) continue
    put(tx, name, { ...kept, cron, timezone, nextAt: kept?.isPaused ? undefined : nextAt })
  }
}

/** Deletes schedules. */
export function dropRules(tx: Transaction, names: readonly string[]): void {
  for (const name of names) tx.delete(SCHEDULES, name)
}

/** The version of the code whose schedules are stored. Undefined if there is none. */
export function codeOf(tx: Reader): string | undefined {
  return tx.get<string>(CODE, CODE)?.value
}

/** Stores the version of the code. */
export function putCode(tx: Transaction, code: string): void {
  tx.put<string>(CODE, { id: CODE, partition: '', at: tx.now, tags: {}, value: code })
}

/**
 * Writes a schedule. It is due at its next tick or at the end of its claim, whichever is earlier. After a start that crashed, it
 * is due only at the end of its claim.
 */
function put(tx: Transaction, name: string, value: StoredSchedule): StoredSchedule {
  const { nextAt = Number.POSITIVE_INFINITY, claim } = value
  const { begun = 0, until = Number.POSITIVE_INFINITY } = claim ?? {}
  const dueAt = begun > 1 ? until : Math.min(nextAt, until)
  const expiresAt = Number.isFinite(dueAt) ? dueAt : undefined
  tx.put<StoredSchedule>(SCHEDULES, { id: name, partition: '', at: 0, tags: {}, expiresAt, value })
  return value
}
