/**
 * What is kept of schedules: a document each, which expires when the schedule is due. So those that are due are found by the index,
 * however many there are.
 *
 * @module
 */

import { MAX_DEATHS, restAfter } from '../../stores/deaths.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import type { Rule } from './cron.ts'

/** The documents of schedules, by name. */
export const SCHEDULES = 'schedules'

/** One document, which says for which code they were written. */
const CODE = 'schedules_code'

/** A tick whose run is to be started, by whoever has claimed it. */
export interface Claim {
  readonly tickAt: number
  readonly claimedAt: number
  /** From then on another process may start the run. */
  readonly until: number
  /** How often the run could not be started. */
  readonly failures: number
  /** How often in a row somebody began to start it, and did not say what came of it. */
  readonly begun?: number | undefined
}

/** Whether so many have died over it that nobody begins with it again. */
export function isDeadly({ begun = 0 }: Claim): boolean {
  return begun >= MAX_DEATHS
}

/** The run of a tick, or one that an administrator has started. */
export interface LastRun {
  readonly id: string
  /** When its tick was due, or when it was started by hand. */
  readonly at: number
}

/** Why a run could not be started. */
export interface StartError {
  readonly code: string
  readonly message: string
  readonly at: number
}

/** What is kept of a schedule. */
export interface Kept extends Rule {
  /** When it is due next. Absent while it is paused. */
  readonly nextAt?: number | undefined
  readonly isPaused?: true | undefined
  readonly claim?: Claim | undefined
  readonly last?: LastRun | undefined
  /** Until a run is started again. */
  readonly lastError?: StartError | undefined
}

/** A schedule that is due, or whose claim is. */
export interface Due {
  readonly name: string
  readonly dueAt: number
  readonly kept: Kept
}

/** A look at what is due, and when to look again. */
export interface Look {
  readonly now: number
  readonly due: readonly Due[]
  /** When the next one is due that is not due yet. */
  readonly soonest: number | undefined
}

/** What is due now, at most `limit` of it. What has been due for longest comes first. */
export function lookAt(tx: Reader, limit: number): Look {
  const { now } = tx
  const found = tx.expired<Kept>(SCHEDULES, Number.MAX_SAFE_INTEGER, limit + 1)
  const all = found.map(({ id: name, expiresAt: dueAt = 0, value: kept }) => ({ name, dueAt, kept }))
  const due = all.filter(({ dueAt }) => dueAt <= now)
  return { now, due: due.slice(0, limit), soonest: all[due.length]?.dueAt ?? all[limit]?.dueAt }
}

/** A tick to claim. */
export interface Want {
  readonly name: string
  /** As it was seen. Whoever saw the same and came first has it. */
  readonly seen: Kept
  /** The tick; undefined for one that is left out. */
  readonly tickAt: number | undefined
  /** When the schedule is due after it. */
  readonly nextAt: number | undefined
  /** Why nobody starts it any more. */
  readonly error?: Pick<StartError, 'code' | 'message'> | undefined
  readonly isPaused?: true | undefined
}

/** Milliseconds that whoever has claimed a tick has to start its run. */
export const CLAIM_MS = 30_000

/** Claims ticks. Gives those that are claimed. */
export function claimTicks(tx: Transaction, wants: readonly Want[]): Want[] {
  const { now } = tx
  return wants.filter(({ name, seen, tickAt, nextAt, error, isPaused }) => {
    const kept = tx.get<Kept>(SCHEDULES, name)?.value
    if (kept === undefined || kept.nextAt !== seen.nextAt || kept.claim?.tickAt !== seen.claim?.tickAt)
      return false
    const before = kept.claim?.tickAt === tickAt ? kept.claim : undefined
    const claim = tickAt === undefined ? undefined : claimOf(tickAt, now, before)
    const lastError = error === undefined ? kept.lastError : { ...error, at: now }
    put(tx, name, { ...kept, nextAt, claim, lastError, isPaused: isPaused ?? kept.isPaused })
    return claim !== undefined
  })
}

function claimOf(tickAt: number, now: number, before?: Claim): Claim {
  const begun = (before?.begun ?? 0) + 1
  return {
    tickAt,
    claimedAt: before?.claimedAt ?? now,
    until: now + CLAIM_MS + restAfter(begun),
    failures: before?.failures ?? 0,
    begun,
  }
}

/** What became of a tick that was claimed. */
export type Outcome = { readonly name: string; readonly tickAt: number } & (
  | { readonly runId: string }
  | { readonly error: Pick<StartError, 'code' | 'message'> }
)

/** Milliseconds after which a run is started again: twice as many each time. */
const RETRY_MS = 1000
const MAX_RETRY_MS = 60_000

/** Writes down what became of claimed ticks: the run is known, or the tick is due again. */
export function settleTicks(tx: Transaction, outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    const { name, tickAt } = outcome
    const kept = tx.get<Kept>(SCHEDULES, name)?.value
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

/** Pauses a schedule, or lets it go on from `nextAt`. Undefined: there is no such schedule. */
export function pauseAt(tx: Transaction, name: string, nextAt: number | undefined): Kept | undefined {
  const kept = tx.get<Kept>(SCHEDULES, name)?.value
  // One that is not paused has its next tick already, which may be due.
  if (kept === undefined || (nextAt !== undefined && !kept.isPaused)) return kept
  const isPaused = nextAt === undefined ? true : undefined
  // A run that could not be started waits no more. One that may have been started is still looked for.
  const claim = isPaused && (kept.claim?.failures ?? 0) > 0 ? undefined : kept.claim
  return put(tx, name, { ...kept, nextAt, isPaused, claim })
}

/** Notes a run that an administrator has started. */
export function noteRun(tx: Transaction, name: string, id: string): void {
  const kept = tx.get<Kept>(SCHEDULES, name)?.value
  if (kept !== undefined) put(tx, name, { ...kept, last: { id, at: tx.now } })
}

/** What is kept of schedules, by name. */
export function keptOf(tx: Reader, names: readonly string[]): Map<string, Kept> {
  const found = names.flatMap(name => {
    const kept = tx.get<Kept>(SCHEDULES, name)?.value
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return new Map(found)
}

/** Some schedules, and the last of them: where there are more, they come after it. */
export function pageOf(tx: Reader, after: Document<Kept> | undefined, limit: number): Document<Kept>[] {
  return tx.list<Kept>(SCHEDULES, { partition: '', after, limit })
}

/** Writes new schedules, and those whose rule has changed. What was known of one stays. */
export function putRules(
  tx: Transaction,
  rules: readonly (Rule & { readonly name: string; readonly nextAt: number | undefined })[],
): void {
  for (const { name, cron, timezone, nextAt } of rules) {
    const kept = tx.get<Kept>(SCHEDULES, name)?.value
    if (kept?.cron === cron && kept.timezone === timezone) continue
    put(tx, name, { ...kept, cron, timezone, nextAt: kept?.isPaused ? undefined : nextAt })
  }
}

/** Deletes schedules. */
export function dropRules(tx: Transaction, names: readonly string[]): void {
  for (const name of names) tx.delete(SCHEDULES, name)
}

/** For which code schedules were written; undefined where none were. */
export function codeOf(tx: Reader): string | undefined {
  return tx.get<string>(CODE, CODE)?.value
}

/** Notes for which code schedules were written. */
export function putCode(tx: Transaction, code: string): void {
  tx.put<string>(CODE, { id: CODE, partition: '', at: tx.now, tags: {}, value: code })
}

/** It is due when its next tick is, or when somebody is to look at its claim. One of which somebody has died is left alone until then. */
function put(tx: Transaction, name: string, value: Kept): Kept {
  const { nextAt = Number.POSITIVE_INFINITY, claim } = value
  const { begun = 0, until = Number.POSITIVE_INFINITY } = claim ?? {}
  const dueAt = begun > 1 ? until : Math.min(nextAt, until)
  const expiresAt = Number.isFinite(dueAt) ? dueAt : undefined
  tx.put<Kept>(SCHEDULES, { id: name, partition: '', at: 0, tags: {}, expiresAt, value })
  return value
}
