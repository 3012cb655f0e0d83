/**
 * The timer of a serving process, for the next due schedule.
 *
 * @module
 */

import { createSchedule } from '../../base/wake.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'

/** Most milliseconds between two checks: another process may have set an earlier time, and a clock may be set forward. */
const LOOK_MS = 30_000

/** Milliseconds after which a failed check is repeated. */
const RETRY_MS = 2000

/** The timer of a process. It is active while a server serves. */
export class ScheduleTicker {
  readonly #log: Log
  readonly #timer = createSchedule(() => void this.#turn())
  /** Checks, and returns the time of the next check. Undefined while no server serves. */
  #look: (() => Promise<number | undefined>) | undefined
  #serving = 0
  #isLooking = false
  /** Whether a time was set during a check. */
  #isStale = false
  #logged: string | undefined

  constructor({ log }: { readonly log: Log }) {
    this.#log = log
  }

  /** Called when a server begins. Call the returned function when it ends. */
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

  /** Checks at this time at the latest. */
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

  /** The error of a failed check is logged once, until one succeeds. */
  async #tryLook(look: () => Promise<number | undefined>): Promise<number> {
    try {
      const at = await look()
      this.#logged = undefined
      return at ?? Number.POSITIVE_INFINITY
    } catch (error) {
      if (String(error) !== this.#logged) logThrown(this.#log, { event: 'schedules.failed' }, error)
      this.#logged = String(error)
      return Date.now() + RETRY_MS
    }
  }
}
