/**
 * The windows of clients in a process.
 *
 * @module
 */

/** The most clients that a process remembers. Past it the earliest ones are forgotten. */
const MAX_CLIENTS = 100_000

/** The shortest time between two sweeps, in milliseconds. A sweep happens with a request, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/**
 * Milliseconds by which a window may begin in the future: another process began it with a clock that is ahead, or while this one
 * waited for the store.
 */
const AHEAD_MS = 10_000

/** Whether a window counts. One that begins later is from before the clock was set back, so a new one begins. */
export function isOpen(endsAt: number, windowMs: number, now: number): boolean {
  return endsAt > now && endsAt - windowMs <= now + AHEAD_MS
}

/** Windows by client. Past windows are forgotten. */
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
