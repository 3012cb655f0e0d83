/**
 * The branches of a session. Its entries are a tree: each comes after the one before it, unless `branches` of the session says after
 * which one. The head is the last entry of the branch that counts.
 *
 * @module
 */

import type { BegunTurn, SessionKey } from '../../agents/memory.ts'
import type { TreeTurn, Turn, TurnTree } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import {
  endedOf,
  idOf,
  lengthOf,
  MEMBERS,
  type Session,
  type SessionEntry,
  type SessionSettings,
  sessionAt,
  TURNS,
  thingOf,
  without,
} from './session-record.ts'

/** Stands for the entry before the first one. */
const NONE = -1

/** The most places at which branches begin. Past it the oldest branches are deleted. */
const MAX_BRANCHES = 200

export function changed(why = 'The session has no such message'): ServableError {
  return new ServableError('session_changed', why)
}

/** All entries of a session, newest first. */
export function entriesIn(tx: Reader, key: SessionKey, session: Session): SessionEntry[] {
  return [...session.open, ...endedOf(tx, key, session)].sort((a, b) => b.seq - a.seq)
}

/** The entries of a branch, newest first. `last` is the number of its last one. Undefined: the newest of all. */
export function* branchOf<Entry extends Pick<SessionEntry, 'seq'>>(
  { branches }: Pick<Session, 'branches'>,
  newestFirst: Iterable<Entry>,
  last: number | undefined,
): Generator<Entry> {
  let next = last
  for (const entry of newestFirst) {
    if (next === NONE) return
    if (next !== undefined && entry.seq > next) continue
    // The entry that comes next was deleted.
    if (next !== undefined && entry.seq < next) return
    yield entry
    next = branches?.[entry.seq]?.after
  }
}

/** The ended entries before that of a run at work, newest first: of its own branch. Of the one that counts for any other run. */
export function* entriesBefore(
  session: Session,
  ended: Iterable<SessionEntry>,
  runId: string | undefined,
): Generator<SessionEntry> {
  const open = session.open.filter(({ turn }) => turn !== undefined)
  const own = open.find(({ turn }) => turn?.runId === runId)
  const newestFirst = merged(
    open.toSorted((a, b) => b.seq - a.seq),
    ended,
  )
  for (const entry of branchOf(session, newestFirst, own?.seq ?? session.head)) {
    if (!open.includes(entry)) yield entry
  }
}

function* merged(open: readonly SessionEntry[], ended: Iterable<SessionEntry>): Generator<SessionEntry> {
  const waiting = [...open]
  for (const entry of ended) {
    while (waiting[0] !== undefined && waiting[0].seq > entry.seq) yield waiting.shift() as SessionEntry
    yield entry
  }
  yield* waiting
}

/** The transcript of the branch of a run, or of the one that counts, oldest first. */
export function transcriptOf(session: Session, newestFirst: readonly SessionEntry[], runId?: string): Turn[] {
  const own = newestFirst.find(({ turn }) => turn !== undefined && turn.runId === runId)
  return [...branchOf(session, newestFirst, own?.seq ?? session.head)]
    .reverse()
    .flatMap(({ turn }) => turn ?? [])
}

/** The turns with those before them, and the last one of the branch that counts. */
export function turnTree(session: Session, newestFirst: readonly SessionEntry[]): TurnTree {
  const turns: TreeTurn[] = []
  /** The turn at or before an entry, by its number. */
  const lasts = new Map<number, string | undefined>([[NONE, undefined]])
  let previous = NONE
  for (const { seq, turn } of newestFirst.toReversed()) {
    const after = lasts.get(session.branches?.[seq]?.after ?? previous)
    if (turn !== undefined) turns.push({ ...turn, ...(after !== undefined && { after }) })
    lasts.set(seq, turn?.runId ?? after)
    previous = seq
  }
  return { turns, head: lasts.get(session.head ?? previous) }
}

/** An entry that begins. */
type Beginning = Pick<BegunTurn, 'replaces' | 'branchFrom' | 'ifHead' | 'continuedFrom'> & {
  readonly runId: string
}

/** Gives the next entry its place. Throws `session_changed` if what it names is not there, or is not the head. */
export function placed(tx: Reader, key: SessionKey, session: Session, entry: Beginning): Session {
  const { replaces, branchFrom, ifHead, continuedFrom, runId } = entry
  const isOrdinary = [replaces, branchFrom, ifHead, session.head].every(each => each === undefined)
  if (isOrdinary && (continuedFrom === undefined || session.branches === undefined)) return session
  const all = entriesIn(tx, key, session)
  const path = [...branchOf(session, all, session.head)]
  const [head] = path
  checkHead(path, ifHead)
  const place = (before: Pick<SessionEntry, 'seq'> | undefined) =>
    attached(session, all, before?.seq ?? NONE, runId)
  if (replaces !== undefined) return place(beforeMessage(session, all, path, replaces))
  if (branchFrom !== undefined)
    return place(all.find(isOf(branchFrom)) ?? missing('The session has no turn of the run in `branchFrom`'))
  const waited = continuedFrom === undefined ? undefined : all.find(isOf(continuedFrom))
  if (waited === undefined || path.includes(waited)) return place(head)
  // A run that goes on with answers stays where it waited. The branch that counts goes on without it.
  return { ...place(waited), head: head?.seq }
}

/** Throws `session_changed` if the last turn of a branch is not of this run. */
export function checkHead(newestFirst: readonly SessionEntry[], ifHead: string | undefined): void {
  if (ifHead !== undefined && newestFirst.find(({ turn }) => turn)?.turn?.runId !== ifHead)
    throw changed('The last turn of the session is of another run')
}

export const isOf =
  (runId: string) =>
  ({ turn }: SessionEntry): boolean =>
    turn?.runId === runId

function missing(why?: string): never {
  throw changed(why)
}

/** The entry before the first turn of a message, which may be deleted. Undefined if it is the first of all. */
function beforeMessage(
  session: Session,
  all: readonly SessionEntry[],
  path: readonly SessionEntry[],
  messageId: string,
): Pick<SessionEntry, 'seq'> | undefined {
  const has = ({ turn }: SessionEntry) => turn !== undefined && hasMessage(turn, messageId)
  const first = path.findLast(has) ?? all.findLast(has) ?? missing()
  const [, before] = branchOf(session, all, first.seq)
  const { upTo = NONE } = session.summary ?? {}
  return before ?? (upTo < first.seq ? { seq: upTo } : undefined)
}

/** Whether a message began a turn, or reached its run. */
function hasMessage({ messageId, runId, steered = [] }: Turn, id: string): boolean {
  return (messageId ?? runId) === id || steered.some(each => each.messageId === id)
}

/** The session whose next entry comes after this one. A summary stays if it is of that branch. */
function attached(session: Session, all: readonly SessionEntry[], after: number, runId: string): Session {
  const { head: _, ...rest } = session
  const summary = summaryAt(session, all, after)
  const newest = all[0]?.seq ?? NONE
  if (after === newest) return { ...rest, summary }
  // The one that came after it until now, unless it is written down already.
  const sibling = all.findLast(({ seq }) => seq > after)
  const isKnown = sibling === undefined || session.branches?.[sibling.seq] !== undefined
  const branches = {
    ...session.branches,
    ...(!isKnown && { [sibling.seq]: { after, runId: sibling.turn?.runId ?? '' } }),
    [session.next]: { after, runId },
  }
  return { ...rest, summary, branches }
}

/** The summary, if it is of the branch up to this entry: of turns that are there, or of older ones that were deleted. */
export function summaryAt(
  { summary, branches }: Session,
  newestFirst: readonly SessionEntry[],
  last: number,
): Session['summary'] {
  const path = [...branchOf({ branches }, newestFirst, last)]
  const oldest = path.at(-1)
  const before = oldest === undefined ? last : branches?.[oldest.seq]?.after
  const isThere = path.some(({ seq }) => seq === summary?.upTo)
  const isOlder = before !== NONE && summary !== undefined && summary.upTo < (oldest?.seq ?? last + 1)
  return isThere || isOlder ? summary : undefined
}

/** The entries of a turn and of all that comes after it, newest first. */
export function subtreeOf(
  { branches }: Session,
  newestFirst: readonly SessionEntry[],
  seq: number,
): SessionEntry[] {
  const within = new Set([seq])
  const found: SessionEntry[] = []
  let previous = NONE
  for (const entry of newestFirst.toReversed()) {
    if (within.has(branches?.[entry.seq]?.after ?? previous)) within.add(entry.seq)
    if (within.has(entry.seq)) found.unshift(entry)
    previous = entry.seq
  }
  return found
}

/** Stores an ended entry; deletes what is past the limits. */
export function close(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  entry: SessionEntry,
  settings: SessionSettings,
): Session {
  const partition = idOf(key)
  const id = `${partition}/${entry.seq}`
  const before = tx.get<SessionEntry>(TURNS, id)
  const left = before === undefined ? session : without(tx, key, session, before.value, true)
  const after = { ...left, count: left.count + 1, length: left.length + lengthOf(entry) }
  tx.put(TURNS, { id, partition, at: entry.seq, tags: {}, value: entry }, { thing: thingOf(partition) })
  return trimmed(tx, key, after, settings)
}

/** Deletes what is past the limits: whole branches beside the one that counts, the oldest first, and then its oldest entries. */
function trimmed(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  { maxTurns, maxLength }: SessionSettings,
): Session {
  let after = session
  for (;;) {
    const isFull = after.count > maxTurns || after.length > maxLength
    const isBranchy = Object.keys(after.branches ?? {}).length > MAX_BRANCHES
    const branch = isFull || isBranchy ? branchBeside(tx, key, after) : []
    const leaving = branch.length === 0 && isFull ? oldestOf(tx, key) : branch
    if (leaving.length === 0) return after
    for (const entry of leaving) after = without(tx, key, after, entry)
    if (leaving === branch) after = pruned(tx, key, after, branch)
  }
}

/** The session after the entries of a branch were deleted. */
function pruned(
  tx: Transaction,
  key: SessionKey,
  session: Session,
  branch: readonly SessionEntry[],
): Session {
  forgetMembersOf(tx, key, branch)
  return plain(session, entriesIn(tx, key, session))
}

/** Deletes what members learned in these entries. */
export function forgetMembersOf(tx: Transaction, key: SessionKey, entries: readonly SessionEntry[]): void {
  const leaving = new Set(entries.map(({ seq }) => seq))
  const partition = idOf(key)
  for (const document of tx.list<readonly SessionEntry[]>(MEMBERS, { partition, limit: 1000 })) {
    const value = document.value.filter(({ seq }) => !leaving.has(seq))
    if (value.length < document.value.length)
      tx.put(MEMBERS, { ...document, value }, { thing: thingOf(partition) })
  }
}

/** The session without starts of entries that are deleted, or that are alone after the entry before them by now. */
export function plain(session: Session, newestFirst: readonly SessionEntry[]): Session {
  const starts = newestFirst.flatMap(({ seq }, index) => {
    const start = session.branches?.[seq]
    return start === undefined ? [] : [{ seq, start, previous: newestFirst[index + 1]?.seq }]
  })
  const siblings = new Map<number, number>()
  for (const { start } of starts) siblings.set(start.after, (siblings.get(start.after) ?? 0) + 1)
  const left = starts.filter(
    ({ start, previous }) => start.after !== previous || siblings.get(previous) !== 1,
  )
  const branches = Object.fromEntries(left.map(({ seq, start }) => [seq, start]))
  return { ...session, branches: left.length > 0 ? branches : undefined }
}

function oldestOf(tx: Reader, key: SessionKey): SessionEntry[] {
  return tx.oldest<SessionEntry>(TURNS, 1, idOf(key)).map(({ value }) => value)
}

/** The oldest branch beside the one that counts, and beside those of runs at work. */
function branchBeside(tx: Reader, key: SessionKey, session: Session): SessionEntry[] {
  if (session.branches === undefined) return []
  const all = entriesIn(tx, key, session)
  const lasts = [session.head, ...session.open.map(({ seq }) => seq)]
  const kept = new Set(lasts.flatMap(last => [...branchOf(session, all, last)]))
  const first = all.findLast(entry => !kept.has(entry))
  return first === undefined ? [] : subtreeOf(session, all, first.seq)
}

/** The sequence numbers of the entries of a run's branch, with its own. Undefined if the session has one branch. */
export function branchNumbers(
  tx: Reader,
  key: SessionKey,
  runId: string | undefined,
): ReadonlySet<number> | undefined {
  const session = sessionAt(tx, key)
  if (session.branches === undefined) return undefined
  const all = entriesIn(tx, key, session)
  const own = runId === undefined ? undefined : all.find(isOf(runId))
  return new Set([...branchOf(session, all, own?.seq ?? session.head)].map(({ seq }) => seq))
}
