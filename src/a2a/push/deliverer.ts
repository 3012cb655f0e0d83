/**
 * Tells receivers of their tasks: each in the order of the task's log, again where that fails, and no more where it fails
 * too often. How far a receiver is, and when it is due again, stands in the store, so that others go on where one ends.
 *
 * @module
 */

import type { Store, Transaction } from '../../state/store.ts'
import { createWake, type Wake } from '../../wake.ts'
import { type StoredTask, TASKS } from '../task-record.ts'
import { claimDue, findPush, type KeptPush, markDue, nextDue, savePush } from './kept.ts'
import { type Notice, nextNotice } from './notice.ts'
import type { PushSettings } from './options.ts'
import type { Sender } from './sender.ts'

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

/** Receivers that are told at a time. */
const MAX_AT_ONCE = 64

/** Milliseconds after which a task is looked at whose agent is at work elsewhere. */
const LOOK_MS = 1000

/** What a worker does next. */
type Step =
  | { readonly act: 'tell'; readonly kept: KeptPush; readonly notice: Notice }
  | { readonly act: 'wait'; readonly changed: Wake; readonly seq: number }
  | { readonly act: 'stop' }

/** Delivers. */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #holder = crypto.randomUUID()
  /** Those whose worker is here, by the generation of their config. */
  readonly #held = new Set<string>()
  #telling = 0
  /** Fires when one less is told. */
  readonly #room = createWake()

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  /** Something has happened to a task: its receivers are told, but for those that wait for their next try. Never throws. */
  poke(taskId: string): void {
    this.#guarded(() => this.#options.store.transact(tx => markDue(tx, taskId)))
    this.sweep()
  }

  /** Goes on with all that is due, also with what others have left behind. Never throws. */
  sweep(): void {
    this.#guarded(() => {
      const room = MAX_AT_ONCE - this.#telling
      // Whoever ends makes room, and sweeps.
      if (room <= 0) return
      const { due, next } = this.#options.store.transact(tx => ({
        due: claimDue(tx, Date.now(), { holder: this.#holder, until: this.#leaseEnd(), limit: room }),
        next: nextDue(tx),
      }))
      for (const kept of due) this.#start(kept)
      if (next !== undefined) this.#options.schedule(next)
    })
  }

  /** A store that cannot be used now may be later. */
  #guarded(act: () => void): void {
    try {
      act()
    } catch {
      this.#options.schedule(this.#leaseEnd())
    }
  }

  #start(kept: KeptPush): void {
    if (this.#held.has(kept.generation)) return
    this.#held.add(kept.generation)
    // A store that cannot be written now is due again when the lease has ended.
    const work = this.#work(kept).catch(() => {})
    this.#options.keepAlive(work.then(() => this.sweep()))
  }

  /** Tells a receiver all that there is, and what comes while its task's agent is at work here. */
  async #work(kept: KeptPush): Promise<void> {
    try {
      await this.#tellAll(kept)
    } finally {
      // At once, so that whoever pokes next finds that nobody is at work.
      this.#held.delete(kept.generation)
    }
  }

  async #tellAll(kept: KeptPush): Promise<void> {
    // What was looked at and is nothing to tell.
    let seen = kept.seq
    while (true) {
      while (this.#telling >= MAX_AT_ONCE) await this.#room.wait()
      this.#telling++
      let step: Step
      try {
        step = this.#options.store.transact(tx => this.#next(tx, kept, seen))
        if (step.act === 'tell' && !(await this.#tell(step.kept, step.notice))) return
      } finally {
        this.#leave()
      }
      if (step.act === 'stop') return
      if (step.act === 'tell') seen = step.notice.seq
      else {
        seen = step.seq
        await step.changed.wait()
      }
    }
  }

  /** One less is told. */
  #leave(): void {
    const wasFull = this.#telling >= MAX_AT_ONCE
    this.#telling--
    this.#room.fire()
    if (wasFull) this.sweep()
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
    const notice = growing?.isTask === false ? from : nextNotice(tx, kept, { task, from })
    if (typeof notice !== 'number') {
      savePush(tx, { ...kept, upTo: notice.seq }, this.#leaseEnd())
      return { act: 'tell', kept, notice }
    }
    // It wakes by itself. When its lease has ended, whoever finds it goes on with it.
    if (growing !== undefined) return { act: 'wait', changed: growing.changed, seq: notice }
    const dueAt = task.isAtWork ? Date.now() + LOOK_MS : undefined
    savePush(tx, { ...kept, seq: notice, holder: undefined }, dueAt)
    return stop
  }

  /** Whether the receiver has it, so that the next one may follow. */
  async #tell(kept: KeptPush, notice: Notice): Promise<boolean> {
    const { sender, settings, onGivenUp } = this.#options
    const reception = await sender.send(kept, notice)
    if (reception.how === 'taken') {
      return this.#save({ ...kept, seq: notice.seq, upTo: undefined, failures: 0 }, this.#leaseEnd())
    }
    const failures = kept.failures + 1
    const released = { ...kept, upTo: notice.seq, failures, holder: undefined }
    if (reception.how === 'gone' || failures >= settings.maxTries) {
      if (this.#save({ ...released, isDead: true }, undefined)) onGivenUp(kept, reception.why)
      return false
    }
    const { retryMs, maxRetryMs } = settings
    const backoff = Math.min(maxRetryMs, retryMs * 2 ** (failures - 1))
    // Spread, so that many that failed together do not come back together.
    this.#save(released, Date.now() + backoff * (0.75 + Math.random() / 2))
    return false
  }

  /** Whether it could be written: a config that was replaced meanwhile is another's. */
  #save(kept: KeptPush, dueAt: number | undefined): boolean {
    return this.#options.store.transact(tx => {
      const before = findPush(tx, kept.taskId, kept.config.id)
      const isOurs = before?.generation === kept.generation && before.holder === this.#holder
      if (isOurs) savePush(tx, kept, dueAt)
      return isOurs
    })
  }

  #leaseEnd(): number {
    return Date.now() + this.#options.settings.timeoutMs * 2
  }
}
