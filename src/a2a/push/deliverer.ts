/**
 * Tells receivers of their tasks: each in the order of the task's log, again where that fails, and no more where it fails
 * too often. How far a receiver is, and when it is due again, stands in the store, so that another process goes on from there.
 *
 * @module
 */

import type { Store, Transaction } from '../../state/store.ts'
import type { Wake } from '../../wake.ts'
import { type StoredTask, TASKS } from '../task-record.ts'
import { claimDue, type KeptPush, nextDue, readPush, readPushes, savePush } from './kept.ts'
import { nextNotice } from './notice.ts'
import type { PushSettings } from './options.ts'
import type { Sender } from './sender.ts'

/** What a deliverer needs. */
export interface DelivererOptions {
  readonly store: Store
  readonly settings: PushSettings
  readonly sender: Sender
  /** What fires when there is more to tell, and when the agent of the task ends; undefined where none is at work here. */
  readonly growing: (taskId: string) => Wake | undefined
  /** Keeps the process going until a delivery has ended. */
  readonly keepAlive: (work: Promise<void>) => void
  /** Calls `sweep` at that moment; where it has been told of an earlier one, that one holds. */
  readonly schedule: (at: number) => void
  /** Told of a receiver that is given up. Neither its address nor anything of it is in the text. */
  readonly onGivenUp: (kept: KeptPush, why: string) => void
}

/** Receivers that are worked on at a time. */
const MAX_AT_ONCE = 64

/** Delivers. */
export class Deliverer {
  readonly #options: DelivererOptions
  readonly #atWork = new Set<string>()

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  /** Something has happened to a task: its receivers are told. */
  poke(taskId: string): void {
    for (const kept of this.#options.store.transact(tx => readPushes(tx, taskId))) this.#start(kept)
  }

  /** Goes on with all that is due, also with what others have left behind. */
  sweep(): void {
    const { store, schedule } = this.#options
    const room = Math.max(1, MAX_AT_ONCE - this.#atWork.size)
    const { due, next } = store.transact(tx => ({
      due: claimDue(tx, Date.now(), this.#leaseEnd(), room),
      next: nextDue(tx),
    }))
    for (const kept of due) this.#start(kept)
    if (next !== undefined) schedule(next)
  }

  #start(kept: KeptPush): void {
    const name = `${kept.taskId}/${kept.config.id}`
    if (kept.isDead || this.#atWork.has(name)) return
    if (this.#atWork.size >= MAX_AT_ONCE) return this.#save(kept, Date.now())
    this.#atWork.add(name)
    const work = this.#work(kept).finally(() => {
      this.#atWork.delete(name)
      this.sweep()
    })
    // A store that cannot be written now is due again when the lease has ended.
    this.#options.keepAlive(work.catch(() => {}))
  }

  /** Tells a receiver all that there is, and what comes while its task's agent is at work here. */
  async #work({ taskId, config }: KeptPush): Promise<void> {
    const { store, growing } = this.#options
    while (true) {
      const wake = growing(taskId)
      const step = store.transact(tx => this.#next(tx, taskId, config.id))
      if (step === undefined) return
      if ('notice' in step) {
        if (!(await this.#tell(step.kept, step.notice))) return
      } else if (wake === undefined) return this.#save(step.kept, undefined)
      else await wake.wait()
    }
  }

  /** What is next for a receiver: a notice, or nothing for now; undefined where it is to be told no more. */
  #next(
    tx: Transaction,
    taskId: string,
    configId: string,
  ):
    | { kept: KeptPush; notice: Exclude<ReturnType<typeof nextNotice>, number> }
    | { kept: KeptPush }
    | undefined {
    const task = tx.get<StoredTask>(TASKS, taskId)?.value
    const kept = task && readIfThere(tx, taskId, configId)
    if (task === undefined || kept === undefined || kept.isDead) return undefined
    const notice = nextNotice(tx, kept, task)
    if (typeof notice === 'number') return { kept: { ...kept, seq: notice } }
    // Should this one end now, another goes on when the lease has ended.
    savePush(tx, kept, this.#leaseEnd())
    return { kept, notice }
  }

  /** Whether the receiver has it, so that the next one may follow. */
  async #tell(kept: KeptPush, notice: Exclude<ReturnType<typeof nextNotice>, number>): Promise<boolean> {
    const { sender, settings, onGivenUp } = this.#options
    this.#options.schedule(this.#leaseEnd())
    const reception = await sender.send(kept, notice)
    if (reception.how === 'taken') {
      this.#save({ ...kept, seq: notice.seq, failures: 0 }, this.#leaseEnd())
      return true
    }
    const failures = kept.failures + 1
    if (reception.how === 'gone' || failures >= settings.maxTries) {
      this.#save({ ...kept, failures, isDead: true }, undefined)
      onGivenUp(kept, reception.why)
      return false
    }
    const { retryMs, maxRetryMs } = settings
    const backoff = Math.min(maxRetryMs, retryMs * 2 ** (failures - 1))
    // Spread, so that many that failed together do not come back together.
    const dueAt = Date.now() + backoff * (0.75 + Math.random() / 2)
    this.#save({ ...kept, failures }, dueAt)
    this.#options.schedule(dueAt)
    return false
  }

  #save(kept: KeptPush, dueAt: number | undefined): void {
    this.#options.store.transact(tx => savePush(tx, kept, dueAt))
  }

  #leaseEnd(): number {
    return Date.now() + this.#options.settings.timeoutMs * 2
  }
}

function readIfThere(tx: Transaction, taskId: string, configId: string): KeptPush | undefined {
  try {
    return readPush(tx, taskId, configId)
  } catch {
    return undefined
  }
}
