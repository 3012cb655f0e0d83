/**
 * Sends push notifications of tasks. A receiver gets them in the order of the task's log. A failed notification is sent
 * again until it has failed too often. The store holds the position of each receiver and the time of its next try, so
 * another process can continue when one ends.
 *
 * @module
 */

import type { Soon, Store, Transaction } from '../../state/store.ts'
import { createWake, type Wake } from '../../wake.ts'
import { Lanes, type Place, SLOW_MS } from '../../webhook-delivery/lanes.ts'
import { longestDelay, retryDelay } from '../../webhook-delivery/retry.ts'
import type { Reception, Sender } from '../../webhook-delivery/sender.ts'
import { type StoredTask, TASKS } from '../task-record.ts'
import { TaskViews } from '../task-views.ts'
import { deliveryOf, receiverOf } from './delivery.ts'
import {
  type Claiming,
  claimDue,
  claimDueOf,
  findPush,
  type KeptPush,
  markDue,
  nextDue,
  savePush,
} from './kept.ts'
import { type Notice, nextNotice } from './notice.ts'
import type { PushSettings } from './options.ts'

/** An agent that is working on a task. */
export interface Growing {
  /** Fires when there is a new log entry, and when the agent ends. */
  readonly changed: Wake
  /** False until it is certain that the message becomes a task and not a bare message. */
  readonly isTask: boolean
}

/** What a deliverer needs. */
export interface DelivererOptions {
  readonly store: Store
  readonly settings: PushSettings
  readonly sender: Sender
  /** Returns the working agent of a task. Undefined if none works in this process. */
  readonly growing: (taskId: string) => Growing | undefined
  /** Keeps the process alive until a delivery has ended. */
  readonly keepAlive: (work: Promise<void>) => void
  /** Calls `sweep` at that time. Of several times the earliest one holds. */
  readonly schedule: (at: number) => void
  /**
   * Is called when a receiver gets no more notifications. The text contains nothing of the receiver, not even its address.
   */
  readonly onGivenUp: (kept: KeptPush, why: string) => void
}

/** Most due configs that a claim checks. */
const LOOK_AT = 256
/** Most due configs that an occasional larger claim checks, when none of the first ones may be sent. */
const LOOK_FAR = 10_000

/** Milliseconds between two of the larger claims. It is also the time to the next claim while due configs wait. */
const LOOK_AGAIN_MS = 1000

/** Milliseconds for which a failing write is tried again. Only the receivers wait for it. */
const PATIENCE_MS = 15_000

/** Milliseconds until the next look at a task whose agent works in another process. */
const LOOK_MS = 1000

/** The next step of a worker. */
type Step =
  | { readonly act: 'tell'; readonly kept: KeptPush; readonly notice: Notice }
  | { readonly act: 'wait'; readonly changed: Promise<void>; readonly seq: number }
  | { readonly act: 'stop' }

/** Sends the notifications of a store. */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #holder = crypto.randomUUID()
  /** Configs that this deliverer works on, by their generation. */
  readonly #held = new Set<string>()
  readonly #lanes = new Lanes(receiverOf)
  /** The content of tasks for receivers that get whole tasks, by the generation of their config. */
  readonly #views = new TaskViews()
  /** Fires when a place becomes free. */
  readonly #room = createWake()
  /** Whether some due configs have to wait. */
  #isBehind = false
  #isToSweep = false
  #farAt = 0

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  /**
   * Sends the notifications of a task after a change. Receivers that wait for their next try are left out. Never throws.
   */
  poke(taskId: string): void {
    void this.#guarded(() => this.#claim(taskId))
  }

  /** Sends everything that is due, including what others left behind. Never throws. */
  sweep(): void {
    void this.#guarded(() => this.#claim(undefined))
  }

  /**
   * Claims the configs that are due and have a place. Those of the given task come first, so that they do not wait behind
   * configs that have to wait.
   */
  async #claim(taskId: string | undefined): Promise<void> {
    const places = new Map<string, Place>()
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
      admits: (kept: KeptPush) => {
        // Its worker finds a place by itself. The claim only goes on.
        if (this.#held.has(kept.generation)) return true
        const place = places.get(kept.generation) ?? this.#lanes.enter(kept)
        if (place !== undefined) places.set(kept.generation, place)
        return place !== undefined
      },
    }
    let claimed: readonly KeptPush[] = []
    try {
      const { own, any, next, isAll, isFar } = await this.#options.store.write(tx => {
        if (taskId !== undefined) markDue(tx, taskId)
        const own = taskId === undefined ? [] : claimDueOf(tx, taskId, claiming)
        return { own, ...claimAny(tx, claiming, mayLookFar) }
      })
      claimed = [...own, ...any]
      this.#isBehind = !isAll
      if (mayLookFar && !isFar) this.#farAt = farAt
      if (next !== undefined) this.#options.schedule(next)
    } finally {
      // A config whose claim was not written is not claimed.
      const isWritten = new Set(claimed.map(({ generation }) => generation))
      for (const [generation, place] of places) if (!isWritten.has(generation)) this.#leave(place)
    }
    // Each config has the place from its admission. A worker that has ended meanwhile left none.
    for (const kept of claimed) this.#start(kept, places.get(kept.generation))
  }

  /** Runs `act`. If the store fails, a sweep is scheduled for later. */
  async #guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch {
      this.#options.schedule(Date.now() + LOOK_AGAIN_MS)
    }
  }

  #start(kept: KeptPush, place: Place | undefined): void {
    if (this.#held.has(kept.generation)) return place && this.#leave(place)
    this.#held.add(kept.generation)
    // If the store cannot be written now, the config is due again when its lease ends.
    const work = this.#work(kept, place).catch(() => {})
    this.#options.keepAlive(work.then(() => this.sweep()))
  }

  /** Sends a receiver everything that is new, and what follows while the task's agent works here. */
  async #work(kept: KeptPush, place: Place | undefined): Promise<void> {
    try {
      await this.#tellAll(kept, place)
    } finally {
      // This happens at once, so that the next `poke` finds the config free.
      this.#held.delete(kept.generation)
      this.#views.forget(kept.generation)
    }
  }

  async #tellAll(kept: KeptPush, first: Place | undefined): Promise<void> {
    // The last entry that was read, even if there was nothing to send.
    let seen = kept.seq
    let told = kept
    let place = first
    while (true) {
      place ??= this.#lanes.enter(told)
      if (place === undefined) {
        await this.#room.wait()
        continue
      }
      let step: Step
      try {
        step = await this.#options.store.write(tx => this.#next(tx, kept, seen), PATIENCE_MS)
        if (step.act === 'tell' && step.notice.gathering !== undefined) {
          this.#views.hold(kept.generation, step.notice.gathering)
        }
        if (step.act === 'tell' && !(await this.#tell(step.kept, step.notice, place))) return
      } finally {
        place.leave()
        place = undefined
        this.#makeRoom()
      }
      if (step.act === 'stop') return
      if (step.act === 'tell') {
        seen = step.notice.seq
        told = { ...kept, failures: 0 }
      } else {
        seen = step.seq
        await step.changed
      }
    }
  }

  /** Gives back a place that was not used. */
  #leave(place: Place): void {
    place.leave()
    this.#room.fire()
  }

  /** Wakes those that wait for a place, and starts a sweep if due configs wait. */
  #makeRoom(): void {
    this.#room.fire()
    if (!this.#isBehind || this.#isToSweep) return
    this.#isToSweep = true
    queueMicrotask(() => {
      this.#isToSweep = false
      this.sweep()
    })
  }

  /** Returns the next step for a receiver. The same transaction extends the lease of this worker. */
  #next(tx: Transaction, { taskId, config, generation }: KeptPush, seen: number): Step {
    const stop = { act: 'stop' } as const
    const kept = findPush(tx, taskId, config.id)
    const task = tx.get<StoredTask>(TASKS, taskId)?.value
    // The config was replaced, deleted or given up, or another worker has it.
    if (kept?.generation !== generation || kept.holder !== this.#holder || task === undefined) return stop
    const growing = this.#options.growing(taskId)
    const from = Math.max(seen, kept.seq)
    const notice = growing?.isTask === false ? from : nextNotice(tx, kept, { task, from, views: this.#views })
    if (typeof notice !== 'number') {
      savePush(tx, { ...kept, upTo: notice.seq }, this.#leaseEnd())
      return { act: 'tell', kept, notice }
    }
    // The worker waits for the agent. If the lease ends meanwhile, any other worker may continue.
    if (growing !== undefined) return { act: 'wait', changed: growing.changed.wait(), seq: notice }
    const dueAt = task.isAtWork ? Date.now() + LOOK_MS : undefined
    savePush(tx, { ...kept, seq: notice, holder: undefined }, dueAt)
    return stop
  }

  /** Sends a notice and stores the result. Returns whether the receiver took it, so that the next notice may follow. */
  async #tell(kept: KeptPush, notice: Notice, place: Place): Promise<boolean> {
    const { settings, onGivenUp } = this.#options
    const reception = await this.#send(kept, notice, place)
    if (reception.how === 'taken') {
      return await this.#save({ ...kept, seq: notice.seq, upTo: undefined, failures: 0 }, this.#leaseEnd())
    }
    const failures = kept.failures + 1
    const released = { ...kept, upTo: notice.seq, failures, holder: undefined }
    if (reception.how === 'gone' || failures >= settings.maxTries) {
      if (await this.#save({ ...released, isDead: true }, undefined)) onGivenUp(kept, reception.why)
      return false
    }
    await this.#save(released, Date.now() + retryDelay(failures, settings))
    return false
  }

  /** Sends a notice. A slow receiver gives up its place to others, and the lanes remember that it is slow. */
  async #send(kept: KeptPush, notice: Notice, place: Place): Promise<Reception> {
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
      if (place.goSlow()) this.#makeRoom()
    }, SLOW_MS)
    const reception = await this.#options.sender.send(deliveryOf(kept, notice))
    clearTimeout(timer)
    this.#lanes.note(kept, reception.how === 'taken' && !isSlow)
    return reception
  }

  /** Writes a config. Returns false if the config was replaced or claimed by another worker meanwhile. */
  #save(kept: KeptPush, dueAt: number | undefined): Soon<boolean> {
    const save = (tx: Transaction) => {
      const before = findPush(tx, kept.taskId, kept.config.id)
      const isOurs = before?.generation === kept.generation && before.holder === this.#holder
      if (isOurs) savePush(tx, kept, dueAt)
      return isOurs
    }
    return this.#options.store.write(save, PATIENCE_MS)
  }

  #leaseEnd(): number {
    return Date.now() + this.#leaseMs
  }

  get #leaseMs(): number {
    return this.#options.settings.timeoutMs * 2
  }

  /** The longest time between a write and the due time that it sets. */
  get #maxWaitMs(): number {
    return Math.max(this.#leaseMs, LOOK_MS, longestDelay(this.#options.settings))
  }
}

/** The configs that were claimed over all tasks. */
interface AnyClaimed {
  readonly any: KeptPush[]
  /** Whether nothing else is due. */
  readonly isAll: boolean
  /** When to claim again. */
  readonly next: number | undefined
  readonly isFar: boolean
}

/** Claims configs of all tasks. If none of the first ones may be sent and `mayLookFar` is true, it checks many more. */
function claimAny(tx: Transaction, claiming: Claiming, mayLookFar: boolean): AnyClaimed {
  const near = claimDue(tx, LOOK_AT, claiming)
  const isFar = mayLookFar && !near.isAll && near.claimed.length === 0
  const { claimed, isAll } = isFar ? claimDue(tx, LOOK_FAR, claiming) : near
  return { any: claimed, isAll, isFar, next: isAll ? nextDue(tx) : claiming.now + LOOK_AGAIN_MS }
}
