/**
 * What is kept of sessions: a session is one document, and each turn that has ended another one.
 *
 * @module
 */

import type { SessionKey, SessionNote } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import type { Document, Footing, Reader, Tags, Transaction } from '../../stores/store.ts'
import { FEEDBACK } from '../feedback.ts'
import { partitionOf } from '../stored/record.ts'

/** The collections of sessions, of their turns that have ended, and of what is remembered inside of them. */
export const SESSIONS = 'session'
export const TURNS = 'turn'
export const MEMBERS = 'session-member'
/** Runs that were thought dead when their session, or their turn, was deleted. */
export const GONE = 'session-gone'

/** What a run of a session does that another run has. */
export type SessionConcurrency = 'queue' | 'reject' | 'interrupt'

/** How much of sessions is kept. */
export interface SessionSettings {
  /** Most sessions of one owner; past it the one that was used least recently leaves. */
  readonly maxSessions: number
  /** Most messages that are told of one session. */
  readonly maxSessionMessages: number
  /** Most characters that are told of one session, as JSON. */
  readonly maxSessionLength: number
  /** Milliseconds for which a session is kept after its last run. */
  readonly sessionRetentionMs: number
  /** Most turns of one session, and most characters of them as JSON; past it the oldest leave. */
  readonly maxTurns: number
  readonly maxLength: number
  readonly concurrency: SessionConcurrency
  /** Turns that are told no more are summed up. */
  readonly compacts: boolean
}

/** Milliseconds for which a run that is not heard of keeps its place. */
export const LEASE_MS = 15_000

/** Sessions that leave for one that comes: more than one where the bound was lowered. */
const LEAVE_AT_ONCE = 10

/** A run at work or waiting. */
export interface Seat {
  readonly runId: string
  /** When it has died if it is not heard of. */
  readonly until: number
  /** It is to stop. */
  readonly stop?: true
}

/** A turn, or what was appended without one. */
export interface Entry {
  readonly seq: number
  readonly turn?: Turn
  readonly provider?: string | undefined
  /** Null: they are too long to be told. */
  readonly messages?: readonly unknown[] | null
  /** Turns of before there were any, as one list of messages. */
  readonly isOld?: true
}

/** What lists tell of a session. */
export interface About {
  /** As it was set, else the beginning of the first message; empty where neither is known. */
  readonly title?: string | undefined
  /** The beginning of what was said last. */
  readonly last?: string | undefined
  /** Turns that have begun: those of before, too, that are gone. */
  readonly turns: number
  readonly createdAt: number
  /** The service gave the id out to someone without an identity. */
  readonly isGiven?: boolean
}

/** A session, but for its turns that have ended. */
export interface Session {
  /** The place of its next entry. */
  readonly next: number
  /** Turns that have ended, and their characters. */
  readonly count: number
  readonly length: number
  /** Who has the session, and then who waits for it. */
  readonly line: readonly Seat[]
  /** What has begun. */
  readonly open: readonly Entry[]
  readonly summary?: Summary | undefined
  /** Absent until its first turn: what was appended alone is no conversation. Older versions wrote none. */
  readonly about?: About
}

/** What stands for the turns up to one. */
export interface Summary {
  readonly text: string
  readonly upTo: number
}

/** A session without turns. */
export const NEW: Session = { next: 1, count: 0, length: 0, line: [], open: [] }

/** One text of several: JSON keeps them apart. */
export function idOf({ owner, place, sessionId }: SessionKey): string {
  return JSON.stringify([owner, place, sessionId])
}

/** Deletes a session with all that is kept of it. */
export function forgetSession(tx: Transaction, id: string): void {
  tx.delete(SESSIONS, id)
  for (const collection of [TURNS, MEMBERS, FEEDBACK, GONE]) forgetAll(tx, collection, id)
}

export function forgetAll(tx: Transaction, collection: string, partition: string): void {
  for (const { id } of tx.list(collection, { partition, limit: 1_000_000 })) tx.delete(collection, id)
}

/** A session as it is by now. */
export function look(tx: Reader, key: SessionKey): Session {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  return (document && sessionIn(document, tx.now)) ?? NEW
}

/** What is kept of a session; what old versions wrote is one list of messages. */
export type KeptSession = Session | readonly unknown[]

/** The session of a document; undefined where it has expired. */
export function sessionIn({ value, expiresAt = 0 }: Document<KeptSession>, now: number): Session | undefined {
  if (expiresAt <= now) return undefined
  return isList(value) ? { ...NEW, open: [{ seq: 0, messages: value, isOld: true }] } : value
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Those in line who are heard of. */
export function alive({ line }: Session, now: number, runId?: string): Seat[] {
  return line.filter(seat => seat.until > now || seat.runId === runId)
}

/** An entry as it stands where only these runs are at work. */
export function asOf(entry: Entry, here: ReadonlySet<string>): Entry {
  const { turn } = entry
  return turn === undefined || here.has(turn.runId)
    ? entry
    : { ...entry, turn: { ...turn, status: 'interrupted' } }
}

/** The entry of a run, open or ended. */
export function entryOf(tx: Reader, key: SessionKey, session: Session, runId: string): Entry | undefined {
  const isIt = ({ turn }: Entry) => turn?.runId === runId
  return session.open.find(isIt) ?? endedOf(tx, key, session).find(isIt)
}

/** What has ended, newest first. */
export function endedOf(tx: Reader, key: SessionKey, { count }: Session): Entry[] {
  return tx.list<Entry>(TURNS, { partition: idOf(key), limit: count }).map(({ value }) => value)
}

/** A session without an entry that has ended. */
export function without(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  entry: Entry,
  isKept = false,
): Session {
  const id = `${idOf(key)}/${entry.seq}`
  tx.delete(TURNS, id)
  if (!isKept) tx.delete(FEEDBACK, id)
  return { ...session, count: session.count - 1, length: session.length - lengthOf(entry) }
}

/** Puts an entry away; the oldest leave. */
export function close(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  entry: Entry,
  { maxTurns, maxLength }: SessionSettings,
): Session {
  const partition = idOf(key)
  const id = `${partition}/${entry.seq}`
  const before = tx.get<Entry>(TURNS, id)
  let after = before === undefined ? session : without(tx, key, session, before.value, true)
  after = { ...after, count: after.count + 1, length: after.length + lengthOf(entry) }
  tx.put(TURNS, { id, partition, at: entry.seq, tags: {}, value: entry }, { thing: thingOf(partition) })
  while (after.count > maxTurns || after.length > maxLength) {
    const [oldest] = tx.oldest<Entry>(TURNS, 1, partition)
    if (oldest === undefined) break
    after = without(tx, key, after, oldest.value)
  }
  return after
}

/** Writes a session, which is kept anew for its time; those that are too many leave. */
export function save(tx: Transaction, key: SessionKey, value: Session, settings: SessionSettings): void {
  const { now } = tx
  const id = idOf(key)
  const partition = partitionOf(key.owner)
  const before = tx.get(SESSIONS, id)
  // What has expired is another session.
  if (before !== undefined && (before.expiresAt ?? 0) <= now) forgetSession(tx, id)
  if (before === undefined) makeRoom(tx, partition, settings.maxSessions)
  const expiresAt = now + settings.sessionRetentionMs
  putSession(tx, { id, partition, at: now, tags: tagsOf(key, value), expiresAt, value })
}

/** Writes the document of a session. */
export function putSession(tx: Transaction, document: Document<Session>): void {
  tx.put(SESSIONS, document, { thing: thingOf(document.id), leaves: 'first' })
}

/** What lists look for: whose conversation it is, where lists tell of it. */
function tagsOf({ place: [label = '', ...others] }: SessionKey, { about }: Session): Tags {
  if (about === undefined || others.length > 0) return {}
  const [kind = ''] = label.split(':', 1)
  return { kind, name: label.slice(kind.length + 1) }
}

function makeRoom(tx: Transaction, partition: string, maxSessions: number): void {
  for (const { id } of tx.expired(SESSIONS, tx.now, LEAVE_AT_ONCE)) forgetSession(tx, id)
  const excess = Math.min(tx.count(SESSIONS, partition) - maxSessions + 1, LEAVE_AT_ONCE)
  if (excess > 0) for (const { id } of tx.oldest(SESSIONS, excess, partition)) forgetSession(tx, id)
}

/** All parts of a session leave a full store together. */
export function thingOf(id: string): NonNullable<Footing['thing']> {
  return `session:${id}`
}

export function noted(
  { messages, provider }: SessionNote,
  { maxSessionLength }: SessionSettings,
): Omit<Entry, 'seq'> {
  return {
    provider,
    messages: lengthOf(messages) > maxSessionLength ? null : messages,
  }
}

export function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}
