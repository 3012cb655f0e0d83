/**
 * The messages that a model gets of a session: those of its newest turns, messages appended without a turn, and the summary of
 * earlier turns. Also the memory of members of a team.
 *
 * @module
 */

import type { SessionKey, SessionNote, SessionReader } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import {
  idOf,
  isList,
  LEASE_MS,
  lengthOf,
  MEMBERS,
  noted,
  SESSIONS,
  type Session,
  type SessionEntry,
  type SessionSettings,
  type Summary,
  save,
  sessionAt,
  TURNS,
  thingOf,
} from './session-record.ts'
import { branchNumbers, close, entriesBefore, placed } from './session-tree.ts'
import { messagesOfTurn, withoutProviderParts } from './turn-messages.ts'

/** The most member memories of one session. */
const MAX_MEMBERS = 100

/** Turns per read. */
const PAGE = 20

/** Adds messages that belong to no turn. */
export function appendSession(
  tx: Transaction,
  key: SessionKey,
  note: SessionNote,
  settings: SessionSettings,
): void {
  const session = sessionAt(tx, key)
  const about = noted(note, settings)
  if (key.member !== undefined) {
    const { at = 0 } = tx.get(SESSIONS, idOf(key)) ?? {}
    // Saving renews the session, which is kept as long as its members.
    if (tx.now - at > LEASE_MS) save(tx, key, session, settings)
    return appendMember(tx, key, { seq: atWorkIn(session), ...about }, settings)
  }
  const entry = { seq: session.next, ...about }
  const before = placed(tx, key, session, { runId: '' })
  save(tx, key, close(tx, key, { ...before, next: session.next + 1 }, entry, settings), settings)
}

/** The part of a session that a model gets. */
export interface SessionWindow {
  readonly messages: readonly unknown[]
  readonly summary?: string | undefined
  /** Turns that no longer fit and are not summed up yet, oldest first, and the sequence number of the last of them. */
  readonly leaving: readonly Turn[]
  readonly upTo: number
}

/** Reads the messages of the newest turns that fit. */
export function readSession(
  tx: Reader,
  key: SessionKey,
  reader: SessionReader,
  settings: SessionSettings,
): SessionWindow {
  if (key.member !== undefined) {
    // What a member remembers belongs to the turn in which it learned it.
    const branch = branchNumbers(tx, key, reader.runId)
    const own = membersOf(tx, key).filter(({ seq }) => branch?.has(seq) ?? true)
    const { messages } = fitting(newestFirst(own), reader, settings)
    return { messages, leaving: [], upTo: 0 }
  }
  const session = sessionAt(tx, key)
  const { summary } = session
  const before = entriesBefore(session, entriesOf(tx, key, session), reader.runId)
  const { messages, rest } = fitting(before, reader, settings)
  const leaving: Turn[] = []
  let upTo = 0
  if (settings.compacts) {
    for (const { seq, turn } of rest()) {
      if (seq <= (summary?.upTo ?? 0)) break
      upTo = Math.max(upTo, seq)
      if (turn !== undefined) leaving.unshift(turn)
    }
  }
  return { messages, summary: summary?.text, leaving, upTo }
}

/** Stores the summary of the turns up to one, unless that turn was deleted in the meantime, or is on another branch now. */
export function summarizeSession(
  tx: Transaction,
  key: SessionKey,
  summary: Summary,
  settings: SessionSettings,
): void {
  const last = tx.get(TURNS, `${idOf(key)}/${summary.upTo}`)
  const isOnBranch = branchNumbers(tx, key, undefined)?.has(summary.upTo) ?? true
  if (last !== undefined && isOnBranch) save(tx, key, { ...sessionAt(tx, key), summary }, settings)
}

/** The number of the turn of the run that has the session. */
function atWorkIn({ line: [first], open }: Session): number {
  return open.find(({ turn }) => turn?.runId === first?.runId)?.seq ?? 0
}

function memberIdOf({ owner, place, sessionId, member = [] }: SessionKey): string {
  return JSON.stringify([owner, [...place, ...member], sessionId])
}

/** The memory of a member, oldest first. */
function membersOf(tx: Reader, key: SessionKey): readonly SessionEntry[] {
  const id = memberIdOf(key)
  const kept = tx.get<readonly SessionEntry[]>(MEMBERS, id)?.value
  if (kept !== undefined) return kept
  const old = tx.get(SESSIONS, id)?.value
  return isList(old) ? [{ seq: 0, messages: old, isOld: true }] : []
}

function appendMember(
  tx: Transaction,
  key: SessionKey,
  entry: SessionEntry,
  settings: SessionSettings,
): void {
  const partition = idOf(key)
  const id = memberIdOf(key)
  const entries = [...membersOf(tx, key), entry]
  const { kept } = fitting(newestFirst(entries), {}, settings)
  if (tx.get(MEMBERS, id) === undefined && tx.count(MEMBERS, partition) >= MAX_MEMBERS) {
    for (const each of tx.oldest(MEMBERS, 1, partition)) tx.delete(MEMBERS, each.id)
  }
  const value = kept === 0 ? [] : entries.slice(-kept)
  tx.put(MEMBERS, { id, partition, at: tx.now, tags: {}, value }, { thing: thingOf(partition) })
}

function* newestFirst<T>(list: readonly T[]): Generator<T> {
  for (let index = list.length - 1; index >= 0; index--) yield list[index] as T
}

/** The ended entries of a session, newest first. */
function* entriesOf(tx: Reader, key: SessionKey, { open, count }: Session): Generator<SessionEntry> {
  const partition = idOf(key)
  let after: { readonly at: number; readonly id: string } | undefined
  for (let read = 0; read < count; read += PAGE) {
    const page = tx.list<SessionEntry>(TURNS, { partition, limit: PAGE, ...(after && { after }) })
    for (const { value } of page) yield value
    after = page.at(-1)
    if (after === undefined) break
  }
  for (const entry of open) if (entry.isOld) yield entry
}

/** The entries that fit, and the others, newest first. */
interface FittingEntries {
  readonly messages: readonly unknown[]
  /** How many entries fit. */
  readonly kept: number
  readonly rest: () => Iterable<SessionEntry>
}

/** Takes entries, newest first, until one does not fit. */
function fitting(
  entries: Iterator<SessionEntry>,
  { provider }: SessionReader,
  { maxSessionMessages, maxSessionLength }: SessionSettings,
): FittingEntries {
  const taken: (readonly unknown[])[] = []
  let count = maxSessionMessages
  let length = maxSessionLength
  let last: SessionEntry | undefined
  // Turns whose messages are in the turn that continued them.
  const within = new Set<string>()
  for (let item = entries.next(); !item.done; item = entries.next()) {
    const entry = item.value
    const messages = isWithin(entry, within) ? [] : messagesAt(entry, provider, count, length)
    if (messages !== undefined) {
      count -= messages.length
      length -= messages.reduce<number>((sum, message) => sum + lengthOf(message), 0)
    }
    if (messages === undefined || count < 0 || length < 0) {
      last = entry
      break
    }
    taken.unshift(messages)
  }
  return {
    messages: taken.flat(),
    kept: taken.length,
    *rest() {
      if (last !== undefined) yield last
      for (let item = entries.next(); !item.done; item = entries.next()) yield item.value
    },
  }
}

/** Whether the turn that continued this one has its messages. */
function isWithin({ turn, messages }: SessionEntry, within: Set<string>): boolean {
  if (turn === undefined) return false
  const { runId, continuedFrom } = turn
  const isIn = within.has(runId)
  if (continuedFrom !== undefined && (isIn || messages != null)) within.add(continuedFrom)
  return isIn
}

function messagesAt(entry: SessionEntry, provider: string | undefined, count: number, length: number) {
  return entry.isOld ? newestOf(entry.messages ?? [], count, length) : ofProvider(entry, provider)
}

/** The messages of an entry for a provider; undefined if it has none to send, which also ends the window before it. */
function ofProvider({ turn, messages, provider }: SessionEntry, reader: string | undefined) {
  if (messages == null) return turn === undefined ? undefined : messagesOfTurn(turn)
  return provider === undefined || provider === reader
    ? messages
    : messages.map(withoutProviderParts).filter(hasContent)
}

/** Whether a message still has content. */
function hasContent(message: unknown): boolean {
  const { content } = Object(message) as { readonly content?: unknown }
  return !isList(content) || content.length > 0
}

/** The newest messages that fit. */
function newestOf(messages: readonly unknown[], maxCount: number, maxLength: number): readonly unknown[] {
  const lengths = messages.map(lengthOf)
  let first = Math.max(messages.length - maxCount, 0)
  let total = lengths.slice(first).reduce((sum, length) => sum + length, 0)
  while (total > maxLength) total -= lengths[first++] ?? total
  // Drop answers whose question is dropped.
  if (first > 0) while (isAnswer(messages[first])) first++
  return messages.slice(first)
}

/** Whether a message answers an earlier one, by the roles of the AI SDK. */
function isAnswer(message: unknown): boolean {
  const { role } = Object(message) as { readonly role?: unknown }
  return role === 'assistant' || role === 'tool'
}
