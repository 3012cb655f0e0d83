import { mayPass } from './error.ts'
import { sleep } from './signal.ts'

/** Longest wait of our own between two tries, and longest `Retry-After` that is waited for; milliseconds. */
const MAX_DELAY_MS = 10_000
const MAX_RETRY_AFTER_MS = 60_000

/** The tries of one call. */
export interface Tries {
  /** The call has got on: the next failure counts as the first. */
  progress(): void
  /** Waits before the next try; throws `error` where there is none. */
  again(error: unknown): Promise<void>
}

/** Counts tries without progress. */
export function createTries(maxTries: number, delayMs: number, signal: AbortSignal): Tries {
  let failures = 0
  return {
    progress() {
      failures = 0
    },
    async again(error) {
      failures++
      if (!mayPass(error) || failures >= maxTries) throw error
      const { retryAfter = 0 } = error
      if (retryAfter > MAX_RETRY_AFTER_MS) throw error
      const delay = Math.min(MAX_DELAY_MS, delayMs * 2 ** (failures - 1))
      await sleep(Math.max(retryAfter, delay * (1 - Math.random() / 2)), signal)
    },
  }
}

/** Does it until it is done, or there is no next try. */
export async function repeat<T>(tries: Tries, work: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await work()
    } catch (error) {
      await tries.again(error)
    }
  }
}
