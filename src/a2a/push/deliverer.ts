/**
 * Tells receivers of their tasks: each in the order of the task's log, again where that fails, and no more where it fails
 * too often. How far a receiver is, and when it is due again, stands in the store, so that others go on where one ends.
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

/** An agent at work. */
export interface Growing {
  /** Fires when there is more to tell, and when the agent ends. */
  readonly changed: Wake
  /** False until it is known that there will be a task, and no bare message. */
  readonly isTask: boolean
}

/** What a deliverer needs. */
export interface DelivererOptions {
  readonly store: Store
  readonly settings: PushSettings
  readonly sender: Sender
  /** The agent of a task; undefined where none is at work here. */
  readonly growing: (taskId: string) => Growing | undefined
  /** Keeps the process going until a delivery has ended. */
  readonly keepAlive: (work: Promise<void>) => void
  /** Calls `sweep` at that moment; where it has been told of an earlier one, that one holds. */
  readonly schedule: (at: number) => void
  /** Told of a receiver that is given up. Neither its address nor anything of it is in the text. */
  readonly onGivenUp: (kept: KeptPush, why: string) => void
}

/** Configs that are due and are looked at to find those that may be told; and now and then, where none of them may. */
const LOOK_AT = 256
const LOOK_FAR = 10_000

/** Milliseconds between two such far looks, and to the next look where some that are due have to wait. */
const LOOK_AGAIN_MS = 1000

/** Milliseconds for which a store is tried again that cannot be written: nobody waits, but its receivers. */
const PATIENCE_MS = 15_000

/** Milliseconds after which a task is looked at whose agent is at work elsewhere. */
const LOOK_MS = 1000

/** What a worker does next. */
type Step =
  | { readonly act: 'tell'; readonly kept: KeptPush; readonly notice: Notice }
  | { readonly act: 'wait'; readonly changed: Promise<void>; readonly seq: number }
  | { readonly act: 'stop' }

/** Delivers. */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #holder = crypto.randomUUID()
  /** Those whose worker is here, by the generation of their config. */
  readonly #held = new Set<string>()
  readonly #lanes = new Lanes(receiverOf)
  /** What receivers that are told all of a task have of it, by the generation of their config. */
  readonly #views = new TaskViews()
  /** Fires when one less is told. */
  readonly #room = createWake()
  /** Some that are due have to wait. */
  #isBehind = false
  #isToSweep = false
  #farAt = 0

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  /** Something has happened to a task: its receivers are told, but for those that wait for their next try. Never throws. */
  poke(taskId: string): void {
    void this.#guarded(() => this.#claim(taskId))
  }

  /** Goes on with all that is due, also with what others have left behind. Never throws. */
  sweep(): void {
    void this.#guarded(() => this.#claim(undefined))
  }

  /** Takes in hand what is due and may be told now, a task's own first: it need not wait behind what others have to wait for. */
  async #claim(taskId: string | undefined): Promise<void> {
    const places = new Map<string, Place>()
    const now = Date.now()
    const farAt = this.#farAt
    const mayLookFar = now - farAt >= LOOK_AGAIN_MS
    // Of all that claim at once one looks far.
    if (mayLookFar) this.#farAt = now
    const claiming = {
      now,
      holder: this.#holder,
      until: this.#leaseEnd(),
      maxWaitMs: this.#maxWaitMs,
      admits: (kept: KeptPush) => {
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
      // What could not be written is in nobody's hands.
      const isWritten = new Set(claimed.map(({ generation }) => generation))
      for (const [generation, place] of places) if (!isWritten.has(generation)) place.leave()
    }
    // Each has the place that it was admitted with.
    for (const kept of claimed) this.#start(kept, places.get(kept.generation)!)
  }

  /** A store that cannot be used now may be later. */
  async #guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch {
      this.#options.schedule(Date.now() + LOOK_AGAIN_MS)
    }
  }

  #start(kept: KeptPush, place: Place): void {
    if (this.#held.has(kept.generation)) return place.leave()
    this.#held.add(kept.generation)
    // A store that cannot be written now is due again when the lease has ended.
    const work = this.#work(kept, place).catch(() => {})
    this.#options.keepAlive(work.then(() => this.sweep()))
  }

  /** Tells a receiver all that there is, and what comes while its task's agent is at work here. */
  async #work(kept: KeptPush, place: Place): Promise<void> {
    try {
      await this.#tellAll(kept, place)
    } finally {
      // At once, so that whoever pokes next finds that nobody is at work.
      this.#held.delete(kept.generation)
      this.#views.forget(kept.generation)
    }
  }

  async #tellAll(kept: KeptPush, first: Place): Promise<void> {
    // What was looked at and is nothing to tell.
    let seen = kept.seq
    let told = kept
    let place: Place | undefined = first
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

  /** One less is told. */
  #makeRoom(): void {
    this.#room.fire()
    if (!this.#isBehind || this.#isToSweep) return
    this.#isToSweep = true
    queueMicrotask(() => {
      this.#isToSweep = false
      this.sweep()
    })
  }

  /** What is next for a receiver. The store says in the same transaction who works on it until when. */
  #next(tx: Transaction, { taskId, config, generation }: KeptPush, seen: number): Step {
    const stop = { act: 'stop' } as const
    const kept = findPush(tx, taskId, config.id)
    const task = tx.get<StoredTask>(TASKS, taskId)?.value
    // Replaced, taken away, given up, or in the hands of others.
    if (kept?.generation !== generation || kept.holder !== this.#holder || task === undefined) return stop
    const growing = this.#options.growing(taskId)
    const from = Math.max(seen, kept.seq)
    const notice = growing?.isTask === false ? from : nextNotice(tx, kept, { task, from, views: this.#views })
    if (typeof notice !== 'number') {
      savePush(tx, { ...kept, upTo: notice.seq }, this.#leaseEnd())
      return { act: 'tell', kept, notice }
    }
    // It wakes by itself. When its lease has ended, whoever finds it goes on with it.
    if (growing !== undefined) return { act: 'wait', changed: growing.changed.wait(), seq: notice }
    const dueAt = task.isAtWork ? Date.now() + LOOK_MS : undefined
    savePush(tx, { ...kept, seq: notice, holder: undefined }, dueAt)
    return stop
  }

  /** Whether the receiver has it, so that the next one may follow. */
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

  /** Sends a notice; a receiver that takes long leaves its place to others, and is remembered for it. */
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

  /** Whether it could be written: a config that was replaced meanwhile is another's. */
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

  /** Nothing is due later than this from the moment at which it was written. */
  get #maxWaitMs(): number {
    return Math.max(this.#leaseMs, LOOK_MS, longestDelay(this.#options.settings))
  }
}

/** What is claimed of all tasks. */
interface AnyClaimed {
  readonly any: KeptPush[]
  /** Whether that is all that is due. */
  readonly isAll: boolean
  /** When to look again. */
  readonly next: number | undefined
  readonly isFar: boolean
}

/** Takes those of all tasks in hand; where none of the first ones may be told, it looks far if it may. */
function claimAny(tx: Transaction, claiming: Claiming, mayLookFar: boolean): AnyClaimed {
  const near = claimDue(tx, LOOK_AT, claiming)
  const isFar = mayLookFar && !near.isAll && near.claimed.length === 0
  const { claimed, isAll } = isFar ? claimDue(tx, LOOK_FAR, claiming) : near
  return { any: claimed, isAll, isFar, next: isAll ? nextDue(tx) : claiming.now + LOOK_AGAIN_MS }
}
