/**
 * Counts the requests of each client for all processes or isolates together. A process takes requests from the store and then
 * allows them by itself. So a client that has used up its window costs no write any more.
 *
 * @module
 */

import type { Transaction } from '../../stores/store.ts'
import type { CountRequest, RateLimitSettings } from './rate-limit.ts'
import { isOpen, OpenWindows } from './rate-windows.ts'

/** The collection of windows. */
export const WINDOWS = 'rate-window'

/** The part of a client's window that a process has taken. */
export interface TakenRequests {
  /** The number of requests that it may allow. 0: the window is used up. */
  readonly taken: number
  /** The number of requests that all processes have taken, including these. */
  readonly count: number
  /** When the window ends by the store's clock, in milliseconds since 1970. No two windows of a client end at the same time. */
  readonly endsAt: number
  /** Milliseconds until then. */
  readonly endsInMs: number
}

/** Takes up to `wanted` requests of a client's window. */
export function takeRequests(
  tx: Transaction,
  key: string,
  wanted: number,
  { max, windowMs }: Pick<RateLimitSettings, 'max' | 'windowMs'>,
): TakenRequests {
  const { now } = tx
  const known = tx.get<number>(WINDOWS, key)
  const before = isOpen(known?.expiresAt ?? 0, windowMs, now) ? known : undefined
  const used = before?.value ?? 0
  const taken = Math.max(0, Math.min(wanted, max - used))
  const endsAt = before?.expiresAt ?? now + windowMs
  const count = used + taken
  if (taken > 0) {
    const document = { id: key, partition: '', at: now, tags: {}, value: count, expiresAt: endsAt }
    tx.put(WINDOWS, document, { leaves: 'first' })
  }
  return { taken, count, endsAt, endsInMs: endsAt - now }
}

/** The requests of a client's window that this process may allow. */
interface Share {
  readonly endsAt: number
  /** When the window ends by the store's clock. */
  readonly storeEndsAt: number
  /** The number of requests that all processes had taken when this one last asked the store. */
  count: number
  /** The number of requests that this process has taken. */
  own: number
  left: number
}

/**
 * Makes the count. `take` calls the store. With `ahead`, a process takes more than it needs right now: as many as it has taken in
 * the window, and at most a quarter of what is left. Others cannot use what it leaves unused, until the window ends.
 */
export function createSharedCount(
  take: (key: string, wanted: number) => Promise<TakenRequests>,
  { windowMs, max }: Pick<RateLimitSettings, 'windowMs' | 'max'>,
  ahead: boolean,
): CountRequest {
  const shares = new OpenWindows<Share>(windowMs)
  /** The waiting requests of a client that its next call of `take` asks for. */
  const asking = new Map<string, { wanted: number; answer: Promise<Share> }>()
  const known = (key: string) => shares.get(key, Date.now())

  const ask = async (key: string) => {
    // Requests of the same turn of the event loop share a call.
    await undefined
    const wanted = asking.get(key)?.wanted ?? 1
    asking.delete(key)
    const before = known(key)
    const more = ahead && before ? Math.min(before.own, Math.floor((max - before.count) / 4)) : 0
    const { taken, count, endsAt: storeEndsAt, endsInMs } = await take(key, wanted + more)
    let share = known(key)
    if (share?.storeEndsAt !== storeEndsAt)
      share = shares.set(key, { endsAt: Date.now() + endsInMs, storeEndsAt, count, own: 0, left: 0 })
    share.count = Math.max(share.count, count)
    share.own += taken
    share.left += taken
    return share
  }

  const next = (key: string) => {
    const question = asking.get(key) ?? { wanted: 0, answer: ask(key) }
    asking.set(key, question)
    question.wanted++
    return question.answer
  }

  return async key => {
    for (let share = known(key); ; share = await next(key)) {
      if (share === undefined) continue
      if (share.left > 0) return { count: share.count - --share.left, endsAt: share.endsAt }
      if (share.count >= max) return { count: max + 1, endsAt: share.endsAt }
    }
  }
}
