import type { ObjectStorage } from './platform.ts'

/**
 * The one alarm of an object. Setting it is paid for like a row, so it is set only where that changes something, and while it
 * rings not before all have said when it is to ring next.
 */
export class Alarm {
  readonly #storage: ObjectStorage
  /** The soonest moment that was said while it rings. */
  #soonest: number | undefined

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Rings then, and not before. */
  async setTo(at: number): Promise<void> {
    if (this.#soonest !== undefined) return this.#note(at)
    if ((await this.#storage.getAlarm()) !== at) await this.#storage.setAlarm(at)
  }

  /** Rings then, or before. */
  async setBy(at: number): Promise<void> {
    if (this.#soonest !== undefined) return this.#note(at)
    const set = await this.#storage.getAlarm()
    // One that is overdue may have been lost.
    if (set === null || set > at || set < Date.now()) await this.#storage.setAlarm(at)
  }

  /** Everything was deleted: it does not ring. */
  forget(): void {
    if (this.#soonest !== undefined) this.#soonest = Number.POSITIVE_INFINITY
  }

  /** It rings: `work` says when it is to ring next. False where nothing does. */
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
