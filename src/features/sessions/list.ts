/**
 * The list of an owner's sessions: where each has its own object, copies of them are listed.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import {
  type About,
  alive,
  type Entry,
  idOf,
  type KeptSession,
  SESSIONS,
  type Session,
  sessionIn,
  TURNS,
} from '../../runs/sessions/session-record.ts'
import { aboutWith } from '../../runs/sessions/session-turns.ts'
import { MAX_LOOKS } from '../../runs/stored/page.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Document, Position, Reader } from '../../stores/store.ts'
import { fromBase64, toBase64 } from '../../web/base64.ts'

/** A session, as its owner sees it. */
export interface SessionSummary {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  /** As it was set, else the beginning of the first message. */
  readonly title: string | null
  /** The beginning of what was said last, by either side. */
  readonly lastMessage: string | null
  /** How many turns it has had. The oldest may be gone. */
  readonly count: number
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  /** When a turn last began or ended. */
  readonly updatedAt: string
  /** Present while a run of it is at work. Lists of Durable Objects do not know. */
  readonly isRunning?: true
}

/** A page of sessions, newest first. It may be short or empty and yet have a next one. */
export interface SessionPage {
  readonly sessions: readonly SessionSummary[]
  /** Gives the next page; null at the end, and only there. */
  readonly nextCursor: string | null
}

/** Which sessions to list. */
export interface SessionQuery {
  readonly kind?: Kind | undefined
  readonly name?: string | undefined
  /** From a page before. */
  readonly cursor?: string | undefined
  /** 1 to 100. */
  readonly limit: number
}

/** A page of an owner's sessions. Throws `invalid_query` for a cursor that is none. */
export function listSessions(tx: Reader, owner: string, query: SessionQuery): SessionPage {
  const { kind, name, cursor, limit } = query
  const tags = { ...(kind !== undefined && { kind }), ...(name !== undefined && { name }) }
  const { documents, next } = tx.search<KeptSession>(SESSIONS, {
    partition: partitionOf(owner),
    tags,
    after: cursor === undefined ? undefined : placeIn(cursor, owner),
    limit,
    looks: MAX_LOOKS,
  })
  const sessions = documents.flatMap(document => summaryOf(tx, document) ?? [])
  return { sessions, nextCursor: next === undefined ? null : cursorOf(next) }
}

/** What is told of a session; undefined for one that has expired, and for one of which lists tell nothing. */
export function summaryOf(tx: Reader, document: Document<KeptSession>): SessionSummary | undefined {
  const { place, sessionId: id } = keyIn(document.id)
  const session = sessionIn(document, tx.now)
  const about = session && aboutOf(tx, document.id, session)
  const [, kind, name = ''] = /^(agent|team|workflow):(.*)$/s.exec(place[0] ?? '') ?? []
  // Only what is served by itself has sessions that can be asked for.
  if (session === undefined || about === undefined || kind === undefined || place.length > 1) return undefined
  return {
    ...{ id, kind: kind as Kind, name },
    title: about.title || null,
    lastMessage: about.last || null,
    count: about.turns,
    createdAt: new Date(about.createdAt).toISOString(),
    updatedAt: new Date(document.at).toISOString(),
    ...(alive(session, tx.now).length > 0 && { isRunning: true as const }),
  }
}

/** What is told of a session. Of one that older versions wrote, its turns tell; undefined where there is none. */
export function aboutOf(tx: Reader, id: string, session: Session): About | undefined {
  if (session.about !== undefined) return session.about
  const [newest] = tx.list<Entry>(TURNS, { partition: id, limit: 1 })
  const turn = session.open.at(-1)?.turn ?? newest?.value.turn
  return turn && aboutWith(tx, keyIn(id), session, turn)
}

/** The copy of a session for a list: without its turns. */
export function copyOf(tx: Reader, key: SessionKey): Document<Session> | undefined {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  const session = document && sessionIn(document, tx.now)
  const about = session && aboutOf(tx, document.id, session)
  if (document === undefined || session === undefined || about === undefined) return undefined
  const { next, count, length } = session
  return { ...document, value: { next, count, length, line: [], open: [], about } }
}

/** The key that an id of a document is made of. */
export function keyIn(id: string): SessionKey {
  // `idOf` has made it.
  const [owner, place, sessionId] = JSON.parse(id) as [string | null, readonly string[], string]
  return { owner, place, sessionId }
}

/** A place in the list of an owner, as clients see it: opaque, safe in a URL. */
export function cursorOf({ at, id }: Position): string {
  const { place, sessionId } = keyIn(id)
  const text = JSON.stringify([at, place, sessionId])
  return toBase64(new TextEncoder().encode(text))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Reads a cursor back: it leads nowhere else than into the list of this owner. Throws `invalid_query` for one that is none. */
export function placeIn(cursor: string, owner: string): Position {
  const bytes = fromBase64(cursor.replaceAll('-', '+').replaceAll('_', '/'))
  const [at, place, sessionId] = partsOf(bytes && new TextDecoder().decode(bytes))
  const isPlace = Array.isArray(place) && place.every(part => typeof part === 'string')
  if (Number.isFinite(at) && isPlace && typeof sessionId === 'string')
    return { at: Number(at), id: idOf({ owner, place, sessionId }) }
  throw new ServableError('invalid_query', '`cursor` must be the `nextCursor` of the previous page')
}

function partsOf(text = ''): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
