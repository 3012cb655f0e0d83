/** When a receiver that has failed is told again. */

/** How long to wait, in milliseconds. */
export interface RetryTimes {
  /** Before the second try; each further one waits twice as long. */
  readonly retryMs: number
  /** Between two tries at the most. */
  readonly maxRetryMs: number
}

/** A wait is made shorter or longer by such factors: many that failed together do not come back together. */
const SPREAD = [0.75, 1.25] as const

/** Milliseconds until the next try of one that has failed so often in a row. */
export function retryDelay(failures: number, { retryMs, maxRetryMs }: RetryTimes): number {
  const backoff = Math.min(maxRetryMs, retryMs * 2 ** (failures - 1))
  return backoff * (SPREAD[0] + Math.random() * (SPREAD[1] - SPREAD[0]))
}

/** The longest that it may be. */
export function longestDelay({ maxRetryMs }: RetryTimes): number {
  return maxRetryMs * SPREAD[1]
}
