import { vi } from 'vitest'

/** Milliseconds from one check to the next, which are an eighth of the time so far between these bounds: a check may be a request. */
const LEAST_MS = 5
const MOST_MS = 100

/** Waits until a check throws no more, and gives what it returned. By default it takes as long as a busy machine may need. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 30_000): Promise<T> {
  if (vi.isFakeTimers()) return vi.waitFor(check, { timeout: timeoutMs, interval: 25 })
  const begunAt = performance.now()
  while (true) {
    try {
      return await check()
    } catch (error) {
      const waitedMs = performance.now() - begunAt
      if (waitedMs > timeoutMs) throw error
      const ms = Math.min(MOST_MS, Math.max(LEAST_MS, waitedMs / 8))
      await new Promise(resolve => setTimeout(resolve, ms))
    }
  }
}
