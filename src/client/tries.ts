import { mayPass, ServableClientError } from './error.ts'
import { sleep } from './signal.ts'

/** Most milliseconds between two tries, without a `Retry-After`. */
const MAX_DELAY_MS = 10_000
/** Most milliseconds of a `Retry-After` that the client waits for. A longer one ends the tries. */
const MAX_RETRY_AFTER_MS = 60_000

/** The tries of one call. */
export interface Tries {
  /** Reports progress. The next failure counts as the first. */
  progress(): void
  /** Waits before the next try. Throws `error` if there is no next try. */
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
        // An error of another class comes from the caller: `headers` that throw, or an input that is not JSON.
        throw new ServableClientError('invalid_options', 'The request cannot be sent', { cause: error })
      }
      failures++
      const { retryAfter = 0 } = error
      // If `maxTries` is not a number, there is no second try.
      if (!mayPass(error) || !(failures < maxTries) || retryAfter > MAX_RETRY_AFTER_MS) throw error
      const delay = Math.min(MAX_DELAY_MS, delayMs * 2 ** (failures - 1))
      await sleep(Math.max(retryAfter, delay * (1 - Math.random() / 2)), signal)
    },
  }
}
