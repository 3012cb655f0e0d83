/**
 * What callers say of the turns of a session, and the turns with that.
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
import { alive, type Entry, idOf, TURNS, thingOf } from '../../runs/sessions/session-record.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import { visible } from './turns.ts'

/** The name of its keeper. No plugin can have it. */
export const SAID = 'sessions:said'

/** Turns that are read at once. */
const PAGE = 20

/** Turns with what was said of them, newest first, and the place before which the next ones are. */
export interface ToldTurns {
  readonly turns: readonly (Turn & { readonly feedback?: Feedback | undefined })[]
  readonly next?: number | undefined
}

/** See the module's head. A turn that is not there, or not the caller's, has undefined. */
export interface SaidWorks extends Transactions {
  readonly reads: {
    /** Null: nobody has said anything of it. */
    readonly feedback: (tx: Reader, key: SessionKey, runId: string) => Feedback | null | undefined
    /** Turns that have ended, before a place: {@link ToldTurns} as JSON. */
    readonly turns: (tx: Reader, key: SessionKey, before: number | undefined) => string
  }
  readonly writes: {
    /** Throws `session_busy` for a turn at work. */
    readonly say: (
      tx: Transaction,
      key: SessionKey,
      runId: string,
      given: FeedbackInput,
    ) => Feedback | undefined
  }
}

export const SAID_WORKS: SaidWorks = {
  reads: {
    feedback(tx, key, runId) {
      const found = turnIn(tx, key, runId)
      return found === undefined ? undefined : (feedbackIn(tx, found.id) ?? null)
    },
    turns(tx, key, before) {
      if (visible(tx, key) === undefined) return JSON.stringify({ turns: [] })
      const after = before === undefined ? undefined : { at: before, id: '' }
      const page = tx.list<Entry>(TURNS, { partition: idOf(key), after, limit: PAGE })
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

/** The turn of a run that has ended. Throws `session_busy` for one at work. */
function turnIn(tx: Reader, key: SessionKey, runId: string): Document<Entry> | undefined {
  const session = visible(tx, key)
  if (session === undefined) return undefined
  if (alive(session, tx.now).some(seat => seat.runId === runId)) throw stillAtWork()
  const partition = idOf(key)
  let after: Document<Entry> | undefined
  do {
    const page: Document<Entry>[] = tx.list<Entry>(TURNS, { partition, after, limit: PAGE })
    const found = page.find(({ value }) => value.turn?.runId === runId)
    if (found !== undefined) return found
    after = page.at(-1)
  } while (after !== undefined)
  return undefined
}
