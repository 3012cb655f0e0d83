/**
 * Allows a number of events in a second, and as many in a burst. It is a token bucket that is filled by elapsed time and
 * needs no timer.
 */
export class RateLimit {
  readonly #perSecond: number
  #tokens: number
  #at = performance.now()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
  }

  /** Takes a token. Returns whether there was one. */
  take(): boolean {
    const now = performance.now()
    // The clock may be set back on some runtimes. That must not remove tokens.
    const seconds = Math.max(0, now - this.#at) / 1000
    this.#tokens = Math.min(this.#perSecond, this.#tokens + seconds * this.#perSecond)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
