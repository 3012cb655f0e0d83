import { ServableClientError } from './error.ts'
import type { CallOptions } from './options.ts'

/** The signal of one call: fires for the caller's own, after the time-out, and when the call is left. */
export interface Link {
  readonly signal: AbortSignal
  /** Fires the signal. */
  leave(reason: unknown): void
  /** Lets go of the caller's signal and the timer. */
  unlink(): void
}

/** Most milliseconds of a timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** Makes the signal of a call. It must be unlinked, or have fired, in the end. */
export function linkSignal({ signal, timeoutMs }: Pick<CallOptions, 'signal' | 'timeoutMs'>): Link {
  const controller = new AbortController()
  const leave = (reason: unknown) => {
    unlink()
    controller.abort(reason)
  }
  const pass = () => leave(signal?.reason)
  const late = () => leave(new ServableClientError('timeout', '`timeoutMs` has passed'))
  // A longer one is none, as is what is no number.
  const timer = Number(timeoutMs) <= MAX_TIMER_MS ? setTimeout(late, timeoutMs) : undefined
  const unlink = () => {
    if (timer) clearTimeout(timer)
    signal?.removeEventListener('abort', pass)
  }
  signal?.addEventListener('abort', pass)
  if (signal?.aborted) pass()
  return { signal: controller.signal, leave, unlink }
}

/** What a promise gives, or the reason of a signal that fires before. `late` gets what comes after that. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal, late?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    const take = (value: T) => {
      if (signal.aborted) late?.(value)
      resolve(value)
    }
    void promise.then(take, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Waits. Rejects with the reason of a signal that fires before. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const slept = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  return orAbort(slept, signal).finally(() => timer && clearTimeout(timer))
}
