/**
 * The end of a session before its time. Whoever deletes it gets in the line of its runs: what begins meanwhile waits, and then has a
 * session of its own.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import { ownerOf } from '../../agents/owner.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import {
  alive,
  forgetSession,
  GONE,
  idOf,
  type KeptSession,
  LEASE_MS,
  putSession,
  SESSIONS,
  sessionIn,
} from '../../runs/sessions/session-record.ts'
import { busy, turnsOf } from '../../runs/sessions/session-turns.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Position, Reader, Transaction } from '../../stores/store.ts'
import { keyIn } from './list.ts'

/** The name of its keeper. No plugin can have it. */
export const ENDING = 'sessions:ending'

/** Milliseconds for which a run that was thought dead is remembered: it may come back. */
const GONE_MS = 24 * 60 * 60 * 1000

const GONE_AT_ONCE = 100
const KEYS_AT_ONCE = 100

/** The place of whoever deletes a session. */
export interface Claimed {
  /** How many runs are before it: with 0 it has the session. */
  readonly place: number
  /** The runs that are to stop. */
  readonly stops: readonly string[]
}

/** See the module's head. */
export interface EndingWorks extends Transactions {
  readonly reads: {
    /** Sessions of an identity, whatever lists tell of them, and where the next ones begin. */
    readonly keys: (
      tx: Reader,
      identity: string,
      after: Position | undefined,
    ) => { readonly keys: readonly SessionKey[]; readonly next: Position | undefined }
    /** Whether the caller may delete it: without an owner only one whose id was given out. */
    readonly isThere: (tx: Reader, key: SessionKey) => boolean
    /** The runs of turns that may have files. */
    readonly runsOfFiles: (tx: Reader, key: SessionKey) => readonly string[]
  }
  readonly writes: {
    /**
     * Gets in line, or keeps the place there. Throws `session_busy` where runs are before it, unless they are to stop. Undefined
     * where there is no session.
     */
    readonly claim: (tx: Transaction, key: SessionKey, id: string, cancels: boolean) => Claimed | undefined
    /** Leaves the line. */
    readonly release: (tx: Transaction, key: SessionKey, id: string) => void
    /** Deletes the session. False where it is another one's by now. */
    readonly end: (tx: Transaction, key: SessionKey, id: string) => boolean
    /** Deletes a session in which no run has had a turn: what was remembered there inside of others. */
    readonly endInner: (tx: Transaction, key: SessionKey) => boolean
  }
}

export const ENDING_WORKS: EndingWorks = {
  expiring: [GONE],
  reads: {
    keys(tx, identity, after) {
      const partition = partitionOf(ownerOf({ identity }) ?? null)
      const documents = tx.list(SESSIONS, { partition, after, limit: KEYS_AT_ONCE })
      const last = documents.at(-1)
      return {
        keys: documents.map(({ id }) => keyIn(id)),
        next: last && { at: last.at, id: last.id },
      }
    },
    isThere: (tx, key) => find(tx, key) !== undefined,
    runsOfFiles: (tx, key) =>
      turnsOf(tx, key).flatMap(({ runId, input }) => (typeof input === 'string' ? [] : [runId])),
  },
  writes: {
    claim(tx, key, id, cancels) {
      const found = find(tx, key)
      if (found === undefined) return undefined
      const { document, session } = found
      const line = alive(session, tx.now, id)
      const place = line.findIndex(({ runId }) => runId === id)
      const before = place === -1 ? line : line.slice(0, place)
      if (before.length > 0 && !cancels) throw busy()
      const until = tx.now + LEASE_MS
      const after = place === -1 ? [] : line.slice(place + 1)
      const stopped = before.map(seat => ({ ...seat, stop: true as const }))
      const value = { ...session, line: [...stopped, { runId: id, until }, ...after] }
      putSession(tx, { ...document, value, expiresAt: Math.max(document.expiresAt ?? 0, until) })
      return { place: before.length, stops: before.map(({ runId }) => runId) }
    },
    release(tx, key, id) {
      const found = find(tx, key)
      if (found === undefined) return
      const { document, session } = found
      const line = session.line.filter(({ runId }) => runId !== id)
      putSession(tx, { ...document, value: { ...session, line } })
    },
    end(tx, key, id) {
      const found = find(tx, key)
      if (found !== undefined) {
        const { session } = found
        if (alive(session, tx.now, id)[0]?.runId !== id) return false
        for (const { turn } of session.open) if (turn !== undefined) remember(tx, turn.runId)
      }
      forgetSession(tx, idOf(key))
      for (const gone of tx.expired(GONE, tx.now, GONE_AT_ONCE)) tx.delete(GONE, gone.id)
      return true
    },
    endInner(tx, key) {
      const { session } = find(tx, key) ?? {}
      if (session === undefined || session.about !== undefined || session.line.length > 0) return false
      forgetSession(tx, idOf(key))
      return true
    },
  },
}

function find(tx: Reader, key: SessionKey) {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  const session = document && sessionIn(document, tx.now)
  if (document === undefined || session === undefined) return undefined
  return key.owner === null && !session.about?.isGiven ? undefined : { document, session }
}

function remember(tx: Transaction, runId: string): void {
  const at = tx.now
  tx.put(GONE, { id: runId, partition: '', at, tags: {}, value: null, expiresAt: at + GONE_MS })
}
