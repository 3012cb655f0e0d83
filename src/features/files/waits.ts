/**
 * Limits how long a run waits for the stores of its files.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import { unrefed } from '../../base/wake.ts'

/** Milliseconds for which a failed write to the state is retried. */
const PATIENCE_MS = 15_000
const RETRY_MS = 250

/** Milliseconds that a custom store may take. */
const STORE_MS = 30_000

/** Calls the state, and retries for a while if it is unavailable. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  while (true) {
    try {
      return await work()
    } catch (error) {
      const mayPass = isServableError(error) && error.code === 'state_unavailable'
      if (!mayPass || performance.now() > until) throw error
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Calls a custom store once. Rejects with `state_unavailable`: what the store says is the cause, which the log has and clients have not. */
export async function withTimeout<T>(work: () => T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = unrefed(setTimeout(() => reject(new Error(`no answer within ${STORE_MS} ms`)), STORE_MS))
  })
  const asked = (async () => work())()
  try {
    return await Promise.race([asked, late])
  } catch (cause) {
    throw new ServableError('state_unavailable', 'The store of files failed: try again later', { cause })
  } finally {
    clearTimeout(timer)
  }
}
