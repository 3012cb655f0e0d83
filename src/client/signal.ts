import { ServableClientError } from './error.ts'
import type { CallOptions } from './options.ts'

/** The signal of one call. It fires with the caller's signal, after the time-out, and when the reader leaves the call. */
export interface LinkedSignal {
  readonly signal: AbortSignal
  /** Fires the signal. */
  leave(reason: unknown): void
  /** Releases the caller's signal and the timer. */
  unlink(): void
}

/** Most milliseconds of a timer. A longer timer would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** Makes the signal of a call. At the end, unlink it unless it has fired. */
export function linkSignal({ signal, timeoutMs }: Pick<CallOptions, 'signal' | 'timeoutMs'>): LinkedSignal {
  const controller = new AbortController()
  const leave = (reason: unknown) => {
    unlink()
    controller.abort(reason)
  }
  const pass = () => leave(signal?.reason)
  const late = () => leave(new ServableClientError('timeout', '`timeoutMs` has passed'))
  // A longer time, or a value that is not a number, means no time-out.
  const timer = Number(timeoutMs) <= MAX_TIMER_MS ? setTimeout(late, timeoutMs) : undefined
  const unlink = () => {
    if (timer) clearTimeout(timer)
    signal?.removeEventListener('abort', pass)
  }
  signal?.addEventListener('abort', pass)
  if (signal?.aborted) pass()
  return { signal: controller.signal, leave, unlink }
}

/**
 * Resolves as the promise does, or rejects with the signal's reason if the signal fires first. `late` gets a value that comes
 * after that.
 */
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

/** Waits. Rejects with the signal's reason if the signal fires first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const slept = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  return orAbort(slept, signal).finally(() => timer && clearTimeout(timer))
}
