/**
 * What a pass over a remote store remembers of logs, and what it guesses where nothing is known yet.
 *
 * @module
 */

import type { Counted } from '../store.ts'
import type { LogHead, StoreAnswers } from './remote.ts'

/** A log that a work has read. */
export interface SeenHead extends LogHead {
  /** Whether a work used the log's end. */
  isExact: boolean
}

/** A log that a work has written. */
export interface OwnLog {
  isDeleted: boolean
  entries: string[]
  isSealed: boolean
}

/** The guess for an unknown log. */
export const NO_LOG: StoreAnswers['log'] = { version: undefined, length: 0, isSealed: false, entries: [] }

/** The guess for an unknown count. */
export const NONE: Counted = { count: 0, isCut: false }
