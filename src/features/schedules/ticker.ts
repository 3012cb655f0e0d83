/**
 * The clock of a process that serves: one timer, for whatever is due next.
 *
 * @module
 */

import { createSchedule } from '../../base/wake.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'

/** Most milliseconds between two looks: another process may have set something for earlier, and a clock may be set forward. */
const LOOK_MS = 30_000

/** Milliseconds after which a look that failed is made again. */
const RETRY_MS = 2000

/** The timer of a process. It runs while a server serves. */
export class Ticker {
  readonly #log: Log
  readonly #timer = createSchedule(() => void this.#turn())
  /** Looks, and gives when to look again. Undefined while nobody serves. */
  #look: (() => Promise<number | undefined>) | undefined
  #serving = 0
  #isLooking = false
  /** Something was set while it looked. */
  #isStale = false
  #told: string | undefined

  constructor({ log }: { readonly log: Log }) {
    this.#log = log
  }

  /** A server begins. What is given is called when it ends. */
  begin(look: () => Promise<number | undefined>): () => void {
    this.#look = look
    this.#serving++
    void this.#turn()
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      if (--this.#serving === 0) this.#look = undefined
    }
  }

  /** Looks by then. */
  wakeBy(at: number): void {
    if (this.#look !== undefined) this.#timer(at)
  }

  async #turn(): Promise<void> {
    this.#isStale = this.#isLooking
    if (this.#isLooking || this.#look === undefined) return
    this.#isLooking = true
    const at = await this.#tryLook(this.#look)
    this.#isLooking = false
    this.wakeBy(this.#isStale ? Date.now() : Math.min(at, Date.now() + LOOK_MS))
  }

  /** Why a look failed is told once, until one succeeds. */
  async #tryLook(look: () => Promise<number | undefined>): Promise<number> {
    try {
      const at = await look()
      this.#told = undefined
      return at ?? Number.POSITIVE_INFINITY
    } catch (error) {
      if (String(error) !== this.#told) logThrown(this.#log, { event: 'schedules.failed' }, error)
      this.#told = String(error)
      return Date.now() + RETRY_MS
    }
  }
}
