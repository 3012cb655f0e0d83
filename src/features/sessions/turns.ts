/**
 * The turns of a session, in pages, and copied into another one.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import {
  type About,
  alive,
  asOf,
  close,
  type Entry,
  idOf,
  type KeptSession,
  MEMBERS,
  NEW,
  SESSIONS,
  type Session,
  type SessionSettings,
  save,
  sessionIn,
  TURNS,
  thingOf,
} from '../../runs/sessions/session-record.ts'
import { aboutWith } from '../../runs/sessions/session-turns.ts'
import { decodeCursor, encodeCursor } from '../../runs/stored/cursor.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { aboutOf } from './list.ts'

/** A page of turns, newest first. It may be short or empty and yet have a next one. */
export interface TurnPage {
  /** One that is `running` can be followed at `GET /runs/:id/stream`, if its run is stored. */
  readonly turns: readonly Turn[]
  /** Gives the next page; null at the end, and only there. */
  readonly nextCursor: string | null
}

/** Which turns to read. */
export interface TurnQuery {
  /** From a page before. */
  readonly cursor?: string | undefined
  /** 1 to 100. */
  readonly limit: number
}

/** The session of a key, if the caller may see it: without an owner only one whose id was given out. */
export function visible(tx: Reader, key: SessionKey): Session | undefined {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  const session = document && sessionIn(document, tx.now)
  const about = session && aboutOf(tx, document.id, session)
  return about === undefined || (key.owner === null && !about.isGiven)
    ? undefined
    : session && { ...session, about }
}

/** A page of turns; undefined where there is no such session. Throws `invalid_query` for a cursor that is none. */
export function readTurns(tx: Reader, key: SessionKey, { cursor, limit }: TurnQuery): TurnPage | undefined {
  const before = cursor === undefined ? undefined : decodeCursor(cursor).at
  const session = visible(tx, key)
  if (session === undefined) return undefined
  const ended = endedIn(tx, key, limit + 1, before)
  const open = openIn(tx, session).filter(({ seq }) => before === undefined || seq < before)
  const entries = [...open, ...ended].sort((a, b) => b.seq - a.seq)
  const page = entries.slice(0, limit)
  const last = page.at(-1)
  const isMore = entries.length > limit && last !== undefined
  return {
    turns: page.flatMap(({ turn }) => turn ?? []),
    nextCursor: isMore ? encodeCursor({ at: last.seq, id: 'turn' }) : null,
  }
}

/** What a fork takes along. */
export interface Copied {
  readonly entries: readonly Entry[]
  readonly title?: string | undefined
  readonly summary?: Session['summary']
  /** What members remember: who, and what. */
  readonly members: readonly (readonly [place: unknown, value: unknown])[]
}

/**
 * The turns up to that of a run; all that have ended without one. What members remember goes along only with all of them. Undefined
 * where there is no such session. Throws `run_not_found`, and `session_busy` where that turn is at work.
 */
export function copyTurns(tx: Reader, key: SessionKey, runId: string | undefined): Copied | undefined {
  const session = visible(tx, key)
  if (session === undefined) return undefined
  const all = [...openIn(tx, session), ...endedIn(tx, key, session.count)].sort((a, b) => a.seq - b.seq)
  const last = all.findLast(({ turn }) => runId === undefined || turn?.runId === runId)
  if (last === undefined && runId !== undefined) throw new ServableError('run_not_found', NO_TURN)
  if (runId !== undefined && last?.turn?.status === 'running')
    throw new ServableError('session_busy', AT_WORK)
  const upTo = last?.seq ?? 0
  const entries = all.filter(({ seq, turn }) => seq <= upTo && turn?.status !== 'running')
  const { summary, about } = session
  const isWhole = entries.length === all.length
  const members = isWhole ? tx.list(MEMBERS, { partition: idOf(key), limit: 1000 }) : []
  return {
    entries,
    title: about?.title,
    ...(summary !== undefined && summary.upTo <= upTo && { summary }),
    members: members.map(({ id, value }) => [JSON.parse(id)[1], value]),
  }
}

const NO_TURN = 'The session has no turn of this run'
const AT_WORK = 'The turn of this run is at work: fork the session when it has ended'

/** Writes what was copied into a new session. */
export function pasteTurns(
  tx: Transaction,
  key: SessionKey,
  { entries, title, summary, members }: Copied,
  settings: SessionSettings,
): void {
  const id = idOf(key)
  let session: Session = { ...NEW, next: (entries.at(-1)?.seq ?? 0) + 1, ...(summary && { summary }) }
  for (const entry of entries) session = close(tx, key, session, entry, settings)
  const turns = entries.flatMap(({ turn }) => turn ?? [])
  const about = { ...begunAt(tx, key, title), turns: turns.length }
  const newest = turns.at(-1)
  const told = newest ? aboutWith(tx, key, { ...session, about }, newest) : about
  save(tx, key, { ...session, about: told }, settings)
  for (const [place, value] of members) {
    const member = JSON.stringify([key.owner, place, key.sessionId])
    tx.put(MEMBERS, { id: member, partition: id, at: tx.now, tags: {}, value }, { thing: thingOf(id) })
  }
}

/** What is told of a session that begins with its id. */
export function begunAt({ now }: Reader, { owner }: SessionKey, title: string | undefined): About {
  return { title, turns: 0, createdAt: now, ...(owner === null && { isGiven: true }) }
}

/** What has ended, newest first. */
function endedIn(tx: Reader, key: SessionKey, limit: number, before?: number): Entry[] {
  const after = before === undefined ? undefined : { at: before, id: '' }
  return tx.list<Entry>(TURNS, { partition: idOf(key), limit, after }).map(({ value }) => value)
}

/** What has begun, as it stands. */
function openIn(tx: Reader, session: Session): Entry[] {
  const here = new Set(alive(session, tx.now).map(({ runId }) => runId))
  return session.open.filter(({ isOld }) => !isOld).map(entry => asOf(entry, here))
}
