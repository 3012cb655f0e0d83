import { mayPass, ServableClientError } from './error.ts'
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
      signal.throwIfAborted()
      if (!(error instanceof ServableClientError)) {
        // What is no failure of ours is one of what was given: `headers` that throw, an input that is no JSON.
        throw new ServableClientError('invalid_options', 'The request cannot be sent', { cause: error })
      }
      failures++
      const { retryAfter = 0 } = error
      // Not even one more where `maxTries` is no number.
      if (!mayPass(error) || !(failures < maxTries) || retryAfter > MAX_RETRY_AFTER_MS) throw error
      const delay = Math.min(MAX_DELAY_MS, delayMs * 2 ** (failures - 1))
      await sleep(Math.max(retryAfter, delay * (1 - Math.random() / 2)), signal)
    },
  }
}
