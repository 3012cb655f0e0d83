/**
 * Deletes a session before it expires. The deletion queues with the runs of the session. Runs that begin meanwhile wait, and then
 * get a new session.
 *
 * @module
 */

import { ownerOf, type SessionKey } from '../../agents/memory.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import {
  forgetSession,
  GONE,
  idOf,
  type KeptSession,
  LEASE_MS,
  liveClaims,
  putSession,
  SESSIONS,
  sessionAt,
  sessionIn,
} from '../../runs/sessions/session-record.ts'
import { busy } from '../../runs/sessions/session-steering.ts'
import { entriesIn } from '../../runs/sessions/session-tree.ts'
import { ownersIn } from '../../runs/stored/page.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Position, Reader, Transaction } from '../../stores/store.ts'
import { keyIn } from './list.ts'

/** The name of its object service. No plugin can have it. */
export const ENDING_SERVICE = 'sessions:ending'

/** Milliseconds for which a run that was considered dead is remembered, since it may resume. */
const GONE_MS = 24 * 60 * 60 * 1000

const KEYS_AT_ONCE = 100

/** The claim of a deletion on a session. */
export interface DeletionClaim {
  /** Number of runs before it. With 0 the deletion has the session. */
  readonly place: number
  /** The runs that must stop. */
  readonly stops: readonly string[]
}

/** The transactions of deletions. */
export interface EndingTransactions extends Transactions {
  readonly reads: {
    /** Sessions of an identity, including those that lists hide, and the position of the next page. */
    readonly keys: (
      tx: Reader,
      identity: string,
      after: Position | undefined,
    ) => { readonly keys: readonly SessionKey[]; readonly next: Position | undefined }
    /** Some of the owners of a tenant. Sessions in objects of their own are not found. */
    readonly owners: (tx: Reader, tenant: string) => readonly string[]
    /** Whether the caller may delete the session. Without an owner, only a session with an id from the service may be deleted. */
    readonly isThere: (tx: Reader, key: SessionKey) => boolean
    /** The runs of turns that may have files. */
    readonly runsOfFiles: (tx: Reader, key: SessionKey) => readonly string[]
  }
  readonly writes: {
    /**
     * Queues the deletion, or renews its claim. Throws `session_busy` if runs are before it, unless `cancels` stops them.
     * Undefined if there is no session.
     */
    readonly claim: (
      tx: Transaction,
      key: SessionKey,
      id: string,
      cancels: boolean,
    ) => DeletionClaim | undefined
    /** Withdraws the claim. */
    readonly release: (tx: Transaction, key: SessionKey, id: string) => void
    /** Deletes the session. Returns false if another run or deletion has claimed it meanwhile. */
    readonly end: (tx: Transaction, key: SessionKey, id: string) => boolean
    /** Deletes a session without turns, which holds only what inner servables remembered. */
    readonly endInner: (tx: Transaction, key: SessionKey) => boolean
  }
}

export const ENDING_TRANSACTIONS: EndingTransactions = {
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
    owners: (tx, tenant) =>
      ownersIn(tx, SESSIONS, tenant, ({ id }) => decodeURIComponent(keyIn(id).owner ?? '')),
    isThere: (tx, key) => find(tx, key) !== undefined,
    runsOfFiles: (tx, key) =>
      entriesIn(tx, key, sessionAt(tx, key)).flatMap(({ turn }) =>
        turn === undefined || typeof turn.input === 'string' ? [] : [turn.runId],
      ),
  },
  writes: {
    claim(tx, key, id, cancels) {
      const found = find(tx, key)
      if (found === undefined) return undefined
      const { document, session } = found
      const line = liveClaims(session, tx.now, id)
      const position = line.findIndex(({ runId }) => runId === id)
      const before = position === -1 ? line : line.slice(0, position)
      if (before.length > 0 && !cancels) throw busy()
      const until = tx.now + LEASE_MS
      const after = position === -1 ? [] : line.slice(position + 1)
      const stopped = before.map(claim => ({ ...claim, stop: true as const }))
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
        if (liveClaims(session, tx.now, id)[0]?.runId !== id) return false
        for (const { turn } of session.open) if (turn !== undefined) remember(tx, turn.runId)
      }
      forgetSession(tx, idOf(key))
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
