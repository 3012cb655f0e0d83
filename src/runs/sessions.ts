/**
 * The messages of sessions, in a store.
 *
 * @module
 */

import type { SessionKey } from '../agents/memory.ts'
import type { Reader, Transaction } from '../state/store.ts'
import { partitionOf } from './record.ts'

/** The collection of sessions. */
export const SESSIONS = 'session'

/** How much of sessions is kept. */
export interface SessionSettings {
  /** Most sessions of one owner; past it the one that was used least recently leaves. */
  readonly maxSessions: number
  /** Most messages of one session; past it the oldest leave. */
  readonly maxSessionMessages: number
  /** Most characters of one session as JSON; past it the oldest messages leave. */
  readonly maxSessionLength: number
  /** Milliseconds for which a session is kept after its last run. */
  readonly sessionRetentionMs: number
}

/** Sessions that leave for one that comes: more than one where the bound was lowered. */
const LEAVE_AT_ONCE = 10

/** The messages of a session. */
export function readSession(tx: Reader, key: SessionKey): readonly unknown[] {
  const document = tx.get<readonly unknown[]>(SESSIONS, idOf(key))
  return document === undefined || (document.expiresAt ?? 0) <= tx.now ? [] : document.value
}

/** Adds messages, and gives the moment at which the session may go. */
export function appendSession(
  tx: Transaction,
  key: SessionKey,
  messages: readonly unknown[],
  settings: SessionSettings,
): number {
  const { now } = tx
  const partition = partitionOf(key.owner)
  for (const { id } of tx.expired(SESSIONS, now, 10)) tx.delete(SESSIONS, id)
  const value = bounded([...readSession(tx, key), ...messages], settings)
  const expiresAt = now + settings.sessionRetentionMs
  tx.delete(SESSIONS, idOf(key))
  const excess = Math.min(tx.count(SESSIONS, partition) - settings.maxSessions + 1, LEAVE_AT_ONCE)
  if (excess > 0) for (const { id } of tx.oldest(SESSIONS, excess, partition)) tx.delete(SESSIONS, id)
  tx.put(SESSIONS, { id: idOf(key), partition, at: now, tags: {}, expiresAt, value }, { leaves: 'first' })
  return expiresAt
}

/** The newest messages that fit. */
function bounded(
  messages: readonly unknown[],
  { maxSessionMessages, maxSessionLength }: SessionSettings,
): readonly unknown[] {
  const lengths = messages.map(message => JSON.stringify(message)?.length ?? 0)
  let first = Math.max(messages.length - maxSessionMessages, 0)
  let total = lengths.slice(first).reduce((sum, length) => sum + length, 0)
  while (total > maxSessionLength) total -= lengths[first++] ?? total
  // An answer goes with what it answers.
  if (first > 0) while (isAnswer(messages[first])) first++
  return messages.slice(first)
}

/** Whether a message says something to one before it, in the words of the AI SDK. */
function isAnswer(message: unknown): boolean {
  const { role } = Object(message) as { readonly role?: unknown }
  return role === 'assistant' || role === 'tool'
}

/** One text of several: JSON keeps them apart. */
export function idOf({ owner, place, sessionId }: SessionKey): string {
  return JSON.stringify([owner, place, sessionId])
}
