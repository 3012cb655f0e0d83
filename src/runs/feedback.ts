/**
 * A caller's feedback on a run that has ended. It is stored with the turn of the run in its session, or with the stored run.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Eviction, Reader, Transaction } from '../stores/store.ts'

/** The collection of feedback: by the id of the run, or by the session and the run. */
export const FEEDBACK = 'feedback'

/** Feedback on a run. At least one of the first three members is set. */
export interface Feedback {
  /** From -1, which is bad, to 1, which is good. */
  readonly score?: number | undefined
  readonly text?: string | undefined
  /** What the run should have answered. */
  readonly correction?: string | undefined
  /** When it was given, in milliseconds since 1970. */
  readonly at: number
}

/** Feedback as a caller sends it. */
export type FeedbackInput = Omit<Feedback, 'at'>

/** Feedback in responses. */
export interface StoredFeedback extends FeedbackInput {
  /** ISO 8601, in UTC. */
  readonly updatedAt: string
}

export function storedFeedbackOf({ at, ...input }: Feedback): StoredFeedback {
  return { ...input, updatedAt: new Date(at).toISOString() }
}

/** Feedback in the record of its run: the sign of its score. `neutral`: a score of 0, or words alone. */
export type Rating = 'positive' | 'negative' | 'neutral'

export const RATINGS: readonly Rating[] = ['positive', 'negative', 'neutral']

export function ratingOf({ score = 0 }: FeedbackInput): Rating {
  if (score === 0) return 'neutral'
  return score > 0 ? 'positive' : 'negative'
}

/** Stores feedback. It replaces earlier feedback. */
export function putFeedback(
  tx: Transaction,
  { id, partition }: { readonly id: string; readonly partition: string },
  given: FeedbackInput,
  footing: Eviction,
): Feedback {
  const value: Feedback = { ...given, at: tx.now }
  tx.put(FEEDBACK, { id, partition, at: tx.now, tags: {}, value }, footing)
  return value
}

/** Returns the feedback on a run; undefined if there is none. */
export function feedbackIn(tx: Reader, id: string): Feedback | undefined {
  return tx.get<Feedback>(FEEDBACK, id)?.value
}

/** The error for a run at work: it takes no feedback and cannot be deleted. */
export function stillAtWork(): ServableError {
  return new ServableError('session_busy', 'The run is at work: wait for its end, or cancel it')
}
