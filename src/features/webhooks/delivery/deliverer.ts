/**
 * Sends what waits in the queue of a store. A failed request is sent again until it has failed too often. The store holds each
 * entry with the time of its next try, so another process can continue when one ends.
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
  type Queued,
  saveQueued,
} from './queue.ts'
import { longestDelay, type RetryTimes, retryDelay } from './retry.ts'
import type { Delivery, Reception, Sender } from './sender.ts'

/** How often something is tried, and how long that takes. */
export interface DeliverySettings extends RetryTimes {
  /** Milliseconds that a receiver may take to answer. */
  readonly timeoutMs: number
  /** Failures in a row after which a receiver gets no more of an entry. */
  readonly maxTries: number
}

/** What to do next for an entry. */
export type Next<K, N> =
  | { readonly act: 'tell'; readonly notice: N }
  /** Its worker waits. `seen` is where it looks on. */
  | { readonly act: 'wait'; readonly changed: Promise<void>; readonly seen: number }
  /** There is nothing to send now. The entry is written so, and due again at that time, if it is one. */
  | { readonly act: 'rest'; readonly kept: K; readonly dueAt: number | undefined }
  /** It is gone. */
  | { readonly act: 'stop' }

/** What came of a try, as it is written. */
export interface Tried {
  readonly reception: Reception
  /** The tries: this one, and those before it of which nothing came, since their processes died. */
  readonly tries: number
  /** It is given up since they died. */
  readonly code?: 'interrupted' | undefined
  /** When it is tried again. Undefined: it was taken, or is given up. */
  readonly nextTryAt?: number | undefined
}

/** What a deliverer sends. */
export interface Mail<K extends Queued, N> {
  readonly queue: Queue<K>
  receiverOf(kept: K): Receiver
  /** What to do next for an entry, after what its worker has seen. In the transaction that extends its claim. */
  next(tx: Transaction, kept: K, seen: number): Next<K, N>
  /** What its worker has seen at first, and once the receiver has taken a notice. */
  seenOf(kept: K, taken?: N): number
  deliveryOf(kept: K, notice: N): Delivery
  /** The entry while a notice is being sent, and while it waits for its next try. */
  sending(kept: K, notice: N): K
  /** The entry once the receiver has taken the notice. */
  taken(kept: K, notice: N): K
  /** Writes what came of a try, in the transaction that writes the entry. */
  record?(tx: Transaction, kept: K, tried: Tried): void
  /** A notice was chosen, and that is written. */
  chosen?(kept: K, notice: N): void
  /** A worker has ended. */
  forget?(kept: K): void
}

/** What a deliverer needs. */
export interface DelivererOptions<K extends Queued, N> {
  readonly store: Store
  readonly settings: DeliverySettings
  readonly sender: Sender
  readonly mail: Mail<K, N>
  /** Keeps the process alive until a delivery has ended. */
  readonly keepAlive: (work: Promise<void>) => void
  /** Calls `sweep` at that time. Of several times the earliest one holds. */
  readonly schedule: (at: number) => void
  /** Whether anything may be sent now. Default: always. */
  readonly isOpen?: (() => boolean) | undefined
  /** Is called when a receiver gets no more of an entry. The text contains nothing of the receiver, not even its address. */
  readonly onGivenUp: (kept: K, why: string) => void
}

/** Milliseconds for which a failing write is tried again. Only the receivers wait for it. */
const PATIENCE_MS = 15_000

/** Sends what waits in the queue of a store. */
export class Deliverer<K extends Queued, N> {
  readonly #options: DelivererOptions<K, N>
  readonly #holder = crypto.randomUUID()
  /** Entries that this deliverer works on, by their generation. */
  readonly #held = new Set<string>()
  /** What is being sent, by its generation. */
  readonly #sending = new Map<string, K>()
  readonly #lanes: Lanes<K>
  /** Fires when a place becomes free. */
  readonly #room = createWake()
  /** Whether some due entries have to wait. */
  #isBehind = false
  #isToSweep = false
  #farAt = 0

  constructor(options: DelivererOptions<K, N>) {
    this.#options = options
    this.#lanes = new Lanes(kept => options.mail.receiverOf(kept))
  }

  /** Sends what a group has after a change. Receivers that wait for their next try are left out. Never throws. */
  poke(group: string): void {
    void this.#guarded(() => this.#claim(group))
  }

  /** Sends everything that is due, including what others left behind. Never throws. */
  sweep(): void {
    void this.#guarded(() => this.#claim(undefined))
  }

  /** The last server has closed, and all may end at once: that is no death, and what is being sent is counted no more. Never rejects. */
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
      // It counts as a death then, of which it takes several.
    }
  }

  /**
   * Claims the entries that are due and have a place. Those of the given group come first, so that they do not wait behind
   * entries that have to wait.
   */
  async #claim(group: string | undefined): Promise<void> {
    const places = new Map<string, Slot>()
    const { queue } = this.#options.mail
    const now = Date.now()
    const farAt = this.#farAt
    const mayLookFar = now - farAt >= LOOK_AGAIN_MS
    // Of several claims at the same time, only one is a large one.
    if (mayLookFar) this.#farAt = now
    const claiming = {
      now,
      holder: this.#holder,
      until: this.#leaseEnd(),
      maxWaitMs: this.#maxWaitMs,
      admits: (kept: K) => {
        // Its worker finds a place by itself. The claim only goes on.
        if (this.#held.has(kept.generation)) return true
        const place = places.get(kept.generation) ?? this.#lanes.enter(kept)
        if (place !== undefined) places.set(kept.generation, place)
        return place !== undefined
      },
    }
    let claimed: readonly K[] = []
    try {
      const { own, any, next, isAll, isFar } = await this.#options.store.write(tx => {
        if (group !== undefined) markDueOf(tx, queue, group)
        const own = group === undefined ? [] : claimDueOf(tx, queue, group, claiming)
        return { own, ...claimAny(tx, queue, claiming, mayLookFar) }
      })
      claimed = [...own, ...any]
      this.#isBehind = !isAll
      if (mayLookFar && !isFar) this.#farAt = farAt
      if (next !== undefined) this.#options.schedule(next)
    } finally {
      // An entry whose claim was not written is not claimed.
      const isWritten = new Set(claimed.map(({ generation }) => generation))
      for (const [generation, place] of places) if (!isWritten.has(generation)) this.#leave(place)
    }
    // Each entry has the place from its admission. A worker that has ended meanwhile left none.
    for (const kept of claimed) this.#start(kept, places.get(kept.generation))
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

  #start(kept: K, place: Slot | undefined): void {
    if (this.#held.has(kept.generation)) return place && this.#leave(place)
    this.#held.add(kept.generation)
    // If the store cannot be written now, the entry is due again when its lease ends.
    const work = this.#work(kept, place).catch(() => {})
    this.#options.keepAlive(work.then(() => this.sweep()))
  }

  /** Sends a receiver everything that is new, and what follows while its worker waits for that. */
  async #work(kept: K, place: Slot | undefined): Promise<void> {
    try {
      await this.#tellAll(kept, place)
    } finally {
      // This happens at once, so that the next `poke` finds the entry free.
      this.#held.delete(kept.generation)
      this.#options.mail.forget?.(kept)
    }
  }

  async #tellAll(kept: K, first: Slot | undefined): Promise<void> {
    const { mail } = this.#options
    let seen = mail.seenOf(kept)
    let told = kept
    let place = first
    while (true) {
      place ??= this.#lanes.enter(told)
      if (place === undefined) {
        await this.#room.wait()
        continue
      }
      let next: Next<K, N>
      try {
        const step = await this.#step(kept, seen)
        next = step.next
        if (next.act === 'tell') {
          mail.chosen?.(step.kept, next.notice)
          if (!(await this.#tell(step.kept, next.notice, place))) return
        }
      } finally {
        place.leave()
        place = undefined
        this.#makeRoom()
      }
      if (next.act === 'stop' || next.act === 'rest') return
      if (next.act === 'tell') {
        seen = mail.seenOf(kept, next.notice)
        told = { ...kept, failures: 0 }
      } else {
        seen = next.seen
        await next.changed
      }
    }
  }

  /** Gives back a place that was not used. */
  #leave(place: Slot): void {
    place.leave()
    this.#room.fire()
  }

  /** Wakes those that wait for a place, and starts a sweep if due entries wait. */
  #makeRoom(): void {
    this.#room.fire()
    if (!this.#isBehind || this.#isToSweep) return
    this.#isToSweep = true
    queueMicrotask(() => {
      this.#isToSweep = false
      this.sweep()
    })
  }

  /** The entry as it is now; undefined if it was set anew, deleted or given up, or another worker has it. */
  #ours(tx: Transaction, kept: K): K | undefined {
    const { queue } = this.#options.mail
    const found = tx.get<K>(queue.collection, queue.idOf(kept))?.value
    return found?.generation === kept.generation && found.holder === this.#holder ? found : undefined
  }

  async #step(kept: K, seen: number): Promise<Step<K, N>> {
    const { store, onGivenUp } = this.#options
    const step = await store.write(tx => this.#next(tx, kept, seen), PATIENCE_MS)
    if (step.why !== undefined) onGivenUp(step.kept, step.why)
    return step
  }

  /** What to do next for an entry. The same transaction extends the lease of this worker, and counts a try that begins. */
  #next(tx: Transaction, claimed: K, seen: number): Step<K, N> {
    const { mail, settings } = this.#options
    const found = this.#ours(tx, claimed)
    if (found === undefined) return { kept: claimed, next: { act: 'stop' } }
    const next = mail.next(tx, found, seen)
    if (next.act === 'rest') saveQueued(tx, mail.queue, { ...next.kept, holder: undefined }, next.dueAt)
    if (next.act !== 'tell') return { kept: found, next }
    // Whoever sends it writes what comes of it. So nothing has come of these, since their processes died.
    const { begun: died = 0, failures } = found
    if (died >= MAX_DEATHS || (died > 0 && failures + died >= settings.maxTries))
      return this.#giveUp(tx, found)
    const kept = { ...found, begun: died + 1 }
    const dueAt = this.#leaseEnd() + retryDelay(died + 1, settings)
    saveQueued(tx, mail.queue, mail.sending(kept, next.notice), dueAt)
    return { kept, next }
  }

  /** Gives an entry up of which processes died. */
  #giveUp(tx: Transaction, found: K): Step<K, N> {
    const { mail } = this.#options
    const { begun: tries = 0, failures } = found
    const times = tries === 1 ? '' : `, ${tries} times in a row`
    const why = `the service stopped while it sent it${times}`
    const kept = { ...found, failures: failures + tries, begun: 0, holder: undefined, isDead: true }
    saveQueued(tx, mail.queue, kept, undefined)
    mail.record?.(tx, kept, { reception: { how: 'gone', why }, tries, code: 'interrupted' })
    return { kept, next: { act: 'stop' }, why }
  }

  /** Sends a notice and stores the result. Returns whether the receiver took it, so that the next notice may follow. */
  async #tell(kept: K, notice: N, place: Slot): Promise<boolean> {
    const { settings, onGivenUp, mail } = this.#options
    const { generation } = kept
    this.#sending.set(generation, mail.sending(kept, notice))
    const reception = await this.#send(kept, notice, place)
    this.#sending.delete(generation)
    const tries = triesOf(kept)
    if (reception.how === 'taken') {
      const taken = { ...mail.taken(kept, notice), failures: 0, begun: 0 }
      return await this.#save(taken, this.#leaseEnd(), { reception, tries })
    }
    const failures = kept.failures + tries
    const released = { ...mail.sending(kept, notice), failures, begun: 0, holder: undefined }
    if (reception.how === 'gone' || failures >= settings.maxTries) {
      if (await this.#save({ ...released, isDead: true }, undefined, { reception, tries })) {
        onGivenUp(kept, reception.why)
      }
      return false
    }
    const nextTryAt = Date.now() + this.#delayOf(failures, reception.retryAfterMs)
    await this.#save(released, nextTryAt, { reception, tries, nextTryAt })
    return false
  }

  /** Milliseconds until the next try: at least those that the receiver asks for, but never more than the longest delay. */
  #delayOf(failures: number, retryAfterMs = 0): number {
    const { settings } = this.#options
    return Math.min(Math.max(retryDelay(failures, settings), retryAfterMs), longestDelay(settings))
  }

  /** Sends a notice. A slow receiver gives up its place to others, and the lanes remember that it is slow. */
  async #send(kept: K, notice: N, place: Slot): Promise<Reception> {
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
      if (place.goSlow()) this.#makeRoom()
    }, SLOW_MS)
    const { mail, sender } = this.#options
    const reception = await sender.send(mail.deliveryOf(kept, notice))
    clearTimeout(timer)
    this.#lanes.note(kept, reception.how === 'taken' && !isSlow)
    return reception
  }

  /** Writes an entry. Returns false if the entry was set anew or claimed by another worker meanwhile. */
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
   * Twice the longest time between a write and the due time that it sets: a worker elsewhere may have written later than this one has
   * looked at its clock, or has one that is ahead.
   */
  get #maxWaitMs(): number {
    return 2 * Math.max(this.#leaseMs, LOOK_AGAIN_MS, longestDelay(this.#options.settings))
  }
}

/** What to do next for an entry, as it is written. */
interface Step<K, N> {
  readonly kept: K
  readonly next: Next<K, N>
  /** It was given up, since its processes died. */
  readonly why?: string
}

/** The try that has begun, and those before it of which nothing came. */
function triesOf({ begun = 1 }: Queued): number {
  return begun
}
