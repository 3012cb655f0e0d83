/** Wakes callers that wait for a change. */
export interface Wake {
  /** Resolves at the next `fire`. Check the condition first, with nothing awaited in between. */
  wait(): Promise<void>
  fire(): void
}

/** A promise with the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason: unknown) => void
}

/** Makes a {@link Deferred}. It is `Promise.withResolvers`, which browsers from before 2024 lack. */
export function deferred<T>(): Deferred<T> {
  let resolve!: Deferred<T>['resolve']
  let reject!: Deferred<T>['reject']
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  return { promise, resolve, reject }
}

/** Makes a {@link Wake}. A `fire` without a waiting caller has no effect. */
export function createWake(): Wake {
  let waiting: Deferred<void> | undefined
  return {
    wait() {
      waiting ??= deferred<void>()
      return waiting.promise
    },
    fire() {
      waiting?.resolve()
      waiting = undefined
    },
  }
}

/** The number of items in a row after which a loop must let timers and I/O run, since other code may never wait. */
export const BREATHE_EVERY = 4096

/** Milliseconds of work for one item after which a loop must let timers and I/O run. */
const LONG_MS = 10

/** One in so many items is timed while none has taken long: reading the clock costs as much as a short item. */
const SELDOM = 16

/**
 * Paces a loop over the items of other code, which may compute for long, or return a thousand items without waiting. It times
 * only the work before an item is awaited.
 */
export class Pace {
  /** The number of items until now, including the current one. */
  count = 0
  #every = 1
  #next = 1
  #hasTakenLong = false

  /** Whether to {@link breathe} before the next item. */
  get isDue(): boolean {
    return this.#hasTakenLong || (this.count + 1) % BREATHE_EVERY === 0
  }

  /** Begins the work on an item. Returns the argument of `end`; undefined for an item that is not timed. */
  begin(): number | undefined {
    this.#hasTakenLong = false
    return ++this.count < this.#next ? undefined : performance.now()
  }

  end(startedAt: number | undefined): void {
    if (startedAt === undefined) return
    this.#hasTakenLong = performance.now() - startedAt > LONG_MS
    this.#every = this.#hasTakenLong ? 1 : Math.min(2 * this.#every, SELDOM)
    this.#next = this.count + this.#every
  }
}

/** Resolves once timers and I/O have run. */
export function breathe(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 0))
}

/** Returns the timer, which no longer keeps the process alive. */
export function unrefed<T>(timer: T): T {
  const { Deno: deno } = globalThis as { readonly Deno?: { unrefTimer?(id: number): void } }
  // A timer of Deno is a number.
  if (typeof timer === 'number') deno?.unrefTimer?.(timer)
  else (timer as { unref?(): void }).unref?.()
  return timer
}

/** Waits for `ms` milliseconds. The timer does not keep the process alive. */
export function later(ms: number): Promise<void> {
  return new Promise(resolve => unrefed(setTimeout(resolve, ms)))
}

/** Waits for `ms` milliseconds. Rejects with the signal's reason. */
export function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

/** Runs the work, unless the signal fires first. Rejects with the signal's reason. */
export async function unless<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let leave = () => {}
  const over = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave)
  })
  try {
    return await Promise.race([work(), over])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Runs the work, for at most `ms` milliseconds. Rejects with an error that names `what` if it takes longer. */
export async function within<T>(ms: number, what: string, work: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    if (timer !== undefined) clearTimeout(timer)
  }
}

/** The longest delay of a timer: 31 bits of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Makes a function that schedules `work` for a time. There is one timer, for the earliest time. It does not keep the
 * process alive.
 */
export function createSchedule(work: () => void): (at: number) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Number.POSITIVE_INFINITY
  return at => {
    if (at >= timerAt) return
    if (timer !== undefined) clearTimeout(timer)
    timerAt = at
    const due = () => {
      timerAt = Number.POSITIVE_INFINITY
      work()
    }
    timer = unrefed(setTimeout(due, Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS)))
  }
}
