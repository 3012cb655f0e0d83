/**
 * The messages of sessions, in a store.
 *
 * @module
 */

import type { SessionKey } from '../agents/memory.ts'
import type { Transaction } from '../state/store.ts'
import { partitionOf } from './record.ts'

/** The collection of sessions. */
export const SESSIONS = 'session'

/** How much of a session is kept. */
export interface SessionSettings {
  /** Most messages of one session; past it the oldest leave. */
  readonly maxSessionMessages: number
  /** Milliseconds for which a session is kept after its last run. */
  readonly sessionRetentionMs: number
}

/** Most characters of one session as JSON; past it the oldest messages leave. */
const MAX_LENGTH = 1024 * 1024

/** Sessions of one owner; past it the one that was used least recently leaves. */
const MAX_SESSIONS = 1000

/** The messages of a session. */
export function readSession(tx: Transaction, key: SessionKey): readonly unknown[] {
  const document = tx.get<readonly unknown[]>(SESSIONS, idOf(key))
  return document === undefined || (document.expiresAt ?? 0) <= Date.now() ? [] : document.value
}

/** Adds messages, and gives the moment at which the session may go. */
export function appendSession(
  tx: Transaction,
  key: SessionKey,
  messages: readonly unknown[],
  { maxSessionMessages, sessionRetentionMs }: SessionSettings,
): number {
  const now = Date.now()
  const partition = partitionOf(key.owner)
  for (const { id } of tx.expired(SESSIONS, now, 10)) tx.delete(SESSIONS, id)
  const value = bounded([...readSession(tx, key), ...messages], maxSessionMessages)
  const expiresAt = now + sessionRetentionMs
  tx.delete(SESSIONS, idOf(key))
  if (tx.count(SESSIONS, partition) >= MAX_SESSIONS) {
    for (const { id } of tx.oldest(SESSIONS, 1, partition)) tx.delete(SESSIONS, id)
  }
  tx.put(SESSIONS, { id: idOf(key), partition, at: now, tags: {}, expiresAt, value })
  return expiresAt
}

function bounded(messages: readonly unknown[], max: number): readonly unknown[] {
  const kept = messages.slice(-max)
  const lengths = kept.map(message => JSON.stringify(message)?.length ?? 0)
  let total = lengths.reduce((sum, length) => sum + length, 0)
  let first = 0
  while (total > MAX_LENGTH) total -= lengths[first++] ?? total
  return kept.slice(first)
}

/** One text of several: JSON keeps them apart. */
function idOf({ owner, kind, name, sessionId }: SessionKey): string {
  return JSON.stringify([owner, kind, name, sessionId])
}
