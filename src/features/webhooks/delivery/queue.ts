/**
 * The stored entries of a deliverer. An entry is due when its document expires: stores list what has expired.
 *
 * @module
 */

import type { Document, Footing, Reader, Transaction } from '../../../stores/store.ts'

/** What every entry has. */
export interface Queued {
  /** Changes each time that the entry is set anew. */
  readonly generation: string
  /** The worker that has claimed the entry. The claim ends when the entry is due. */
  readonly holder?: string | undefined
  /** Failures in a row. */
  readonly failures: number
  /** Tries in a row that have begun, and of which nothing has come: each is counted before its request is sent. */
  readonly begun?: number | undefined
  /** Whether its receiver gets no more. */
  readonly isDead: boolean
}

/** Where entries are. */
export interface Queue<K extends Queued> {
  readonly collection: string
  idOf(kept: K): string
  /** Entries of one group can be made due together. */
  groupOf(kept: K): string
  footingOf?(kept: K): Footing
}

/** Most due entries that a claim checks. */
const LOOK_AT = 256
/** Most due entries that an occasional larger claim checks, when none of the first ones may be sent. */
const LOOK_FAR = 10_000

/** Milliseconds between two of the larger claims. It is also the time to the next claim while due entries wait. */
export const LOOK_AGAIN_MS = 1000

/** More entries than a group has. */
const ALL = 1000

/** Adds or replaces an entry. Undefined `dueAt`: there is nothing to send now. */
export function putQueued<K extends Queued>(
  tx: Transaction,
  queue: Queue<K>,
  kept: K,
  { at, dueAt }: { readonly at: number; readonly dueAt: number | undefined },
): void {
  const document: Document<K> = {
    id: queue.idOf(kept),
    partition: queue.groupOf(kept),
    at,
    tags: {},
    value: kept,
    ...(dueAt !== undefined && { expiresAt: dueAt }),
  }
  tx.put(queue.collection, document, queue.footingOf?.(kept))
}

/** Writes an entry that exists. The caller checks before that it has not changed. */
export function saveQueued<K extends Queued>(
  tx: Transaction,
  queue: Queue<K>,
  kept: K,
  dueAt: number | undefined,
): void {
  const before = tx.get<K>(queue.collection, queue.idOf(kept))
  if (before !== undefined) putQueued(tx, queue, kept, { at: before.at, dueAt })
}

/** The documents of a group, newest first. */
export function listQueued<K extends Queued>(tx: Reader, queue: Queue<K>, group: string): Document<K>[] {
  return tx.list<K>(queue.collection, { partition: group, limit: ALL })
}

/** Makes the idle entries of a group due: those that are not claimed, not waiting for their next try, and not given up. */
export function markDueOf<K extends Queued>(tx: Transaction, queue: Queue<K>, group: string): void {
  for (const { value, expiresAt } of listQueued(tx, queue, group)) {
    if (expiresAt === undefined && !value.isDead) saveQueued(tx, queue, value, tx.now)
  }
}

/** The earliest due time. */
export function nextDueIn<K extends Queued>(tx: Reader, { collection }: Queue<K>): number | undefined {
  return tx.expired<K>(collection, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
}

/** How entries are claimed. */
export interface Claiming<K extends Queued> {
  readonly now: number
  readonly holder: string
  /** When the claim ends and others may claim the entry. */
  readonly until: number
  /** The longest time that any entry may have to wait. */
  readonly maxWaitMs: number
  /** Whether something may be sent for this entry now. */
  readonly admits: (kept: K) => boolean
}

/** Claims the entries of a group that are due and may be sent, even if another worker had them before. */
export function claimDueOf<K extends Queued>(
  tx: Transaction,
  queue: Queue<K>,
  group: string,
  claiming: Claiming<K>,
): K[] {
  const due = listQueued(tx, queue, group).filter(
    ({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= claiming.now,
  )
  return claim(tx, queue, due, claiming)
}

/** Claims from the first `limit` entries that are due, over all groups. `isAll` says that everything due is claimed. */
export function claimDueIn<K extends Queued>(
  tx: Transaction,
  queue: Queue<K>,
  limit: number,
  claiming: Claiming<K>,
): { readonly claimed: K[]; readonly isAll: boolean } {
  const { now, maxWaitMs } = claiming
  const soonest = nextDueIn(tx, queue) ?? now
  // No entry may wait for so long, so the clock has been set back. All entries count as due.
  const until = soonest > now + maxWaitMs ? Number.MAX_SAFE_INTEGER : now
  const due = tx.expired<K>(queue.collection, until, limit)
  const claimed = claim(tx, queue, due, claiming)
  return { claimed, isAll: due.length < limit && claimed.length === due.length }
}

/** The entries that were claimed over all groups. */
interface AnyClaimed<K> {
  readonly any: K[]
  /** Whether nothing else is due. */
  readonly isAll: boolean
  /** When to claim again. */
  readonly next: number | undefined
  readonly isFar: boolean
}

/** Claims entries of all groups. If none of the first ones may be sent and `mayLookFar` is true, it checks many more. */
export function claimAny<K extends Queued>(
  tx: Transaction,
  queue: Queue<K>,
  claiming: Claiming<K>,
  mayLookFar: boolean,
): AnyClaimed<K> {
  const near = claimDueIn(tx, queue, LOOK_AT, claiming)
  const isFar = mayLookFar && !near.isAll && near.claimed.length === 0
  const { claimed, isAll } = isFar ? claimDueIn(tx, queue, LOOK_FAR, claiming) : near
  return { any: claimed, isAll, isFar, next: isAll ? nextDueIn(tx, queue) : claiming.now + LOOK_AGAIN_MS }
}

function claim<K extends Queued>(
  tx: Transaction,
  queue: Queue<K>,
  due: readonly Document<K>[],
  { holder, until, admits }: Claiming<K>,
): K[] {
  return due.flatMap(({ value }) => {
    if (!admits(value)) return []
    const kept = { ...value, holder }
    saveQueued(tx, queue, kept, until)
    return [kept]
  })
}
