/**
 * The turns of a session: the runs that stand in line for it, how the turn of the first one begins and ends, and the transcript.
 *
 * @module
 */

import { textOf } from '../../agents/input.ts'
import type { BegunTurn, Entered, SessionKey, SessionNote } from '../../agents/memory.ts'
import type { Turn, TurnEnd } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import {
  type About,
  alive,
  asOf,
  close,
  type Entry,
  endedOf,
  entryOf,
  forgetAll,
  GONE,
  idOf,
  LEASE_MS,
  look,
  MEMBERS,
  NEW,
  noted,
  SESSIONS,
  type Seat,
  type Session,
  type SessionSettings,
  save,
  TURNS,
  thingOf,
  without,
} from './session-record.ts'

/** Milliseconds that are left of a place when it is renewed. */
const RENEW_AT_MS = 11_000

/** Runs that may wait for a session. */
const MAX_WAITING = 8

/** Characters of a title that nobody set, and of what was said last. */
const TITLE_LENGTH = 80
const LAST_LENGTH = 200

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
  // Of a run that was taken over, the worker that ends it does not know when it began.
  const whole = { ...turn, ...end, ...(turn && { at: turn.at }) } as Turn
  const ended = { seq, turn: whole, ...(note && noted(note, settings)) }
  const about = aboutWith(tx, key, left, whole, turn === undefined ? 1 : 0)
  const after = { ...left, next: Math.max(left.next, seq + 1), about }
  save(tx, key, close(tx, key, after, ended, settings), settings)
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
