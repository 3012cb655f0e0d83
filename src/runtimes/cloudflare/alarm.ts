import type { ObjectStorage } from './platform.ts'

/**
 * The one alarm of an object. Setting it is billed like a row, so the alarm is set only if its time changes. While it rings,
 * the alarm is set once, after all work has named its next time.
 */
export class Alarm {
  readonly #storage: ObjectStorage
  /** The earliest time that was requested while the alarm rings. */
  #soonest: number | undefined

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Sets the alarm to exactly this time. */
  async setTo(at: number): Promise<void> {
    if (this.#soonest !== undefined) return this.#note(at)
    if ((await this.#storage.getAlarm()) !== at) await this.#storage.setAlarm(at)
  }

  /** Makes the alarm ring at this time or earlier. */
  async setBy(at: number): Promise<void> {
    if (this.#soonest !== undefined) return this.#note(at)
    const set = await this.#storage.getAlarm()
    // An overdue alarm may have been lost.
    if (set === null || set > at || set < Date.now()) await this.#storage.setAlarm(at)
  }

  /** Forgets the alarm, after everything was deleted. */
  forget(): void {
    if (this.#soonest !== undefined) this.#soonest = Number.POSITIVE_INFINITY
  }

  /** Does the work of an alarm that rings. `work` requests the next time. Returns false if it requests none. */
  async ring(work: () => Promise<void>): Promise<boolean> {
    this.#soonest = Number.POSITIVE_INFINITY
    await work()
    const soonest = this.#soonest
    this.#soonest = undefined
    if (!Number.isFinite(soonest)) return false
    await this.setBy(soonest)
    return true
  }

  #note(at: number): void {
    this.#soonest = Math.min(this.#soonest ?? at, at)
  }
}
