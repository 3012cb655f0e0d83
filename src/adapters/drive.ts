/**
 * What holds for every run of a framework's agent.
 *
 * @module
 */

import type { RunOutcome } from '../agents/contract.ts'
import { escaped, ownerOf } from '../agents/owner.ts'
import type { RunContext, Yielded } from '../agents/perform.ts'
import { failureOf } from './failure.ts'

/**
 * Runs `work` with a signal that fires with the run's, and also when the reader leaves or the work fails, so that no call
 * to a model outlives its run. A provider's failure comes out as `provider_failed`.
 */
export async function* driven(
  context: RunContext,
  work: (signal: AbortSignal) => AsyncGenerator<Yielded, RunOutcome>,
): AsyncGenerator<Yielded, RunOutcome> {
  const left = new AbortController()
  let isWhole = false
  try {
    const outcome = yield* work(AbortSignal.any([context.signal, left.signal]))
    isWhole = true
    return outcome
  } catch (error) {
    throw failureOf(error)
  } finally {
    if (!isWhole) left.abort()
  }
}

/** The id of the conversation in a framework's memory; undefined where the run belongs to none. A session is its owner's. */
export function threadOf(context: RunContext): string | undefined {
  const { sessionId } = context
  if (sessionId === undefined) return undefined
  const owner = ownerOf(context)
  return owner === undefined ? escaped(sessionId) : `${owner}/${escaped(sessionId)}`
}
