/**
 * What a caller says of a run that has ended. It is kept with the turn of the run in its session, or with the stored run.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Footing, Reader, Transaction } from '../stores/store.ts'

/** The collection of feedback: by the id of the run, or by the session and the run. */
export const FEEDBACK = 'feedback'

/** What a caller says of a run. At least one of the first three is there. */
export interface Feedback {
  /** From -1, which is bad, to 1, which is good. */
  readonly score?: number | undefined
  readonly text?: string | undefined
  /** What the run should have said. */
  readonly correction?: string | undefined
  /** When it was said, in milliseconds since 1970. */
  readonly at: number
}

/** What is said of a run now. */
export type FeedbackInput = Omit<Feedback, 'at'>

/** Keeps feedback. It replaces what was said before. */
export function putFeedback(
  tx: Transaction,
  { id, partition }: { readonly id: string; readonly partition: string },
  given: FeedbackInput,
  footing: Footing,
): Feedback {
  const value: Feedback = { ...given, at: tx.now }
  tx.put(FEEDBACK, { id, partition, at: tx.now, tags: {}, value }, footing)
  return value
}

/** Undefined where nobody has said anything. */
export function feedbackIn(tx: Reader, id: string): Feedback | undefined {
  return tx.get<Feedback>(FEEDBACK, id)?.value
}

/** What is at work has no feedback, and is not deleted. */
export function stillAtWork(): ServableError {
  return new ServableError('session_busy', 'The run is at work: wait for its end, or cancel it')
}
