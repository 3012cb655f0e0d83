import type { SessionKeeper, SessionKey } from '../agents/memory.ts'
import { appendSession, idOf, readSession, SESSIONS, type SessionSettings } from '../runs/sessions.ts'
import type { Reader, Transaction } from '../state/store.ts'
import type { Keep, Transactions } from './kept.ts'
import type { Place } from './place.ts'

/** See {@link SESSION_TRANSACTIONS}. */
interface SessionTransactions extends Transactions {
  readonly reads: { readonly read: (tx: Reader, key: SessionKey) => string }
  readonly writes: {
    readonly append: (tx: Transaction, key: SessionKey, messages: string, settings: SessionSettings) => void
  }
}

/** The transactions of sessions. Messages cross as JSON: what another program wrote need not be what can be cloned. */
export const SESSION_TRANSACTIONS: SessionTransactions = {
  reads: { read: (tx, key) => JSON.stringify(readSession(tx, key)) },
  writes: {
    append(tx, key, messages, settings) {
      appendSession(tx, key, JSON.parse(messages), settings)
    },
  },
  expiring: [SESSIONS],
}

/** The keeper's name, which no plugin can have. */
export const SESSION_KEEPER = 'core:session'

/** Keeps sessions. With Durable Objects each has an object of its own, and nobody counts those of one owner. */
export function sessionsIn(
  keep: Keep,
  { maxSessions, maxSessionMessages, maxSessionLength, sessionRetentionMs }: SessionSettings,
): SessionKeeper {
  // All other options stay here: not every one can be cloned.
  const settings = { maxSessions, maxSessionMessages, maxSessionLength, sessionRetentionMs }
  const calls = keep(SESSION_KEEPER, SESSION_TRANSACTIONS)
  const placeOf = (key: SessionKey): Place => ({ name: 'session', key: idOf(key) })
  return {
    read: async key => JSON.parse(await calls.read(placeOf(key), key)),
    append: (key, messages) => calls.append(placeOf(key), key, JSON.stringify(messages), settings),
  }
}
