/**
 * The transactions of sessions. Values from other programs cross as JSON, since they need not be cloneable.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import {
  forgetSession,
  idOf,
  type KeptSession,
  LEAVE_AT_ONCE,
  NEW,
  putSession,
  SESSIONS,
  type Session,
  type SessionSettings,
  save,
} from '../../runs/sessions/session-record.ts'
import type { SessionPage, SessionQuery, SessionSummary } from '../../runs/sessions/summary.ts'
import { takeExpired } from '../../stores/alarm.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import { branchesOf, deleteBranch, type HeadChange, moveHead, runsOfBranch } from './branches.ts'
import { copyOf, listSessions, summaryOf } from './list.ts'
import { begunAt, copyTurns, pasteTurns, readTurns, type TurnQuery, visible } from './turns.ts'

/**
 * Sessions that were recently removed from a list, in memory only. Without this, a late update would list a deleted session
 * forever.
 */
const OFF = 'session-off'
const OFF_MS = 60_000
const MAX_OFF = 1000

/** What a caller changes in a session. */
export interface SessionUpdate extends Pick<HeadChange, 'ifHead'> {
  readonly head?: string | undefined
  readonly title?: string | undefined
}

/** The type of {@link SESSION_SERVICE_TRANSACTIONS}. Undefined results mean that the caller has no such session. */
export interface SessionServiceTransactions extends Transactions {
  readonly reads: {
    readonly list: (tx: Reader, owner: string, query: SessionQuery) => SessionPage
    readonly find: (tx: Reader, key: SessionKey) => SessionSummary | undefined
    readonly turns: (tx: Reader, key: SessionKey, query: TurnQuery) => string | undefined
    readonly branches: typeof branchesOf
    readonly runsOfBranch: typeof runsOfBranch
    readonly copy: (tx: Reader, key: SessionKey, runId: string | undefined) => string | undefined
    /** The copy for the list. */
    readonly tell: (tx: Reader, key: SessionKey) => Document<Session> | undefined
  }
  readonly writes: {
    readonly make: (
      tx: Transaction,
      key: SessionKey,
      title: string | undefined,
      settings: SessionSettings,
    ) => SessionSummary | undefined
    /** Sets the title, and which branch counts. */
    readonly update: (tx: Transaction, key: SessionKey, update: SessionUpdate) => SessionSummary | undefined
    readonly deleteBranch: typeof deleteBranch
    readonly paste: (
      tx: Transaction,
      key: SessionKey,
      copied: string,
      settings: SessionSettings,
    ) => SessionSummary | undefined
    /** Stores a copy in the list, unless the list has a newer one. */
    readonly told: (tx: Transaction, copy: Document<Session>) => void
    /** Removes a session from the list. */
    readonly gone: (tx: Transaction, id: string) => void
  }
}

/** The transactions of sessions. */
export const SESSION_SERVICE_TRANSACTIONS: SessionServiceTransactions = {
  expiring: [SESSIONS],
  inMemory: [OFF],
  forget: (tx, _, id) => forgetSession(tx, id),
  atOnce: LEAVE_AT_ONCE,
  reads: {
    list: listSessions,
    find,
    turns(tx, key, query) {
      const page = readTurns(tx, key, query)
      return page && JSON.stringify(page)
    },
    copy(tx, key, runId) {
      const copied = copyTurns(tx, key, runId)
      return copied && JSON.stringify(copied)
    },
    branches: branchesOf,
    runsOfBranch,
    tell: copyOf,
  },
  writes: {
    make(tx, key, title, settings) {
      save(tx, key, { ...NEW, about: begunAt(tx, key, title) }, settings)
      return find(tx, key)
    },
    update(tx, key, { title, head, ifHead }) {
      if (head !== undefined && !moveHead(tx, key, { head, ifHead })) return undefined
      const document = tx.get<KeptSession>(SESSIONS, idOf(key))
      const session = visible(tx, key)
      if (document === undefined || session?.about === undefined) return undefined
      // A new title changes neither its position in lists nor its time.
      if (title !== undefined)
        putSession(tx, { ...document, value: { ...session, about: { ...session.about, title } } })
      return find(tx, key)
    },
    deleteBranch,
    paste(tx, key, copied, settings) {
      pasteTurns(tx, key, JSON.parse(copied), settings)
      return find(tx, key)
    },
    told(tx, copy) {
      const { at } = tx.get(SESSIONS, copy.id) ?? tx.get(OFF, copy.id) ?? { at: 0 }
      if (at <= copy.at) putSession(tx, copy)
    },
    gone(tx, id) {
      tx.delete(SESSIONS, id)
      takeExpired(tx, { expiring: [OFF] })
      if (tx.count(OFF) >= MAX_OFF) return
      const at = tx.now
      tx.put(OFF, { id, partition: '', at, tags: {}, value: null, expiresAt: at + OFF_MS })
    },
  },
}

function find(tx: Reader, key: SessionKey): SessionSummary | undefined {
  const document = visible(tx, key) && tx.get<KeptSession>(SESSIONS, idOf(key))
  return document && summaryOf(tx, document)
}
