/**
 * Refusals and failures of guards.
 *
 * @module
 */

import { type ErrorCode, isServableError, messageOf, ServableError } from '../../base/errors.ts'

/** The result of a guard that refuses. Made by {@link refuse}. */
export class Refusal {
  /** The message for the client. */
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/**
 * Refuses an input, with the code `input_refused`, or an output, with `output_refused`. The client gets `message`, in production
 * too. Do not repeat the refused content in it.
 *
 * @example
 * onInput: async ({ input }) => ((await isAllowed(input)) ? undefined : refuse('Ask about orders only'))
 */
export function refuse(message: string): Refusal {
  return new Refusal(message)
}

/** The side of a run that a guard checks. */
export type Side = 'input' | 'output'

/** The result of a guard. A returned or thrown refusal, and any other error, become errors of the run. */
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

/**
 * The error for what a guard threw. An error that is already one of these, or says that the run itself is wrong, is returned
 * unchanged.
 */
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
