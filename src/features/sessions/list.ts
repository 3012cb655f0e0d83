/**
 * Lists an owner's sessions. If each session has its own object, the list has copies.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import {
  idOf,
  type KeptSession,
  liveClaims,
  SESSIONS,
  type Session,
  type SessionEntry,
  type SessionListing,
  sessionIn,
  TURNS,
} from '../../runs/sessions/session-record.ts'
import { aboutWith } from '../../runs/sessions/session-turns.ts'
import type { SessionPage, SessionQuery, SessionSummary } from '../../runs/sessions/summary.ts'
import { MAX_LOOKS } from '../../runs/stored/page.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Document, Position, Reader } from '../../stores/store.ts'
import { fromBase64, toBase64 } from '../../web/base64.ts'

/** A page of an owner's sessions. Throws `invalid_query` for an invalid cursor. */
export function listSessions(tx: Reader, owner: string, query: SessionQuery): SessionPage {
  const { kind, name, search, cursor, limit } = query
  const tags = { ...(kind !== undefined && { kind }), ...(name !== undefined && { name }) }
  const { documents, next } = tx.search<KeptSession>(SESSIONS, {
    partition: partitionOf(owner),
    tags,
    text: search,
    after: cursor === undefined ? undefined : positionIn(cursor, owner),
    limit,
    looks: MAX_LOOKS,
  })
  const sessions = documents.flatMap(document => summaryOf(tx, document) ?? [])
  return { sessions, nextCursor: next === undefined ? null : cursorOf(next) }
}

/** The summary of a session. Undefined if it has expired or is not listed. */
export function summaryOf(tx: Reader, document: Document<KeptSession>): SessionSummary | undefined {
  const { place: path, sessionId: id } = keyIn(document.id)
  const session = sessionIn(document, tx.now)
  const about = session && aboutOf(tx, document.id, session)
  const [, kind, name = ''] = /^(agent|team|workflow):(.*)$/s.exec(path[0] ?? '') ?? []
  // Only sessions of top-level targets can be requested.
  if (session === undefined || about === undefined || kind === undefined || path.length > 1) return undefined
  return {
    ...{ id, kind: kind as Kind, name },
    title: about.title || null,
    lastMessage: about.last || null,
    count: about.turns,
    createdAt: new Date(about.createdAt).toISOString(),
    updatedAt: new Date(document.at).toISOString(),
    ...(liveClaims(session, tx.now).length > 0 && { isRunning: true as const }),
  }
}

/**
 * The data of a session for lists. For a session of an older version it is computed from the turns. Undefined if there is none.
 */
export function aboutOf(tx: Reader, id: string, session: Session): SessionListing | undefined {
  if (session.about !== undefined) return session.about
  const [newest] = tx.list<SessionEntry>(TURNS, { partition: id, limit: 1 })
  const turn = session.open.at(-1)?.turn ?? newest?.value.turn
  return turn && aboutWith(tx, keyIn(id), session, turn)
}

/** The copy of a session for a list, without its turns. */
export function copyOf(tx: Reader, key: SessionKey): Document<Session> | undefined {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  const session = document && sessionIn(document, tx.now)
  const about = session && aboutOf(tx, document.id, session)
  if (document === undefined || session === undefined || about === undefined) return undefined
  const { next, count, length } = session
  return { ...document, value: { next, count, length, line: [], open: [], about } }
}

/** The session key in a document id. */
export function keyIn(id: string): SessionKey {
  // `idOf` has made it.
  const [owner, path, sessionId] = JSON.parse(id) as [string | null, readonly string[], string]
  return { owner, place: path, sessionId }
}

/** The cursor of a position in an owner's list: opaque and safe in a URL. */
export function cursorOf({ at, id }: Position): string {
  const { place: path, sessionId } = keyIn(id)
  const text = JSON.stringify([at, path, sessionId])
  return toBase64(new TextEncoder().encode(text))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Parses a cursor into a position in this owner's list. Throws `invalid_query` for an invalid cursor. */
export function positionIn(cursor: string, owner: string): Position {
  const bytes = fromBase64(cursor.replaceAll('-', '+').replaceAll('_', '/'))
  const [at, path, sessionId] = partsOf(bytes && new TextDecoder().decode(bytes))
  const isPath = Array.isArray(path) && path.every(part => typeof part === 'string')
  if (Number.isFinite(at) && isPath && typeof sessionId === 'string')
    return { at: Number(at), id: idOf({ owner, place: path, sessionId }) }
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
