/** Lets so many through a second, and in one go: a bucket of tokens, which fills with time and needs no timer. */
export class RateLimit {
  readonly #perSecond: number
  #tokens: number
  #at = performance.now()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
  }

  /** Whether one more may go through. */
  take(): boolean {
    const now = performance.now()
    // Not every runtime's clock is monotonic: one that was set back takes nothing away.
    const seconds = Math.max(0, now - this.#at) / 1000
    this.#tokens = Math.min(this.#perSecond, this.#tokens + seconds * this.#perSecond)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
