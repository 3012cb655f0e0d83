/**
 * Reads a page of a branch, and no turn that is not on it. The document of a session says where its branches begin, so a branch is a row of
 * pieces: from the start of one to the entry after which the next piece came.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import { idOf, type Session, type SessionEntry, TURNS } from '../../runs/sessions/session-record.ts'
import { isOf } from '../../runs/sessions/session-tree.ts'
import type { Reader } from '../../stores/store.ts'

/** Entries of one read while a turn is looked for. */
const PAGE = 100

/** A session to read, with its entries that have not ended. */
export interface Shown {
  readonly key: SessionKey
  readonly session: Session
  readonly open: readonly SessionEntry[]
}

/** Where a page begins: before an entry, at the newest entry after the turn of a run, or at the end of the branch that counts. */
export interface PageStart {
  readonly before?: number | undefined
  readonly branch?: string | undefined
}

/** The newest entries of a branch, newest first. Throws `run_not_found`. */
export function entriesOfBranch(
  tx: Reader,
  shown: Shown,
  start: PageStart,
  limit: number,
): readonly SessionEntry[] {
  const { branches, next } = shown.session
  const starts = startsOf(shown.session)
  const known = lastOf(tx, shown, start)
  const entries: SessionEntry[] = []
  let isKnown = known !== undefined
  let last = known ?? (start.before ?? next) - 1
  while (last >= 0 && entries.length < limit) {
    const first = starts.findLast(seq => seq <= last) ?? 0
    const found = pieceOf(tx, shown, first, last, limit - entries.length)
    // The entry that comes next was deleted.
    if (isKnown && found[0]?.seq !== last) break
    entries.push(...found)
    isKnown = found.length > 0
    last = isKnown ? (branches?.[first]?.after ?? -1) : first - 1
  }
  return entries
}

/** The number of the newest entry of a page. Undefined: it is the newest that there is, before `before`. */
function lastOf(tx: Reader, shown: Shown, { before, branch }: PageStart): number | undefined {
  const { branches, head } = shown.session
  if (before !== undefined) return branches?.[before]?.after
  return branch === undefined ? head : newestAfter(tx, shown, branch)
}

/** The numbers at which branches begin, in their order. */
function startsOf({ branches = {} }: Session): number[] {
  return Object.keys(branches)
    .map(Number)
    .sort((a, b) => a - b)
}

/** The newest entry of a turn and all that comes after it. */
function newestAfter(tx: Reader, shown: Shown, runId: string): number {
  const { branches = {}, next } = shown.session
  const starts = startsOf(shown.session)
  const seq = numberOf(tx, shown, runId) ?? noTurn()
  const endOf = (start: number) => (starts.find(other => other > start) ?? next) - 1
  const pieces = [{ from: seq, to: endOf(seq) }]
  for (const start of starts) {
    const after = branches[start]?.after ?? -1
    if (pieces.some(({ from, to }) => from <= after && after <= to))
      pieces.push({ from: start, to: endOf(start) })
  }
  for (const { from, to } of pieces.reverse()) {
    const [newest] = pieceOf(tx, shown, from, to, 1)
    if (newest !== undefined) return newest.seq
  }
  return noTurn()
}

export function noTurn(): never {
  throw new ServableError('run_not_found', 'The session has no turn of this run')
}

/** The number of the turn of a run. That of a turn with which a branch begins is known without a search. */
function numberOf(tx: Reader, { key, session, open }: Shown, runId: string): number | undefined {
  const isIt = isOf(runId)
  const starts = Object.entries(session.branches ?? {})
  const [start] = starts.find(([, { runId: id }]) => id === runId) ?? []
  const known = start === undefined ? open.find(isIt)?.seq : Number(start)
  if (known !== undefined) return known
  let before = session.next
  for (;;) {
    const page = endedBefore(tx, key, before, PAGE)
    const found = page.find(isIt)
    const last = page.at(-1)
    if (found !== undefined || last === undefined) return found?.seq
    before = last.seq
  }
}

/** The newest entries with numbers in a range, newest first. */
function pieceOf(tx: Reader, { key, open }: Shown, from: number, to: number, limit: number): SessionEntry[] {
  const ended = endedBefore(tx, key, to + 1, Math.min(limit, to - from + 1))
  const all = [...open.filter(({ seq }) => seq <= to), ...ended]
  return all
    .filter(({ seq }) => seq >= from)
    .sort((a, b) => b.seq - a.seq)
    .slice(0, limit)
}

/** Ended entries, newest first. */
function endedBefore(tx: Reader, key: SessionKey, before: number, limit: number): SessionEntry[] {
  const after = { at: before, id: '' }
  return tx.list<SessionEntry>(TURNS, { partition: idOf(key), limit, after }).map(({ value }) => value)
}
