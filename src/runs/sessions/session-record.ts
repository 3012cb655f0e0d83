/**
 * The stored form of sessions: one document per session, and one per ended turn.
 *
 * @module
 */

import type { SessionKey, SessionNote } from '../../agents/memory.ts'
import type { SteeredMessage, Turn } from '../../agents/turn.ts'
import type { Document, Eviction, Reader, Tags, Transaction } from '../../stores/store.ts'
import { FEEDBACK } from '../feedback.ts'
import { partitionOf } from '../stored/record.ts'

/** The collections of sessions, of their ended turns, and of the memories of members. */
export const SESSIONS = 'session'
export const TURNS = 'turn'
export const MEMBERS = 'session-member'
/** Runs that were thought dead when their session, or their turn, was deleted. */
export const GONE = 'session-gone'
/** The states that frameworks keep: what all of a session take, the spaces in which they are, the states, and their parts. */
export const STATE_HEADS = 'states'
export const SPACES = 'state-space'
export const STATES = 'state'
export const PARTS = 'state-part'

/** What a run does while another run has its session. */
export type SessionConcurrency = 'queue' | 'reject' | 'interrupt' | 'steer'

/** The limits of sessions. */
export interface SessionSettings {
  /** The most sessions of one owner. Past it the least recently used one is deleted. */
  readonly maxSessions: number
  /** The most messages of one session that a model gets. */
  readonly maxSessionMessages: number
  /** The most characters of one session that a model gets, as JSON. */
  readonly maxSessionLength: number
  /** Milliseconds for which a session is kept after its last run. */
  readonly sessionRetentionMs: number
  /** The most turns of one session, and the most characters of them as JSON. Past it the oldest are deleted. */
  readonly maxTurns: number
  readonly maxLength: number
  readonly concurrency: SessionConcurrency
  /** Whether turns that a model no longer gets are summed up. */
  readonly compacts: boolean
}

/** Milliseconds after which a run without a beat loses its position in line. */
export const LEASE_MS = 15_000

/** The most sessions that are deleted for a new one. More than one only after the limit was lowered. */
export const LEAVE_AT_ONCE = 10

/** A run that has a session or waits for it. */
export interface SessionClaim {
  readonly runId: string
  /** When its claim ends without a beat. */
  readonly until: number
  /** Set if it has to stop. */
  readonly stop?: true
  /** Its message, if the run at work may have it. */
  readonly steer?: Omit<SteeredMessage, 'runId' | 'at'>
}

/** A run whose message another one has got. */
export interface JoinedRun {
  readonly runId: string
  readonly into: string
  /** Whether the readers of that run know of it. */
  readonly isTold?: true
}

/** A turn, or messages that were appended without one. */
export interface SessionEntry {
  readonly seq: number
  readonly turn?: Turn
  readonly provider?: string | undefined
  /** Null if they are too long. */
  readonly messages?: readonly unknown[] | null
  /** Messages from before there were turns, as one list. */
  readonly isOld?: true
}

/** The facts of a session in lists. */
export interface SessionListing {
  /** The title that was set, else the beginning of the first message; empty if neither is known. */
  readonly title?: string | undefined
  /** The beginning of the last message. */
  readonly last?: string | undefined
  /** The number of turns that have begun, including deleted ones. */
  readonly turns: number
  readonly createdAt: number
  /** Whether the service gave the id out to a caller without an identity. */
  readonly isGiven?: boolean
}

/** A session without its ended turns. */
export interface Session {
  /** The sequence number of its next entry. */
  readonly next: number
  /** The number of ended turns, and their characters. */
  readonly count: number
  readonly length: number
  /** The run that has the session, and then those that wait for it. */
  readonly line: readonly SessionClaim[]
  /** The runs in whose place others got their messages, until they know. */
  readonly joined?: readonly JoinedRun[]
  /** The turns that have begun. */
  readonly open: readonly SessionEntry[]
  /**
   * The entries that do not come after the one before them, by their sequence numbers, and all that come after the same one as they
   * do. Absent while there is one branch.
   */
  readonly branches?: Readonly<Record<number, BranchStart>> | undefined
  /** The last entry of the branch that counts. Absent: the newest one. */
  readonly head?: number | undefined
  readonly summary?: Summary | undefined
  /** Absent until its first turn: appended messages alone are no conversation. Older versions wrote none. */
  readonly about?: SessionListing
}

/** The first entry of a branch. */
export interface BranchStart {
  /** The entry before it; -1 for none. */
  readonly after: number
  /** The run of its turn; empty without one. */
  readonly runId: string
}

/** The summary of the turns up to one. */
export interface Summary {
  readonly text: string
  readonly upTo: number
}

/** An empty session. */
export const NEW: Session = { next: 1, count: 0, length: 0, line: [], open: [] }

/** The id of a session. It is JSON, so that different keys have different ids. */
export function idOf({ owner, place, sessionId }: SessionKey): string {
  return JSON.stringify([owner, place, sessionId])
}

/** The id of an ended turn, and of the feedback on it. */
export function turnIdOf(key: SessionKey, { seq }: SessionEntry): string {
  return `${idOf(key)}/${seq}`
}

/** Deletes a session with everything that is stored of it. */
export function forgetSession(tx: Transaction, id: string): void {
  tx.delete(SESSIONS, id)
  for (const collection of [TURNS, MEMBERS, FEEDBACK, GONE]) forgetAll(tx, collection, id)
  if (tx.get(STATE_HEADS, id) === undefined) return
  tx.delete(STATE_HEADS, id)
  for (const collection of [SPACES, STATES, PARTS]) forgetAll(tx, collection, id)
}

export function forgetAll(tx: Transaction, collection: string, partition: string): void {
  for (const { id } of tx.list(collection, { partition, limit: 1_000_000 })) tx.delete(collection, id)
}

/** Reads a session; an expired one counts as new. */
export function sessionAt(tx: Reader, key: SessionKey): Session {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  return (document && sessionIn(document, tx.now)) ?? NEW
}

/** The stored value of a session. Old versions wrote one list of messages. */
export type KeptSession = Session | readonly unknown[]

/** The session of a document; undefined if it has expired. */
export function sessionIn({ value, expiresAt = 0 }: Document<KeptSession>, now: number): Session | undefined {
  if (expiresAt <= now) return undefined
  return isList(value) ? { ...NEW, open: [{ seq: 0, messages: value, isOld: true }] } : value
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** The claims that have not expired. */
export function liveClaims({ line }: Session, now: number, runId?: string): SessionClaim[] {
  return line.filter(claim => claim.until > now || claim.runId === runId)
}

/** The entry, with its turn `interrupted` unless its run is among these. */
export function asOf(entry: SessionEntry, here: ReadonlySet<string>): SessionEntry {
  const { turn } = entry
  return turn === undefined || here.has(turn.runId)
    ? entry
    : { ...entry, turn: { ...turn, status: 'interrupted' } }
}

/** The entry of a run, open or ended. */
export function entryOf(
  tx: Reader,
  key: SessionKey,
  session: Session,
  runId: string,
): SessionEntry | undefined {
  const isIt = ({ turn }: SessionEntry) => turn?.runId === runId
  return session.open.find(isIt) ?? endedOf(tx, key, session).find(isIt)
}

/** The ended entries, newest first. */
export function endedOf(tx: Reader, key: SessionKey, { count }: Session): SessionEntry[] {
  return tx.list<SessionEntry>(TURNS, { partition: idOf(key), limit: count }).map(({ value }) => value)
}

/** Deletes an ended entry from a session. */
export function without(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  entry: SessionEntry,
  isKept = false,
): Session {
  const id = turnIdOf(key, entry)
  tx.delete(TURNS, id)
  const left = { ...session, count: session.count - 1, length: session.length - lengthOf(entry) }
  if (isKept) return left
  tx.delete(FEEDBACK, id)
  if (left.branches?.[entry.seq] === undefined) return left
  const { [entry.seq]: _, ...branches } = left.branches
  return { ...left, branches: Object.keys(branches).length > 0 ? branches : undefined }
}

/** Writes a session, which renews its retention. Past the limit others are deleted. */
export function save(tx: Transaction, key: SessionKey, value: Session, settings: SessionSettings): void {
  const { now } = tx
  const id = idOf(key)
  const partition = partitionOf(key.owner)
  const before = tx.get(SESSIONS, id)
  // An expired document is another session, so delete it first.
  if (before !== undefined && (before.expiresAt ?? 0) <= now) forgetSession(tx, id)
  if (before === undefined) makeRoom(tx, partition, settings.maxSessions)
  const expiresAt = now + settings.sessionRetentionMs
  putSession(tx, { id, partition, at: now, tags: tagsOf(key, value), expiresAt, value })
}

/** Writes the document of a session. */
export function putSession(tx: Transaction, document: Document<Session>): void {
  // Lists find a session by its title.
  const { title } = document.value.about ?? {}
  tx.put(SESSIONS, { ...document, text: title }, { thing: thingOf(document.id), leaves: 'first' })
}

/** The tags by which lists find a session. Sessions that lists do not show have none. */
function tagsOf({ place: [label = '', ...others] }: SessionKey, { about }: Session): Tags {
  if (about === undefined || others.length > 0) return {}
  const [kind = ''] = label.split(':', 1)
  return { kind, name: label.slice(kind.length + 1) }
}

function makeRoom(tx: Transaction, partition: string, maxSessions: number): void {
  const excess = () => Math.min(tx.count(SESSIONS, partition) - maxSessions + 1, LEAVE_AT_ONCE)
  if (excess() <= 0) return
  // No live session leaves for one that has expired, and is not deleted yet.
  for (const { id } of tx.expired(SESSIONS, tx.now, LEAVE_AT_ONCE)) forgetSession(tx, id)
  for (const { id } of tx.oldest(SESSIONS, Math.max(0, excess()), partition)) forgetSession(tx, id)
}

/** The eviction group: all parts of a session are evicted together. */
export function thingOf(id: string): NonNullable<Eviction['thing']> {
  return `session:${id}`
}

export function noted(
  { messages, provider }: SessionNote,
  { maxSessionLength }: SessionSettings,
): Omit<SessionEntry, 'seq'> {
  return {
    provider,
    messages: lengthOf(messages) > maxSessionLength ? null : messages,
  }
}

export function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}
