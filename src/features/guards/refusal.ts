/**
 * Refusals of guards, and failures of guards.
 *
 * @module
 */

import { type ErrorCode, isServableError, messageOf, ServableError } from '../../base/errors.ts'

/** What a guard gives for what it refuses. Made by {@link refuse}. */
export class Refusal {
  /** What the client is told. */
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/**
 * Refuses an input, with the code `input_refused`, or an output, with `output_refused`. The client is told `message`, in production
 * too. Do not repeat in it what you refuse.
 *
 * @example
 * onInput: async ({ input }) => ((await isAllowed(input)) ? undefined : refuse('Ask about orders only'))
 */
export function refuse(message: string): Refusal {
  return new Refusal(message)
}

/** Which side of a run a guard is on. */
export type Side = 'input' | 'output'

/** What a guard gives, now or later. A refusal, also one that it throws, and whatever else it throws become errors of the run. */
export async function guarded<T>(side: Side, work: () => T | Refusal | Promise<T | Refusal>): Promise<T> {
  let given: T | Refusal
  try {
    given = await work()
  } catch (thrown) {
    throw errorOf(side, thrown)
  }
  if (given instanceof Refusal) throw errorOf(side, given)
  return given
}

/** The error that stands for what a guard threw. What says so already, or that the run itself is wrong, stays as it is. */
export function errorOf(side: Side, thrown: unknown): ServableError {
  if (thrown instanceof Refusal) return new ServableError(`${side}_refused`, thrown.message)
  if (isServableError(thrown) && OF_RUN.has(thrown.code)) return thrown
  return guardFailed(side, messageOf(thrown), thrown)
}

const OF_RUN: ReadonlySet<ErrorCode> = new Set([
  ...(['invalid_event', 'run_too_large'] as const),
  ...(['input_refused', 'output_refused', 'guard_failed'] as const),
])

/** The error of a guard that has failed. In production its text is masked. */
export function guardFailed(side: Side, why: string, cause?: unknown): ServableError {
  return new ServableError('guard_failed', `The guard of the ${side} has failed: ${why}`, { cause })
}
