/**
 * Reads the turns of a session in pages, and copies them into another session.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import { FEEDBACK, feedbackIn, type StoredFeedback, storedFeedbackOf } from '../../runs/feedback.ts'
import {
  asOf,
  idOf,
  type KeptSession,
  liveClaims,
  MEMBERS,
  NEW,
  SESSIONS,
  type Session,
  type SessionEntry,
  type SessionListing,
  type SessionSettings,
  save,
  sessionIn,
  thingOf,
  turnIdOf,
} from '../../runs/sessions/session-record.ts'
import { type CopiedStates, copyStates, pasteStates } from '../../runs/sessions/session-states.ts'
import { branchOf, close, entriesIn, isOf, subtreeOf, summaryAt } from '../../runs/sessions/session-tree.ts'
import { aboutWith } from '../../runs/sessions/session-turns.ts'
import { decodeCursor, encodeCursor } from '../../runs/stored/page.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { entriesOfBranch, noTurn } from './branch-page.ts'
import { aboutOf } from './list.ts'

/** A page of turns, newest first. It may be short or even empty although there is a next page. */
export interface TurnPage {
  /** A `running` turn can be followed at `GET /runs/:id/stream` if its run is stored. */
  readonly turns: readonly ShownTurn[]
  /** The cursor of the next page. Null only at the end. */
  readonly nextCursor: string | null
}

/** A turn of a session, with its place among the branches. */
export interface ShownTurn extends Turn {
  /** The runs whose turns come after the same turn, with this one, in the order in which they began. Absent if it is the only one. */
  readonly alternatives?: readonly string[]
  /** What its owner said of it. */
  readonly feedback?: StoredFeedback
}

/** Which turns to read. */
export interface TurnQuery {
  /** The cursor from an earlier page. */
  readonly cursor?: string | undefined
  /** 1 to 100. */
  readonly limit: number
  /** The run of a turn: its branch is read, with the newest turn that comes after it. Default: the branch that counts. */
  readonly branch?: string | undefined
}

/** The session of a key, if the caller may see it. Without an owner, only a session with an id from the service is visible. */
export function visible(tx: Reader, key: SessionKey): Session | undefined {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  const session = document && sessionIn(document, tx.now)
  const about = session && aboutOf(tx, document.id, session)
  return about === undefined || (key.owner === null && !about.isGiven)
    ? undefined
    : session && { ...session, about }
}

/** A page of the turns of a branch. Undefined if there is no such session. Throws `invalid_query` for an invalid cursor. */
export function readTurns(
  tx: Reader,
  key: SessionKey,
  { cursor, limit, branch }: TurnQuery,
): TurnPage | undefined {
  const before = cursor === undefined ? undefined : decodeCursor(cursor).at
  const session = visible(tx, key)
  if (session === undefined) return undefined
  const open = openIn(tx, session)
  const entries = entriesOfBranch(tx, { key, session, open }, { before, branch }, limit + 1)
  const page = entries.slice(0, limit)
  const last = page.at(-1)
  const isMore = entries.length > limit && last !== undefined
  // Most sessions have none, and then no turn is looked for.
  const isSaid = tx.count(FEEDBACK, idOf(key)) > 0
  const shown = (entry: SessionEntry): ShownTurn | [] => {
    const turn = shownTurn(session, entry)
    const said = isSaid && turn ? feedbackIn(tx, turnIdOf(key, entry)) : undefined
    return turn && said ? { ...turn, feedback: storedFeedbackOf(said) } : (turn ?? [])
  }
  return {
    turns: page.flatMap(shown),
    nextCursor: isMore ? encodeCursor({ at: last.seq, id: 'turn' }) : null,
  }
}

/** A turn as clients see it. */
function shownTurn({ branches = {} }: Session, { seq, turn }: SessionEntry): ShownTurn | undefined {
  const start = branches[seq]
  if (turn === undefined || start === undefined) return turn
  const alternatives = Object.values(branches).flatMap(({ after, runId }) =>
    after === start.after && runId !== '' ? [runId] : [],
  )
  return alternatives.length > 1 ? { ...turn, alternatives } : turn
}

/** The newest entry of a branch with the turn of a run. Throws `run_not_found`. */
export function newestOf(session: Session, all: readonly SessionEntry[], runId: string): SessionEntry {
  const [newest] = subtreeAt(session, all, runId)
  return newest ?? noTurn()
}

/** The turn of a run and all entries after it, newest first. Throws `run_not_found`. */
export function subtreeAt(session: Session, all: readonly SessionEntry[], runId: string): SessionEntry[] {
  const { seq } = all.find(isOf(runId)) ?? noTurn()
  return subtreeOf(session, all, seq)
}

/** The data that a fork copies. */
export interface CopiedTurns {
  readonly entries: readonly SessionEntry[]
  readonly title?: string | undefined
  readonly summary?: Session['summary']
  /** The memory of members: their paths and values. */
  readonly members: readonly (readonly [path: unknown, value: unknown])[]
  /** What frameworks keep of it. */
  readonly states?: CopiedStates | undefined
}

/**
 * The turns of a branch up to that of a run, or without a run all ended turns of the branch that counts. The memory of members is
 * included only with all turns. Undefined if there is no such session. Throws `run_not_found`, and `session_busy` if that turn is
 * running.
 */
export function copyTurns(tx: Reader, key: SessionKey, runId: string | undefined): CopiedTurns | undefined {
  const session = visible(tx, key)
  if (session === undefined) return undefined
  const all = entriesIn(tx, key, { ...session, open: openIn(tx, session) })
  const last = runId === undefined ? undefined : (all.find(isOf(runId)) ?? noTurn())
  if (last?.turn?.status === 'running') throw new ServableError('session_busy', AT_WORK)
  const path = [...branchOf(session, all, last?.seq ?? session.head)].reverse()
  const entries = path.filter(({ turn }) => turn?.status !== 'running')
  const newest = path.at(-1)
  const summary = newest && summaryAt(session, all, newest.seq)
  const isWhole = entries.length === all.length
  const members = isWhole ? tx.list(MEMBERS, { partition: idOf(key), limit: 1000 }) : []
  return {
    entries,
    title: session.about?.title,
    ...(summary !== undefined && { summary }),
    members: members.map(({ id, value }) => [JSON.parse(id)[1], value]),
    states: copyStates(
      tx,
      key,
      entries.toReversed().flatMap(({ turn }) => turn?.runId ?? []),
      isWhole,
    ),
  }
}

const AT_WORK = 'The turn of this run is at work: fork the session when it has ended'

/** Writes copied data into a new session. */
export function pasteTurns(
  tx: Transaction,
  key: SessionKey,
  { entries, title, summary, members, states }: CopiedTurns,
  settings: SessionSettings,
): void {
  const id = idOf(key)
  let session: Session = { ...NEW, next: (entries.at(-1)?.seq ?? 0) + 1, ...(summary && { summary }) }
  for (const entry of entries) session = close(tx, key, session, entry, settings)
  const turns = entries.flatMap(({ turn }) => turn ?? [])
  const about = { ...begunAt(tx, key, title), turns: turns.length }
  const newest = turns.at(-1)
  const newAbout = newest ? aboutWith(tx, key, { ...session, about }, newest) : about
  save(tx, key, { ...session, about: newAbout }, settings)
  for (const [path, value] of members) {
    const member = JSON.stringify([key.owner, path, key.sessionId])
    tx.put(MEMBERS, { id: member, partition: id, at: tx.now, tags: {}, value }, { thing: thingOf(id) })
  }
  if (states !== undefined) pasteStates(tx, key, states)
}

/** The list data of a new session. */
export function begunAt({ now }: Reader, { owner }: SessionKey, title: string | undefined): SessionListing {
  return { title, turns: 0, createdAt: now, ...(owner === null && { isGiven: true }) }
}

/** Turns that have begun, in their current state. */
function openIn(tx: Reader, session: Session): SessionEntry[] {
  const here = new Set(liveClaims(session, tx.now).map(({ runId }) => runId))
  return session.open.filter(({ isOld }) => !isOld).map(entry => asOf(entry, here))
}
