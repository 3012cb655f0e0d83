/**
 * The turns of a session: the line of its runs, the beginning and the end of the first one's turn, and the transcript.
 *
 * @module
 */

import { textOf } from '../../agents/input.ts'
import type { BegunTurn, EndedTurn, Entered, SessionKey, SessionNote } from '../../agents/memory.ts'
import type { Turn, TurnTree } from '../../agents/turn.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import {
  asOf,
  entryOf,
  GONE,
  idOf,
  LEASE_MS,
  liveClaims,
  NEW,
  noted,
  SESSIONS,
  type Session,
  type SessionClaim,
  type SessionEntry,
  type SessionListing,
  type SessionSettings,
  save,
  sessionAt,
  TURNS,
  without,
} from './session-record.ts'
import { busy, joinedBy, MAX_WAITING, steerOf, withRest } from './session-steering.ts'
import { changed, close, entriesIn, placed, transcriptOf, turnTree } from './session-tree.ts'

/** A claim is renewed when fewer milliseconds than this are left of it. */
const RENEW_AT_MS = 11_000

/**
 * Joins the line, or renews the position in it. The first run begins its turn. Throws `session_busy`, and `session_changed` if
 * the session is not as the turn asks.
 */
export function enterSession(
  tx: Transaction,
  key: SessionKey,
  begun: BegunTurn,
  settings: SessionSettings,
): Entered {
  const other = joinedBy(tx, sessionAt(tx, key), begun.runId)
  return other === undefined
    ? enterLine(tx, key, begun, settings)
    : { place: 1, stops: [], isStopped: false, ...other }
}

function enterLine(
  tx: Transaction,
  key: SessionKey,
  { goesOn = false, steers = false, userId, ...turn }: BegunTurn,
  settings: SessionSettings,
): Entered {
  const { runId } = turn
  const session = goesOn ? reopened(tx, key, sessionAt(tx, key), runId) : sessionAt(tx, key)
  const before = liveClaims(session, tx.now, runId)
  const claim = before.find(each => each.runId === runId)
  const line = claim || goesOn ? before : inLine(before, turn, settings)
  const at = claim ? line.indexOf(claim) : line.length
  const begins = at === 0 && !session.open.some(entry => entry.turn?.runId === runId)
  if (claim === undefined || begins || claim.until - tx.now < RENEW_AT_MS) {
    const steer = claim === undefined && steers ? steerOf(turn, userId) : undefined
    line[at] = { ...claim, runId, until: tx.now + LEASE_MS, ...(steer && { steer }) }
    const after = settle(tx, key, { ...session, line }, settings)
    save(tx, key, begins ? begun(tx, key, after, turn) : after, settings)
  }
  const stops = claim ? [] : line.flatMap(each => (each.stop ? each.runId : []))
  return { place: at, stops, isStopped: claim?.stop === true, isFirst: begins && session.about === undefined }
}

/** Opens the turn of a run that goes on again, at its old position: it may have been stored as interrupted. */
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

/**
 * The line for a run that joins it. A run that continues another is never rejected: its answers are taken, and no other run can
 * use them.
 */
function inLine(
  line: SessionClaim[],
  { continuedFrom }: Turn,
  { concurrency }: SessionSettings,
): SessionClaim[] {
  const isFull = line.length > (concurrency === 'reject' ? 0 : MAX_WAITING)
  if (isFull && continuedFrom === undefined) throw busy()
  return concurrency === 'interrupt' ? line.map(claim => ({ ...claim, stop: true })) : line
}

function begun(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  { replaces, branchFrom, ifHead, ...turn }: BegunTurn,
): Session {
  const before = placed(tx, key, session, { ...turn, replaces, branchFrom, ifHead })
  const { next, open } = before
  const about = aboutWith(tx, key, before, turn, 1)
  return { ...before, next: next + 1, open: [...open, { seq: next, turn }], about }
}

/** The most characters of a title that nobody set, and of the last message. */
const TITLE_LENGTH = 80
const LAST_LENGTH = 200

/** The listing of a session after its newest turn. `more` is the number of turns that have begun with it. */
export function aboutWith(
  tx: Reader,
  key: SessionKey,
  { about, count }: Session,
  turn: Turn,
  more = 0,
): SessionListing {
  // Older versions stored no listing.
  const first = about ? turn : (tx.oldest<SessionEntry>(TURNS, 1, idOf(key))[0]?.value.turn ?? turn)
  const { title, last, turns, createdAt } = about ?? { turns: count, createdAt: first.at }
  return {
    ...about,
    title: title || beginning(textOf(first.input), TITLE_LENGTH),
    last: lastWordsOf(turn) || last,
    turns: turns + more,
    createdAt,
  }
}

/** The beginning of a turn's answer, or of its message if it has none. */
export function lastWordsOf({ text, input }: Turn): string {
  return beginning(text || textOf(input), LAST_LENGTH)
}

/** The beginning of a text, in one line. */
export function beginning(text: string, length: number): string {
  const line = text
    .slice(0, 4 * length)
    .replace(/\s+/g, ' ')
    .trim()
  // The cut may leave half a character.
  return line.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** Renews the claim of a run at work. False if it has to stop: another run has stopped it, or it is no longer the first. */
export function keepSession(
  tx: Transaction,
  key: SessionKey,
  runId: string,
  settings: SessionSettings,
): boolean {
  const session = sessionAt(tx, key)
  const [first, ...rest] = liveClaims(session, tx.now, runId)
  if (first === undefined ? isGone(tx, runId) : first.runId !== runId || first.stop) return false
  if (first === undefined || first.until - tx.now < RENEW_AT_MS) {
    save(tx, key, { ...session, line: [{ ...first, runId, until: tx.now + LEASE_MS }, ...rest] }, settings)
  }
  return true
}

/** Leaves the line and stores how the turn ended. A deleted turn is stored only if `end` has its beginning as well. */
export function leaveSession(
  tx: Transaction,
  key: SessionKey,
  { told = [], ...end }: EndedTurn,
  note: SessionNote | undefined,
  settings: SessionSettings,
): void {
  const { runId } = end
  const before = sessionAt(tx, key)
  const session = before.joined === undefined ? before : withRest(tx, before, runId, told)
  const line = liveClaims(session, tx.now, runId).filter(claim => claim.runId !== runId)
  const left = { ...session, line, open: session.open.filter(({ turn }) => turn?.runId !== runId) }
  const leaves = () => {
    if (before !== NEW) save(tx, key, left, settings)
  }
  if (end.status === 'running') return leaves()
  // A run that was thought dead was settled before.
  const entry = entryOf(tx, key, session, runId)
  if (entry === undefined && (end.input === undefined || isGone(tx, runId))) return leaves()
  const there = entry === undefined ? placed(tx, key, left, { runId }) : left
  const { seq = left.next, turn } = entry ?? {}
  // The worker that ends a run after a takeover does not know when the run began.
  const whole = { ...turn, ...end, ...(turn && { at: turn.at }) } as Turn
  const ended = { seq, turn: whole, ...(note && noted(note, settings)) }
  const about = aboutWith(tx, key, left, whole, turn === undefined ? 1 : 0)
  const after = { ...there, next: Math.max(left.next, seq + 1), about }
  save(tx, key, close(tx, key, after, ended, settings), settings)
}

/**
 * The transcript of the branch of a run, or else of the one that counts, in the order in which the turns began. A running turn whose
 * run is gone is `interrupted`.
 */
export function turnsOf(tx: Reader, key: SessionKey, runId?: string): readonly Turn[] {
  const session = sessionAt(tx, key)
  const here = new Set(liveClaims(session, tx.now).map(({ runId }) => runId))
  const open = session.open.map(entry => asOf(entry, here))
  return transcriptOf(session, entriesIn(tx, key, { ...session, open }), runId)
}

/** Every turn, with its place among the branches, in the order in which they began. */
export function treeOf(tx: Reader, key: SessionKey): TurnTree {
  const session = sessionAt(tx, key)
  const here = new Set(liveClaims(session, tx.now).map(({ runId }) => runId))
  const open = session.open.map(entry => asOf(entry, here))
  return turnTree(session, entriesIn(tx, key, { ...session, open }))
}

/** When the turn of a run, or its position in line, may be deleted; undefined if there is neither. */
export function turnUntil(tx: Reader, key: SessionKey, runId: string): number | undefined {
  const session = sessionAt(tx, key)
  const isThere =
    liveClaims(session, tx.now).some(claim => claim.runId === runId) || entryOf(tx, key, session, runId)
  return isThere ? tx.get(SESSIONS, idOf(key))?.expiresAt : undefined
}

/** Whether the turn of a run, or its session, was deleted while the run was thought dead. Nothing of it is stored any more. */
function isGone(tx: Reader, runId: string): boolean {
  return tx.get(GONE, runId) !== undefined
}

/** Stores the open turns of runs that are gone. */
function settle(tx: Transaction, key: SessionKey, session: Session, settings: SessionSettings): Session {
  const here = new Set(session.line.map(({ runId }) => runId))
  let after = session
  for (const entry of session.open) {
    if (entry.turn && here.has(entry.turn.runId)) continue
    const left = { ...after, open: after.open.filter(each => each !== entry) }
    after = close(tx, key, left, asOf(entry, here), settings)
  }
  return after
}
