/**
 * The windows of clients that a process knows.
 *
 * @module
 */

/** Clients that a process knows; past it the ones that came first are forgotten. */
const MAX_CLIENTS = 100_000

/** Milliseconds between two sweeps at the least; a sweep happens with a request, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/**
 * Milliseconds by which a window may begin in the future: another process has begun it with a clock that is ahead, or while this one
 * waited for the store.
 */
const AHEAD_MS = 10_000

/** Whether a window holds. One that begins later than that is left from before the clock was set back: it is begun anew. */
export function isOpen(endsAt: number, windowMs: number, now: number): boolean {
  return endsAt > now && endsAt - windowMs <= now + AHEAD_MS
}

/** Windows by client. Those that are past are forgotten. */
export class OpenWindows<W extends { readonly endsAt: number }> {
  readonly #windowMs: number
  readonly #windows = new Map<string, W>()
  #sweptAt = 0

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  get(key: string, now: number): W | undefined {
    this.#sweep(now)
    const known = this.#windows.get(key)
    return known !== undefined && isOpen(known.endsAt, this.#windowMs, now) ? known : undefined
  }

  set(key: string, window: W): W {
    // In the order of their beginnings, so that the first is the oldest.
    this.#windows.delete(key)
    this.#windows.set(key, window)
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > MAX_CLIENTS && oldest !== undefined) this.#windows.delete(oldest)
    return window
  }

  #sweep(now: number): void {
    if (Math.abs(now - this.#sweptAt) < SWEEP_EVERY_MS) return
    this.#sweptAt = now
    for (const [key, { endsAt }] of this.#windows) {
      if (!isOpen(endsAt, this.#windowMs, now)) this.#windows.delete(key)
    }
  }
}
