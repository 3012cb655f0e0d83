/**
 * Sessions in a store: who has one, the turns, and what is told of them. A session is one document, and each turn that has ended
 * another one.
 *
 * @module
 */

import { textOf } from '../agents/input.ts'
import type { BegunTurn, Entered, SessionKey, SessionNote, SessionReader } from '../agents/memory.ts'
import type { Turn, TurnEnd } from '../agents/turn.ts'
import { ServableError } from '../errors.ts'
import type { Document, Footing, Reader, Tags, Transaction } from '../state/store.ts'
import { FEEDBACK } from './feedback.ts'
import { partitionOf } from './record.ts'
import { plain, toldOf } from './told-turn.ts'

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

/** Milliseconds that are left of a place when it is renewed. */
const RENEW_AT_MS = 11_000

/** Runs that may wait for a session. */
const MAX_WAITING = 8

/** Memories inside of one session. */
const MAX_MEMBERS = 100

/** Sessions that leave for one that comes: more than one where the bound was lowered. */
const LEAVE_AT_ONCE = 10

/** Turns that are read at once. */
const PAGE = 20

/** A run at work or waiting. */
interface Seat {
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

/** Characters of a title that nobody set, and of what was said last. */
const TITLE_LENGTH = 80
const LAST_LENGTH = 200

/** A session without turns. */
export const NEW: Session = { next: 1, count: 0, length: 0, line: [], open: [] }

/** One text of several: JSON keeps them apart. */
export function idOf({ owner, place, sessionId }: SessionKey): string {
  return JSON.stringify([owner, place, sessionId])
}

/**
 * Gets in line, or renews the place in it. Whoever is first begins its turn. Throws `session_busy`, and `session_changed` where the
 * message that it replaces is not there.
 */
export function enterSession(
  tx: Transaction,
  key: SessionKey,
  { goesOn = false, ...turn }: BegunTurn,
  settings: SessionSettings,
): Entered {
  const { runId } = turn
  const session = goesOn ? reopened(tx, key, look(tx, key), runId) : look(tx, key)
  const before = alive(session, tx.now, runId)
  const seat = before.find(each => each.runId === runId)
  const line = seat || goesOn ? before : joined(before, turn, settings)
  const at = seat ? line.indexOf(seat) : line.length
  const begins = at === 0 && !session.open.some(entry => entry.turn?.runId === runId)
  if (seat === undefined || begins || seat.until - tx.now < RENEW_AT_MS) {
    line[at] = { ...seat, runId, until: tx.now + LEASE_MS }
    const after = settle(tx, key, { ...session, line }, settings)
    save(tx, key, begins ? begun(tx, key, after, turn) : after, settings)
  }
  const stops = seat ? [] : line.flatMap(each => (each.stop ? each.runId : []))
  return { place: at, stops, isStopped: seat?.stop === true, isFirst: begins && session.about === undefined }
}

/** With the turn of a run that goes on open again, in its place: it may have been put away as interrupted. */
function reopened(tx: Transaction, key: SessionKey, session: Session, runId: string): Session {
  if (isGone(tx, runId)) throw changed()
  const entry = entryOf(tx, key, session, runId)
  if (entry?.turn === undefined || session.open.includes(entry)) return session
  const { seq, turn } = entry
  return {
    ...without(tx, key, session, entry, true),
    open: [...session.open, { seq, turn: { ...turn, status: 'running' } }],
  }
}

/** The line for one who joins it. A run that goes on is never sent away: its answers are taken, and start no other. */
function joined(line: Seat[], { continuedFrom }: Turn, { concurrency }: SessionSettings): Seat[] {
  const isFull = line.length > (concurrency === 'reject' ? 0 : MAX_WAITING)
  if (isFull && continuedFrom === undefined) throw busy()
  return concurrency === 'interrupt' ? line.map(seat => ({ ...seat, stop: true })) : line
}

/**
 * Without the first turn of a message and all that ended after it; what members remember goes too. Throws `session_changed` where
 * there is none.
 */
function cut(tx: Transaction, key: SessionKey, session: Session, messageId: string): Session {
  const ended = endedOf(tx, key, session)
  const first = ended.findLast(({ turn }) => turn && (turn.messageId ?? turn.runId) === messageId)
  if (first === undefined) throw changed()
  const partition = idOf(key)
  forgetAll(tx, MEMBERS, partition)
  let after = session
  for (const entry of ended) {
    if (entry.seq < first.seq) break
    after = without(tx, key, after, entry)
    // Who has not said how it ended may only be thought dead.
    const { turn } = entry
    if (turn && !turn.endedAt)
      tx.put(
        GONE,
        { id: turn.runId, partition, at: tx.now, tags: {}, value: null },
        { thing: thingOf(partition) },
      )
  }
  const { summary } = session
  return { ...after, summary: summary && summary.upTo < first.seq ? summary : undefined }
}

function begun(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  { replaces, ...turn }: BegunTurn,
): Session {
  const before = replaces === undefined ? session : cut(tx, key, session, replaces)
  const { next, open } = before
  const about = aboutWith(tx, key, before, turn, 1)
  return { ...before, next: next + 1, open: [...open, { seq: next, turn }], about }
}

/** What is told of a session by its newest turn, where so many more have begun. */
export function aboutWith(
  tx: Reader,
  key: SessionKey,
  { about, count }: Session,
  turn: Turn,
  more = 0,
): About {
  const { input, text } = turn
  // Older versions told nothing of a session.
  const first = about ? turn : (tx.oldest<Entry>(TURNS, 1, idOf(key))[0]?.value.turn ?? turn)
  const { title, last, turns, createdAt } = about ?? { turns: count, createdAt: first.at }
  return {
    ...about,
    title: title || beginning(textOf(first.input), TITLE_LENGTH),
    last: beginning(text || textOf(input), LAST_LENGTH) || last,
    turns: turns + more,
    createdAt,
  }
}

/** The beginning of a text, in one line. */
export function beginning(text: string, length: number): string {
  const line = text
    .slice(0, 4 * length)
    .replace(/\s+/g, ' ')
    .trim()
  // Half a character may be left at the end.
  return line.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** Renews the place of a run at work; false where it is to stop: it was told so, or is not the first any more. */
export function keepSession(
  tx: Transaction,
  key: SessionKey,
  runId: string,
  settings: SessionSettings,
): boolean {
  const session = look(tx, key)
  const [first, ...rest] = alive(session, tx.now, runId)
  if (first === undefined ? isGone(tx, runId) : first.runId !== runId || first.stop) return false
  if (first === undefined || first.until - tx.now < RENEW_AT_MS) {
    save(tx, key, { ...session, line: [{ runId, until: tx.now + LEASE_MS }, ...rest] }, settings)
  }
  return true
}

/** Leaves the line. Keeps how a turn ended; of one that is gone only where its beginning is told as well. */
export function leaveSession(
  tx: Transaction,
  key: SessionKey,
  end: TurnEnd & Pick<Turn, 'runId'> & Partial<Turn>,
  note: SessionNote | undefined,
  settings: SessionSettings,
): void {
  const { runId } = end
  const session = look(tx, key)
  const line = alive(session, tx.now, runId).filter(seat => seat.runId !== runId)
  const left = { ...session, line, open: session.open.filter(({ turn }) => turn?.runId !== runId) }
  const leaves = () => {
    if (session !== NEW) save(tx, key, left, settings)
  }
  if (end.status === 'running') return leaves()
  // One that was thought dead has been settled.
  const entry = entryOf(tx, key, session, runId)
  if (entry === undefined && (end.input === undefined || isGone(tx, runId))) return leaves()
  const { seq = left.next, turn } = entry ?? {}
  const whole = { ...turn, ...end } as Turn
  const ended = { seq, turn: whole, ...(note && noted(note, settings)) }
  const about = aboutWith(tx, key, left, whole, turn === undefined ? 1 : 0)
  const after = { ...left, next: Math.max(left.next, seq + 1), about }
  save(tx, key, close(tx, key, after, ended, settings), settings)
}

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

/** The transcript, in the order in which the turns began. One at work whose run is gone is `interrupted`. */
export function turnsOf(tx: Reader, key: SessionKey): readonly Turn[] {
  const session = look(tx, key)
  const here = new Set(alive(session, tx.now).map(({ runId }) => runId))
  return [...session.open.map(entry => asOf(entry, here)), ...endedOf(tx, key, session)]
    .sort((a, b) => a.seq - b.seq)
    .flatMap(({ turn }) => turn ?? [])
}

/** When the turn of a run, or its place in line, may be gone; undefined where there is neither. */
export function turnUntil(tx: Reader, key: SessionKey, runId: string): number | undefined {
  const session = look(tx, key)
  const isThere =
    alive(session, tx.now).some(seat => seat.runId === runId) || entryOf(tx, key, session, runId)
  return isThere ? tx.get(SESSIONS, idOf(key))?.expiresAt : undefined
}

/** Deletes a session with all that is kept of it. */
export function forgetSession(tx: Transaction, id: string): void {
  tx.delete(SESSIONS, id)
  for (const collection of [TURNS, MEMBERS, FEEDBACK, GONE]) forgetAll(tx, collection, id)
}

function forgetAll(tx: Transaction, collection: string, partition: string): void {
  for (const { id } of tx.list(collection, { partition, limit: 1_000_000 })) tx.delete(collection, id)
}

/** Whether the turn of a run, or its session, was deleted while the run was thought dead: nothing of it is kept any more. */
function isGone(tx: Reader, runId: string): boolean {
  return tx.get(GONE, runId) !== undefined
}

function changed(): ServableError {
  return new ServableError('session_changed', 'The session has no such message')
}

export function busy(): ServableError {
  return new ServableError(
    'session_busy',
    'Another run of the session is at work: try again when it has ended',
  )
}

/** A session as it is by now. */
function look(tx: Reader, key: SessionKey): Session {
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

function isList(value: unknown): value is readonly unknown[] {
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

/** Puts away what is open of runs that are gone. */
function settle(tx: Transaction, key: SessionKey, session: Session, settings: SessionSettings): Session {
  const here = new Set(session.line.map(({ runId }) => runId))
  const open: Entry[] = []
  let after = session
  for (const entry of session.open) {
    if (entry.turn && here.has(entry.turn.runId)) open.push(entry)
    else after = close(tx, key, after, asOf(entry, here), settings)
  }
  return { ...after, open }
}

/** The entry of a run, open or ended. */
function entryOf(tx: Reader, key: SessionKey, session: Session, runId: string): Entry | undefined {
  const isIt = ({ turn }: Entry) => turn?.runId === runId
  return session.open.find(isIt) ?? endedOf(tx, key, session).find(isIt)
}

/** What has ended, newest first. */
function endedOf(tx: Reader, key: SessionKey, { count }: Session): Entry[] {
  return tx.list<Entry>(TURNS, { partition: idOf(key), limit: count }).map(({ value }) => value)
}

/** A session without an entry that has ended. */
function without(tx: Transaction, key: SessionKey, session: Session, entry: Entry, isKept = false): Session {
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

function noted(
  { messages, provider }: SessionNote,
  { maxSessionLength }: SessionSettings,
): Omit<Entry, 'seq'> {
  return {
    provider,
    messages: lengthOf(messages) > maxSessionLength ? null : messages,
  }
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
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
