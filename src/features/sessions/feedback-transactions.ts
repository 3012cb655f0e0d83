/**
 * Stores feedback on the turns of a session, and reads turns with their feedback.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import {
  type Feedback,
  type FeedbackInput,
  feedbackIn,
  putFeedback,
  stillAtWork,
} from '../../runs/feedback.ts'
import { idOf, liveClaims, type SessionEntry, TURNS, thingOf } from '../../runs/sessions/session-record.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import { visible } from './turns.ts'

/** The name of its object service. No plugin can have it. */
export const FEEDBACK_SERVICE = 'sessions:said'

/** Turns to read at once. */
const PAGE = 20

/** Turns with their feedback, newest first, and the position before which the next page begins. */
export interface TurnsWithFeedback {
  readonly turns: readonly (Turn & { readonly feedback?: Feedback | undefined })[]
  readonly next?: number | undefined
}

/** The transactions of feedback. They return undefined for a turn that does not exist or is not the caller's. */
export interface FeedbackTransactions extends Transactions {
  readonly reads: {
    /** Null if there is no feedback. */
    readonly feedback: (tx: Reader, key: SessionKey, runId: string) => Feedback | null | undefined
    /** Ended turns before a position: {@link TurnsWithFeedback} as JSON. */
    readonly turns: (tx: Reader, key: SessionKey, before: number | undefined) => string
  }
  readonly writes: {
    /** Stores feedback. Throws `session_busy` for a running turn. */
    readonly say: (
      tx: Transaction,
      key: SessionKey,
      runId: string,
      given: FeedbackInput,
    ) => Feedback | undefined
  }
}

export const FEEDBACK_TRANSACTIONS: FeedbackTransactions = {
  reads: {
    feedback(tx, key, runId) {
      const found = turnIn(tx, key, runId)
      return found === undefined ? undefined : (feedbackIn(tx, found.id) ?? null)
    },
    turns(tx, key, before) {
      if (visible(tx, key) === undefined) return JSON.stringify({ turns: [] })
      const after = before === undefined ? undefined : { at: before, id: '' }
      const page = tx.list<SessionEntry>(TURNS, { partition: idOf(key), after, limit: PAGE })
      const turns = page.flatMap(({ id, value: { turn } }) => {
        return turn === undefined ? [] : [{ ...turn, feedback: feedbackIn(tx, id) }]
      })
      return JSON.stringify({ turns, next: page.length === PAGE ? page.at(-1)?.at : undefined })
    },
  },
  writes: {
    say(tx, key, runId, given) {
      const found = turnIn(tx, key, runId)
      if (found === undefined) return undefined
      const partition = idOf(key)
      return putFeedback(tx, { id: found.id, partition }, given, { thing: thingOf(partition) })
    },
  },
}

/** The turn of an ended run. Throws `session_busy` for a running one. */
function turnIn(tx: Reader, key: SessionKey, runId: string): Document<SessionEntry> | undefined {
  const session = visible(tx, key)
  if (session === undefined) return undefined
  if (liveClaims(session, tx.now).some(claim => claim.runId === runId)) throw stillAtWork()
  const partition = idOf(key)
  let after: Document<SessionEntry> | undefined
  do {
    const page: Document<SessionEntry>[] = tx.list<SessionEntry>(TURNS, { partition, after, limit: PAGE })
    const found = page.find(({ value }) => value.turn?.runId === runId)
    if (found !== undefined) return found
    after = page.at(-1)
  } while (after !== undefined)
  return undefined
}
