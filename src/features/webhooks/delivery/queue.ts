/**
 * The stored entries of a deliverer. An entry is due when its document expires, so stores find due entries as expired ones.
 *
 * @module
 */

import type { Document, Eviction, Reader, Transaction } from '../../../stores/store.ts'

/** The common members of entries. */
export interface QueueEntry {
  /** Changes whenever the entry is replaced. */
  readonly generation: string
  /** The worker that has claimed the entry. The claim ends when the entry is due. */
  readonly holder?: string | undefined
  /** Failures in a row. */
  readonly failures: number
  /** Tries in a row that have begun and have no result. Each is counted before its request is sent. */
  readonly begun?: number | undefined
  /** Whether it is given up. */
  readonly isDead: boolean
}

/** The collection of entries. */
export interface Queue<K extends QueueEntry> {
  readonly collection: string
  idOf(kept: K): string
  /** Entries of one group can be made due together. */
  groupOf(kept: K): string
  evictionOf?(kept: K): Eviction
}

/** Most due entries that a claim checks. */
const LOOK_AT = 256
/** Most due entries that an occasional larger claim checks, when none of the first ones may be sent. */
const LOOK_AT_MORE = 10_000

/** Milliseconds between two of the larger claims. It is also the time to the next claim while due entries wait. */
export const LOOK_AGAIN_MS = 1000

/** More entries than a group has. */
const ALL = 1000

/** Adds or replaces an entry. Without `dueAt` there is nothing to send now. */
export function putQueued<K extends QueueEntry>(
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
  tx.put(queue.collection, document, queue.evictionOf?.(kept))
}

/** Writes an existing entry. The caller checks first that it has not changed. */
export function saveQueued<K extends QueueEntry>(
  tx: Transaction,
  queue: Queue<K>,
  kept: K,
  dueAt: number | undefined,
): void {
  const before = tx.get<K>(queue.collection, queue.idOf(kept))
  if (before !== undefined) putQueued(tx, queue, kept, { at: before.at, dueAt })
}

/** The documents of a group, newest first. */
export function listQueued<K extends QueueEntry>(tx: Reader, queue: Queue<K>, group: string): Document<K>[] {
  return tx.list<K>(queue.collection, { partition: group, limit: ALL })
}

/** Makes the idle entries of a group due: those that are not claimed, not waiting for their next try, and not given up. */
export function markDueOf<K extends QueueEntry>(tx: Transaction, queue: Queue<K>, group: string): void {
  for (const { value, expiresAt } of listQueued(tx, queue, group)) {
    if (expiresAt === undefined && !value.isDead) saveQueued(tx, queue, value, tx.now)
  }
}

/** The earliest due time. */
export function nextDueIn<K extends QueueEntry>(tx: Reader, { collection }: Queue<K>): number | undefined {
  return tx.expired<K>(collection, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
}

/** How entries are claimed. */
export interface Claiming<K extends QueueEntry> {
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
export function claimDueOf<K extends QueueEntry>(
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

/** Claims from the first `limit` due entries of all groups. `isAll` says that everything due is claimed. */
export function claimDueIn<K extends QueueEntry>(
  tx: Transaction,
  queue: Queue<K>,
  limit: number,
  claiming: Claiming<K>,
): { readonly claimed: K[]; readonly isAll: boolean } {
  const { now, maxWaitMs } = claiming
  const soonest = nextDueIn(tx, queue) ?? now
  // No entry can wait for so long, so the clock was set back. All entries count as due.
  const until = soonest > now + maxWaitMs ? Number.MAX_SAFE_INTEGER : now
  const due = tx.expired<K>(queue.collection, until, limit)
  const claimed = claim(tx, queue, due, claiming)
  return { claimed, isAll: due.length < limit && claimed.length === due.length }
}

/** The claimed entries of all groups. */
interface AnyClaimed<K> {
  readonly any: K[]
  /** Whether nothing else is due. */
  readonly isAll: boolean
  /** The time of the next claim. */
  readonly next: number | undefined
  readonly isLarge: boolean
}

/** Claims entries of all groups. If none of the first ones may be sent and `mayLookAtMore` is true, it checks many more. */
export function claimAny<K extends QueueEntry>(
  tx: Transaction,
  queue: Queue<K>,
  claiming: Claiming<K>,
  mayLookAtMore: boolean,
): AnyClaimed<K> {
  const near = claimDueIn(tx, queue, LOOK_AT, claiming)
  const isLarge = mayLookAtMore && !near.isAll && near.claimed.length === 0
  const { claimed, isAll } = isLarge ? claimDueIn(tx, queue, LOOK_AT_MORE, claiming) : near
  return { any: claimed, isAll, isLarge, next: isAll ? nextDueIn(tx, queue) : claiming.now + LOOK_AGAIN_MS }
}

function claim<K extends QueueEntry>(
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
