/**
 * What a model is told of a session: the messages of its newest turns, what was appended without a turn, the summary of what is told no
 * more, and what members of a team remember.
 *
 * @module
 */

import type { SessionKey, SessionNote, SessionReader } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import {
  close,
  type Entry,
  idOf,
  isList,
  LEASE_MS,
  lengthOf,
  look,
  MEMBERS,
  noted,
  SESSIONS,
  type Session,
  type SessionSettings,
  type Summary,
  save,
  TURNS,
  thingOf,
} from './session-record.ts'
import { plain, toldOf } from './told-turn.ts'

/** Memories inside of one session. */
const MAX_MEMBERS = 100

/** Turns that are read at once. */
const PAGE = 20

/** Adds messages that are of no turn. */
export function appendSession(
  tx: Transaction,
  key: SessionKey,
  note: SessionNote,
  settings: SessionSettings,
): void {
  const session = look(tx, key)
  const about = noted(note, settings)
  if (key.member !== undefined) {
    const { at = 0 } = tx.get(SESSIONS, idOf(key)) ?? {}
    // It is kept as long as the session.
    if (tx.now - at > LEASE_MS) save(tx, key, session, settings)
    return appendMember(tx, key, about, settings)
  }
  const entry = { seq: session.next, ...about }
  save(tx, key, close(tx, key, { ...session, next: session.next + 1 }, entry, settings), settings)
}

/** What is told of a session. */
export interface SessionWindow {
  readonly messages: readonly unknown[]
  readonly summary?: string | undefined
  /** Turns that are told no more and not summed up yet, oldest first, and the place of the last of them. */
  readonly leaving: readonly Turn[]
  readonly upTo: number
}

/** The messages of the newest turns that fit. */
export function readSession(
  tx: Reader,
  key: SessionKey,
  reader: SessionReader,
  settings: SessionSettings,
): SessionWindow {
  if (key.member !== undefined) {
    const { messages } = fitting(newestFirst(membersOf(tx, key)), reader, settings)
    return { messages, leaving: [], upTo: 0 }
  }
  const session = look(tx, key)
  const { summary } = session
  const { messages, rest } = fitting(entriesOf(tx, key, session), reader, settings)
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

/** Keeps what stands for the turns up to one, unless that was replaced meanwhile. */
export function summarizeSession(
  tx: Transaction,
  key: SessionKey,
  summary: Summary,
  settings: SessionSettings,
): void {
  const last = tx.get(TURNS, `${idOf(key)}/${summary.upTo}`)
  if (last !== undefined) save(tx, key, { ...look(tx, key), summary }, settings)
}

function memberIdOf({ owner, place, sessionId, member = [] }: SessionKey): string {
  return JSON.stringify([owner, [...place, ...member], sessionId])
}

/** What a member remembers, oldest first. */
function membersOf(tx: Reader, key: SessionKey): readonly Entry[] {
  const id = memberIdOf(key)
  const kept = tx.get<readonly Entry[]>(MEMBERS, id)?.value
  if (kept !== undefined) return kept
  const old = tx.get(SESSIONS, id)?.value
  return isList(old) ? [{ seq: 0, messages: old, isOld: true }] : []
}

function appendMember(
  tx: Transaction,
  key: SessionKey,
  about: Omit<Entry, 'seq'>,
  settings: SessionSettings,
): void {
  const partition = idOf(key)
  const id = memberIdOf(key)
  const entries = [...membersOf(tx, key), { seq: 0, ...about }]
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

/** The entries of a session that have ended, newest first. */
function* entriesOf(tx: Reader, key: SessionKey, { open, count }: Session): Generator<Entry> {
  const partition = idOf(key)
  let after: { readonly at: number; readonly id: string } | undefined
  for (let read = 0; read < count; read += PAGE) {
    const page = tx.list<Entry>(TURNS, { partition, limit: PAGE, ...(after && { after }) })
    for (const { value } of page) yield value
    after = page.at(-1)
    if (after === undefined) break
  }
  for (const entry of open) if (entry.isOld) yield entry
}

/** What fits of entries, and those that do not, newest first. */
interface Fitting {
  readonly messages: readonly unknown[]
  /** How many entries fit. */
  readonly kept: number
  readonly rest: () => Iterable<Entry>
}

/** Takes entries, newest first, until one does not fit. */
function fitting(
  entries: Iterator<Entry>,
  { provider }: SessionReader,
  { maxSessionMessages, maxSessionLength }: SessionSettings,
): Fitting {
  const taken: (readonly unknown[])[] = []
  let count = maxSessionMessages
  let length = maxSessionLength
  let last: Entry | undefined
  // Turns whose messages are with the turn that went on from them.
  const within = new Set<string>()
  for (let item = entries.next(); !item.done; item = entries.next()) {
    const entry = item.value
    const told = isWithin(entry, within) ? [] : toldAs(entry, provider, count, length)
    if (told !== undefined) {
      count -= told.length
      length -= told.reduce<number>((sum, message) => sum + lengthOf(message), 0)
    }
    if (told === undefined || count < 0 || length < 0) {
      last = entry
      break
    }
    taken.unshift(told)
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

/** Whether the turn that went on from this one has its messages. */
function isWithin({ turn, messages }: Entry, within: Set<string>): boolean {
  if (turn === undefined) return false
  const { runId, continuedFrom } = turn
  const isIn = within.has(runId)
  if (continuedFrom !== undefined && (isIn || messages != null)) within.add(continuedFrom)
  return isIn
}

function toldAs(entry: Entry, provider: string | undefined, count: number, length: number) {
  return entry.isOld ? newestOf(entry.messages ?? [], count, length) : ofProvider(entry, provider)
}

/** How an entry is told; undefined for one that cannot be, so that nothing before it is told either. */
function ofProvider({ turn, messages, provider }: Entry, reader: string | undefined) {
  if (messages == null) return turn === undefined ? undefined : toldOf(turn)
  return provider === undefined || provider === reader ? messages : messages.map(plain).filter(isTold)
}

/** Whether anything of a message is left. */
function isTold(message: unknown): boolean {
  const { content } = Object(message) as { readonly content?: unknown }
  return !isList(content) || content.length > 0
}

/** The newest messages that fit. */
function newestOf(messages: readonly unknown[], maxCount: number, maxLength: number): readonly unknown[] {
  const lengths = messages.map(lengthOf)
  let first = Math.max(messages.length - maxCount, 0)
  let total = lengths.slice(first).reduce((sum, length) => sum + length, 0)
  while (total > maxLength) total -= lengths[first++] ?? total
  // An answer goes with what it answers.
  if (first > 0) while (isAnswer(messages[first])) first++
  return messages.slice(first)
}

/** Whether a message says something to one before it, in the words of the AI SDK. */
function isAnswer(message: unknown): boolean {
  const { role } = Object(message) as { readonly role?: unknown }
  return role === 'assistant' || role === 'tool'
}
