import type { ObjectStorage } from './platform.ts'

/** The one alarm of an object. Setting it is paid for like a row, so it is set only where that changes something. */
export class Alarm {
  readonly #storage: ObjectStorage

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Rings then, and not before. */
  async setTo(at: number): Promise<void> {
    if ((await this.#storage.getAlarm()) !== at) await this.#storage.setAlarm(at)
  }

  /** Rings then, or before. */
  async setBy(at: number): Promise<void> {
    const set = await this.#storage.getAlarm()
    // One that is overdue may have been lost.
    if (set === null || set > at || set < Date.now()) await this.#storage.setAlarm(at)
  }
}
