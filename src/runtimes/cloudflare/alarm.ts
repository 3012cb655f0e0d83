import { createMutex } from '../../core/mutex.ts'
import type { ObjectStorage } from '../../stores/objects/storage.ts'

/**
 * The one alarm of an object, in whole milliseconds. Setting it is billed like a row, so the alarm is set only if its time
 * changes. While it rings, the alarm is set once, after all work has named its next time.
 */
export class Alarm {
  readonly #storage: ObjectStorage
  /** The earliest time that was requested while the alarm rings. */
  #soonest: number | undefined
  /** Each change looks at the alarm before it sets it. */
  readonly #inTurn = createMutex()

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Makes the alarm ring at this time or earlier, or with `isExact` at exactly this time. */
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

  /** Does the work of an alarm that rings. `work` requests the next time. Returns false if it requests none. */
  async ring(work: () => Promise<void>): Promise<boolean> {
    this.#soonest = Number.POSITIVE_INFINITY
    await work()
    const soonest = this.#soonest
    this.#soonest = undefined
    const isSet = soonest < Number.POSITIVE_INFINITY
    // The runtime forgets an alarm that is set to the very millisecond for which it rings.
    if (isSet) await this.set(Math.max(Date.now() + 1, soonest))
    return isSet
  }
}
