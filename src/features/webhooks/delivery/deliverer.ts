/**
 * Sends the entries in the queue of a store. A failed request is repeated until it has failed too often. The store has each entry
 * with the time of its next try, so another process can continue when one ends.
 *
 * @module
 */

import { createWake } from '../../../base/wake.ts'
import { MAX_DEATHS } from '../../../stores/deaths.ts'
import type { Soon, Store, Transaction } from '../../../stores/store.ts'
import { Lanes, type Receiver, SLOW_MS, type Slot } from './lanes.ts'
import {
  claimAny,
  claimDueOf,
  LOOK_AGAIN_MS,
  markDueOf,
  type Queue,
  type QueueEntry,
  saveQueued,
} from './queue.ts'
import { longestDelay, type RetryTimes, retryDelay } from './retry.ts'
import type { Delivery, DeliveryResult, Sender } from './sender.ts'

/** The number and times of tries. */
export interface DeliverySettings extends RetryTimes {
  /** Milliseconds that a receiver may take to answer. */
  readonly timeoutMs: number
  /** Failures in a row after which an entry is given up. */
  readonly maxTries: number
}

/** The next action for an entry. */
export type Next<K, N> =
  | { readonly act: 'tell'; readonly notice: N }
  /** The worker waits for `changed`, and then continues at `seen`. */
  | { readonly act: 'wait'; readonly changed: Promise<void>; readonly seen: number }
  /** There is nothing to send now. The entry is written as `kept`, and is due again at `dueAt`. */
  | { readonly act: 'rest'; readonly kept: K; readonly dueAt: number | undefined }
  /** The entry is deleted. */
  | { readonly act: 'stop' }

/** The result of a try, for the record. */
export interface Tried {
  readonly result: DeliveryResult
  /** Number of tries: this one, and those before it without a result because their processes crashed. */
  readonly tries: number
  /** Given up because the processes crashed. */
  readonly code?: 'interrupted' | undefined
  /** The time of the next try. Undefined if the notice was accepted or given up. */
  readonly nextTryAt?: number | undefined
}

/** The entries of a deliverer, and how to send them. */
export interface Mail<K extends QueueEntry, N> {
  readonly queue: Queue<K>
  receiverOf(kept: K): Receiver
  /** The next action for an entry after `seen`. Called in the transaction that extends its claim. */
  next(tx: Transaction, kept: K, seen: number): Next<K, N>
  /** The initial `seen` of a worker, and the one after the receiver has accepted a notice. */
  seenOf(kept: K, taken?: N): number
  deliveryOf(kept: K, notice: N): Delivery
  /** The entry while a notice is being sent, and while it waits for its next try. */
  sending(kept: K, notice: N): K
  /** The entry after the receiver has accepted the notice. */
  taken(kept: K, notice: N): K
  /** Writes the result of a try, in the transaction that writes the entry. */
  record?(tx: Transaction, kept: K, tried: Tried): void
  /** Called when the choice of a notice is written. */
  chosen?(kept: K, notice: N): void
  /** Called when a worker has ended. */
  forget?(kept: K): void
}

/** Options of a deliverer. */
export interface DelivererOptions<K extends QueueEntry, N> {
  readonly store: Store
  readonly settings: DeliverySettings
  readonly sender: Sender
  readonly mail: Mail<K, N>
  /** Keeps the process alive until a delivery has ended. */
  readonly keepAlive: (work: Promise<void>) => void
  /** Calls `sweep` at that time. The earliest of several times wins. */
  readonly schedule: (at: number) => void
  /** Whether sending is allowed now. Default: always. */
  readonly isOpen?: (() => boolean) | undefined
  /** Called when an entry is given up. The text contains nothing of the receiver, not even its address. */
  readonly onGivenUp: (kept: K, why: string) => void
}

/** Milliseconds for which a failing write is retried. Only the receivers wait for it. */
const PATIENCE_MS = 15_000

/** Sends the entries in the queue of a store. */
export class Deliverer<K extends QueueEntry, N> {
  readonly #options: DelivererOptions<K, N>
  readonly #holder = crypto.randomUUID()
  /** Entries that this deliverer works on, by their generation. */
  readonly #held = new Set<string>()
  /** Entries whose request is being sent, by their generation. */
  readonly #sending = new Map<string, K>()
  readonly #lanes: Lanes<K>
  /** Fires when a slot becomes free. */
  readonly #room = createWake()
  /** Whether some due entries have to wait. */
  #isBehind = false
  #isToSweep = false
  #largeAt = 0

  constructor(options: DelivererOptions<K, N>) {
    this.#options = options
    this.#lanes = new Lanes(kept => options.mail.receiverOf(kept))
  }

  /** Sends the new entries of a group. Entries that wait for their next try are left out. Never throws. */
  poke(group: string): void {
    void this.#guarded(() => this.#claim(group))
  }

  /** Sends everything that is due, including entries that other processes left. Never throws. */
  sweep(): void {
    void this.#guarded(() => this.#claim(undefined))
  }

  /**
   * Called after the last server. Resets the counted tries that are being sent, since a normal end is no crash. Never rejects.
   */
  async close(): Promise<void> {
    const { mail, store } = this.#options
    if (this.#sending.size === 0) return
    const uncount = (tx: Transaction) => {
      for (const kept of this.#sending.values()) {
        const { expiresAt } = tx.get(mail.queue.collection, mail.queue.idOf(kept)) ?? {}
        const begun = triesOf(kept) - 1
        if (this.#ours(tx, kept) !== undefined) saveQueued(tx, mail.queue, { ...kept, begun }, expiresAt)
      }
    }
    try {
      await store.write(uncount, PATIENCE_MS)
    } catch {
      // It then counts as a crash, of which one does no harm.
    }
  }

  /**
   * Claims due entries that get a slot. Those of the given group come first, so that they do not wait behind entries without a
   * slot.
   */
  async #claim(group: string | undefined): Promise<void> {
    const slots = new Map<string, Slot>()
    const { queue } = this.#options.mail
    const now = Date.now()
    const largeAt = this.#largeAt
    const mayLookAtMore = now - largeAt >= LOOK_AGAIN_MS
    // Only one of several concurrent claims is a large one.
    if (mayLookAtMore) this.#largeAt = now
    const claiming = {
      now,
      holder: this.#holder,
      until: this.#leaseEnd(),
      maxWaitMs: this.#maxWaitMs,
      admits: (kept: K) => {
        // Its worker gets a slot by itself. The claim only continues.
        if (this.#held.has(kept.generation)) return true
        const slot = slots.get(kept.generation) ?? this.#lanes.enter(kept)
        if (slot !== undefined) slots.set(kept.generation, slot)
        return slot !== undefined
      },
    }
    let claimed: readonly K[] = []
    try {
      const { own, any, next, isAll, isLarge } = await this.#options.store.write(tx => {
        if (group !== undefined) markDueOf(tx, queue, group)
        const own = group === undefined ? [] : claimDueOf(tx, queue, group, claiming)
        return { own, ...claimAny(tx, queue, claiming, mayLookAtMore) }
      })
      claimed = [...own, ...any]
      this.#isBehind = !isAll
      if (mayLookAtMore && !isLarge) this.#largeAt = largeAt
      if (next !== undefined) this.#options.schedule(next)
    } finally {
      // An entry whose claim was not written is not claimed.
      const isWritten = new Set(claimed.map(({ generation }) => generation))
      for (const [generation, slot] of slots) if (!isWritten.has(generation)) this.#leave(slot)
    }
    // Each entry has the slot from its admission. If its worker has ended meanwhile, it has none.
    for (const kept of claimed) this.#start(kept, slots.get(kept.generation))
  }

  /** Runs `act`. If the store fails, a sweep is scheduled for later. */
  async #guarded(act: () => Promise<void>): Promise<void> {
    if (this.#options.isOpen?.() === false) return
    try {
      await act()
    } catch {
      this.#options.schedule(Date.now() + LOOK_AGAIN_MS)
    }
  }

  #start(kept: K, slot: Slot | undefined): void {
    if (this.#held.has(kept.generation)) return slot && this.#leave(slot)
    this.#held.add(kept.generation)
    // If the store cannot be written now, the entry is due again when its lease ends.
    const work = this.#work(kept, slot).catch(() => {})
    this.#options.keepAlive(work.then(() => this.sweep()))
  }

  /** Sends all new notices of an entry, and those that arrive while its worker waits. */
  async #work(kept: K, slot: Slot | undefined): Promise<void> {
    try {
      await this.#deliverAll(kept, slot)
    } finally {
      // Done at once, so that the next `poke` finds the entry free.
      this.#held.delete(kept.generation)
      this.#options.mail.forget?.(kept)
    }
  }

  async #deliverAll(kept: K, first: Slot | undefined): Promise<void> {
    const { mail } = this.#options
    let seen = mail.seenOf(kept)
    let entry = kept
    let slot = first
    while (true) {
      slot ??= this.#lanes.enter(entry)
      if (slot === undefined) {
        await this.#room.wait()
        continue
      }
      let next: Next<K, N>
      try {
        const step = await this.#step(kept, seen)
        next = step.next
        if (next.act === 'tell') {
          mail.chosen?.(step.kept, next.notice)
          if (!(await this.#deliver(step.kept, next.notice, slot))) return
        }
      } finally {
        slot.leave()
        slot = undefined
        this.#makeRoom()
      }
      if (next.act === 'stop' || next.act === 'rest') return
      if (next.act === 'tell') {
        seen = mail.seenOf(kept, next.notice)
        entry = { ...kept, failures: 0 }
      } else {
        seen = next.seen
        await next.changed
      }
    }
  }

  /** Releases an unused slot. */
  #leave(slot: Slot): void {
    slot.leave()
    this.#room.fire()
  }

  /** Wakes workers that wait for a slot, and starts a sweep if due entries wait. */
  #makeRoom(): void {
    this.#room.fire()
    if (!this.#isBehind || this.#isToSweep) return
    this.#isToSweep = true
    queueMicrotask(() => {
      this.#isToSweep = false
      this.sweep()
    })
  }

  /** The current entry. Undefined if it was replaced, deleted or given up, or another worker has it. */
  #ours(tx: Transaction, kept: K): K | undefined {
    const { queue } = this.#options.mail
    const found = tx.get<K>(queue.collection, queue.idOf(kept))?.value
    return found?.generation === kept.generation && found.holder === this.#holder ? found : undefined
  }

  async #step(kept: K, seen: number): Promise<NextStep<K, N>> {
    const { store, onGivenUp } = this.#options
    const step = await store.write(tx => this.#next(tx, kept, seen), PATIENCE_MS)
    if (step.why !== undefined) onGivenUp(step.kept, step.why)
    return step
  }

  /** The next action for an entry. The same transaction extends the lease of this worker, and counts a new try. */
  #next(tx: Transaction, claimed: K, seen: number): NextStep<K, N> {
    const { mail, settings } = this.#options
    const found = this.#ours(tx, claimed)
    if (found === undefined) return { kept: claimed, next: { act: 'stop' } }
    const next = mail.next(tx, found, seen)
    if (next.act === 'rest') saveQueued(tx, mail.queue, { ...next.kept, holder: undefined }, next.dueAt)
    if (next.act !== 'tell') return { kept: found, next }
    // A finished try stores its result. So these tries have none because their processes crashed.
    const { begun: died = 0, failures } = found
    if (died >= MAX_DEATHS || (died > 0 && failures + died >= settings.maxTries))
      return this.#giveUp(tx, found)
    const kept = { ...found, begun: died + 1 }
    const dueAt = this.#leaseEnd() + retryDelay(died + 1, settings)
    saveQueued(tx, mail.queue, mail.sending(kept, next.notice), dueAt)
    return { kept, next }
  }

  /** Gives up an entry whose processes crashed. */
  #giveUp(tx: Transaction, found: K): NextStep<K, N> {
    const { mail } = this.#options
    const { begun: tries = 0, failures } = found
    const times = tries === 1 ? '' : `, ${tries} times in a row`
    const why = `the service stopped while it sent it${times}`
    const kept = { ...found, failures: failures + tries, begun: 0, holder: undefined, isDead: true }
    saveQueued(tx, mail.queue, kept, undefined)
    mail.record?.(tx, kept, { result: { how: 'gone', why }, tries, code: 'interrupted' })
    return { kept, next: { act: 'stop' }, why }
  }

  /** Sends a notice and stores the result. Returns whether the receiver accepted it, so that the next notice may follow. */
  async #deliver(kept: K, notice: N, slot: Slot): Promise<boolean> {
    const { settings, onGivenUp, mail } = this.#options
    const { generation } = kept
    this.#sending.set(generation, mail.sending(kept, notice))
    const result = await this.#send(kept, notice, slot)
    this.#sending.delete(generation)
    const tries = triesOf(kept)
    if (result.how === 'taken') {
      const taken = { ...mail.taken(kept, notice), failures: 0, begun: 0 }
      return await this.#save(taken, this.#leaseEnd(), { result: result, tries })
    }
    const failures = kept.failures + tries
    const released = { ...mail.sending(kept, notice), failures, begun: 0, holder: undefined }
    if (result.how === 'gone' || failures >= settings.maxTries) {
      if (await this.#save({ ...released, isDead: true }, undefined, { result: result, tries })) {
        onGivenUp(kept, result.why)
      }
      return false
    }
    const nextTryAt = Date.now() + this.#delayOf(failures, result.retryAfterMs)
    await this.#save(released, nextTryAt, { result: result, tries, nextTryAt })
    return false
  }

  /** Milliseconds until the next try: at least the receiver's `Retry-After`, at most the longest delay. */
  #delayOf(failures: number, retryAfterMs = 0): number {
    const { settings } = this.#options
    return Math.min(Math.max(retryDelay(failures, settings), retryAfterMs), longestDelay(settings))
  }

  /** Sends a notice. A slow receiver moves to the slow lane, and the lanes remember that it is slow. */
  async #send(kept: K, notice: N, slot: Slot): Promise<DeliveryResult> {
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
      if (slot.goSlow()) this.#makeRoom()
    }, SLOW_MS)
    const { mail, sender } = this.#options
    const result = await sender.send(mail.deliveryOf(kept, notice))
    clearTimeout(timer)
    this.#lanes.note(kept, result.how === 'taken' && !isSlow)
    return result
  }

  /** Writes an entry. Returns false if another worker has replaced or claimed it meanwhile. */
  #save(kept: K, dueAt: number | undefined, tried: Tried): Soon<boolean> {
    const { mail, store } = this.#options
    const save = (tx: Transaction) => {
      if (this.#ours(tx, kept) === undefined) return false
      saveQueued(tx, mail.queue, kept, dueAt)
      mail.record?.(tx, kept, tried)
      return true
    }
    return store.write(save, PATIENCE_MS)
  }

  #leaseEnd(): number {
    return Date.now() + this.#leaseMs
  }

  get #leaseMs(): number {
    return this.#options.settings.timeoutMs * 2
  }

  /**
   * Twice the longest time between a write and the due time that it sets: a worker elsewhere may write later than this one reads
   * its clock, or its clock may be ahead.
   */
  get #maxWaitMs(): number {
    return 2 * Math.max(this.#leaseMs, LOOK_AGAIN_MS, longestDelay(this.#options.settings))
  }
}

/** The next action for an entry, and the entry as written. */
interface NextStep<K, N> {
  readonly kept: K
  readonly next: Next<K, N>
  /** Why it was given up. */
  readonly why?: string
}

/** The current try, and those before it without a result. */
function triesOf({ begun = 1 }: QueueEntry): number {
  return begun
}
