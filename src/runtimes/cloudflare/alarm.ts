import { createMutex } from '../../core/mutex.ts'
import type { ObjectStorage } from '../../stores/objects/tables.ts'

/**
 * The one alarm of an object, in whole milliseconds. Setting it is billed like a row, so it is set only if its time changes.
 * During an alarm it is set once, after all work has requested its next time.
 */
export class Alarm {
  readonly #storage: ObjectStorage
  /** The earliest time requested during the current alarm. Undefined outside of alarms. */
  #soonest: number | undefined
  /** Runs one change at a time, since each reads the alarm before it sets it. */
  readonly #inTurn = createMutex()

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Sets the alarm to this time or earlier, or with `isExact` to exactly this time. */
  async set(at: number, isExact = false): Promise<void> {
    const time = Math.ceil(at)
    if (this.#soonest !== undefined) {
      this.#soonest = Math.min(this.#soonest, time)
      return
    }
    await this.#inTurn(async () => {
      const set = (await this.#storage.getAlarm()) ?? 0
      // An overdue alarm may have been lost. One that is not set counts as overdue.
      if (isExact ? set !== time : set > time || set < Date.now()) await this.#storage.setAlarm(time)
    })
  }

  /** Forgets the alarm, after everything was deleted. */
  forget(): void {
    this.#soonest &&= Number.POSITIVE_INFINITY
  }

  /** Runs the work of an alarm. `work` requests the next time. Returns false if it requests none. */
  async ring(work: () => Promise<void>): Promise<boolean> {
    this.#soonest = Number.POSITIVE_INFINITY
    await work()
    const soonest = this.#soonest
    this.#soonest = undefined
    const isSet = soonest < Number.POSITIVE_INFINITY
    // The runtime forgets an alarm that is set to the exact millisecond of the current one.
    if (isSet) await this.set(Math.max(Date.now() + 1, soonest))
    return isSet
  }
}
