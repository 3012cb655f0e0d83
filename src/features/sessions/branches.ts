/**
 * The branches of a session: lists them, chooses the one that counts, and deletes one.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import {
  GONE,
  idOf,
  type KeptSession,
  liveClaims,
  putSession,
  SESSIONS,
  type Session,
  type SessionEntry,
  thingOf,
  without,
} from '../../runs/sessions/session-record.ts'
import { forgetStatesOf } from '../../runs/sessions/session-states.ts'
import { busy } from '../../runs/sessions/session-steering.ts'
import {
  branchOf,
  checkHead,
  entriesIn,
  forgetMembersOf,
  plain,
  summaryAt,
} from '../../runs/sessions/session-tree.ts'
import { lastWordsOf } from '../../runs/sessions/session-turns.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import { newestOf, subtreeAt, visible } from './turns.ts'

/** A branch of a session. */
export interface SessionBranch {
  /** The run of its last turn. */
  readonly runId: string
  /** The run of the last turn that it shares with the branch that counts. Null if it shares none, and of the one that counts. */
  readonly branchFrom: string | null
  /** The number of its turns, with those that it shares. */
  readonly count: number
  /** The beginning of its last message. */
  readonly lastMessage: string | null
  /** When its last turn ended, or began if it is at work: ISO 8601. */
  readonly updatedAt: string
  /** Whether it is the branch that counts. */
  readonly isHead?: true
}

/** The branches of a session, that which was used last first. Undefined if there is no such session. */
export function branchesOf(tx: Reader, key: SessionKey): readonly SessionBranch[] | undefined {
  const session = visible(tx, key)
  if (session === undefined) return undefined
  const all = entriesIn(tx, key, session)
  const head = new Set(branchOf(session, all, session.head))
  const [counting] = head
  return lastsOf(session, all).flatMap(last => {
    const path = [...branchOf(session, all, last.seq)]
    const [turn, ...others] = path.flatMap(({ turn }) => turn ?? [])
    if (turn === undefined) return []
    const isHead = last === counting
    const shared = isHead ? undefined : path.find(entry => head.has(entry) && entry.turn !== undefined)
    return [
      {
        runId: turn.runId,
        branchFrom: shared?.turn?.runId ?? null,
        count: others.length + 1,
        lastMessage: lastWordsOf(turn) || null,
        updatedAt: new Date(turn.endedAt ?? turn.at).toISOString(),
        ...(isHead && { isHead }),
      },
    ]
  })
}

/** The last entries of the branches, newest first: those after which nothing comes, and that of the branch that counts. */
function lastsOf({ branches, head }: Session, newestFirst: readonly SessionEntry[]): SessionEntry[] {
  const before = new Set<number>()
  let previous: number | undefined
  for (const { seq } of newestFirst.toReversed()) {
    const after = branches?.[seq]?.after ?? previous
    if (after !== undefined) before.add(after)
    previous = seq
  }
  return newestFirst.filter(({ seq }) => seq === head || !before.has(seq))
}

/** Which branch counts from now on. */
export interface HeadChange {
  /** The run of a turn: the branch with the newest turn after it counts. */
  readonly head: string
  /** The run whose turn must be the last one of the branch that counted. */
  readonly ifHead?: string | undefined
}

/**
 * Makes a branch the one that counts. False if there is no such session. Throws `run_not_found`, `session_changed`, and
 * `session_busy` while a run is at work.
 */
export function moveHead(tx: Transaction, key: SessionKey, { head, ifHead }: HeadChange): boolean {
  const found = foundIn(tx, key)
  if (found === undefined) return false
  const { document, session } = found
  if (liveClaims(session, tx.now).length > 0) throw busy()
  const all = entriesIn(tx, key, session)
  checkHead([...branchOf(session, all, session.head)], ifHead)
  putSession(tx, { ...document, value: withHead(session, all, newestOf(session, all, head)) })
  return true
}

function foundIn(tx: Reader, key: SessionKey): { document: Document; session: Session } | undefined {
  const document = tx.get<KeptSession>(SESSIONS, idOf(key))
  const session = visible(tx, key)
  return document && session && { document, session }
}

/** The session whose branch with this last entry counts. A summary stays if it is of that branch. */
function withHead(session: Session, all: readonly SessionEntry[], last: SessionEntry | undefined): Session {
  const { about } = session
  const path = last === undefined ? [] : [...branchOf(session, all, last.seq)]
  const turn = path.find(entry => entry.turn !== undefined)?.turn
  return {
    ...session,
    head: last?.seq === all[0]?.seq ? undefined : last?.seq,
    summary: last && summaryAt(session, all, last.seq),
    ...(about && {
      about: { ...about, last: turn && lastWordsOf(turn) },
    }),
  }
}

/** The runs of a turn and of all after it, and those of them whose turns may have files. */
export interface BranchRuns {
  readonly runIds: readonly string[]
  readonly ofFiles: readonly string[]
}

/** Reads the runs of a branch. Undefined if there is no such session. Throws `run_not_found`, and `session_busy` if one is at work. */
export function runsOfBranch(tx: Reader, key: SessionKey, runId: string): BranchRuns | undefined {
  const found = foundIn(tx, key)
  const turns = found && leavingIn(tx, key, found.session, runId).flatMap(({ turn }) => turn ?? [])
  return (
    turns && {
      runIds: turns.map(turn => turn.runId),
      ofFiles: turns.flatMap(turn => (typeof turn.input === 'string' ? [] : [turn.runId])),
    }
  )
}

function leavingIn(tx: Reader, key: SessionKey, session: Session, runId: string): SessionEntry[] {
  const all = entriesIn(tx, key, session)
  const leaving = subtreeAt(session, all, runId)
  const here = new Set(liveClaims(session, tx.now).map(claim => claim.runId))
  if (leaving.some(({ turn }) => turn && here.has(turn.runId))) throw busy()
  return leaving
}

/** Deletes the turn of a run and all after it. The branch before it counts then, if this one did. Throws as {@link runsOfBranch}. */
export function deleteBranch(tx: Transaction, key: SessionKey, runId: string): void {
  const found = foundIn(tx, key)
  if (found === undefined) return
  const { document, session } = found
  const leaving = leavingIn(tx, key, session, runId)
  const isLeaving = new Set(leaving.map(({ seq }) => seq))
  const all = entriesIn(tx, key, session)
  const [head] = branchOf(session, all, session.head)
  const [, before] = branchOf(session, all, leaving.at(-1)?.seq)
  const partition = idOf(key)
  const open = session.open.filter(({ seq }) => !isLeaving.has(seq))
  let after: Session = { ...session, open }
  for (const entry of leaving) {
    if (!session.open.some(({ seq }) => seq === entry.seq)) after = without(tx, key, after, entry)
    // A turn without an end time may be of a run that is only thought dead.
    const { turn } = entry
    if (turn === undefined || turn.endedAt !== undefined) continue
    const gone = { id: turn.runId, partition, at: tx.now, tags: {}, value: null }
    tx.put(GONE, gone, { thing: thingOf(partition) })
  }
  forgetMembersOf(tx, key, leaving)
  forgetStatesOf(
    tx,
    key,
    leaving.flatMap(({ turn }) => turn?.runId ?? []),
  )
  const left = all.filter(({ seq }) => !isLeaving.has(seq))
  // Another first message counts if the first one is deleted.
  const last = head !== undefined && isLeaving.has(head.seq) ? (before ?? left[0]) : head
  putSession(tx, { ...document, value: withHead(plain(after, left), left, last) })
}
