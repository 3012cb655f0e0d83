/** When a failed request is sent again. */

/** Delays in milliseconds. */
export interface RetryTimes {
  /** Delay before the second try. Each further delay is twice as long. */
  readonly retryMs: number
  /** Longest delay between two tries. */
  readonly maxRetryMs: number
}

/**
 * Each delay is multiplied by a random factor in this range, so that many failed requests are not repeated at the same
 * time.
 */
const SPREAD = [0.75, 1.25] as const

/** Milliseconds until the next try, after so many failures in a row. */
export function retryDelay(failures: number, { retryMs, maxRetryMs }: RetryTimes): number {
  const backoff = Math.min(maxRetryMs, retryMs * 2 ** (failures - 1))
  return backoff * (SPREAD[0] + Math.random() * (SPREAD[1] - SPREAD[0]))
}

/** The longest possible delay. */
export function longestDelay({ maxRetryMs }: RetryTimes): number {
  return maxRetryMs * SPREAD[1]
}
