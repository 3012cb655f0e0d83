/**
 * Messages for runs at work: a run in line may offer its message to the run that has the session. The message moves from the line
 * into the turn of that run in one transaction, so each is got once. If nobody takes it, its run has the next turn.
 *
 * @module
 */

import type { AtWork, SessionKey } from '../../agents/memory.ts'
import type { RunInput } from '../../agents/run-types.ts'
import type { SteeredMessage, Turn } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import {
  type JoinedRun,
  LEASE_MS,
  lengthOf,
  liveClaims,
  type Session,
  type SessionClaim,
  type SessionEntry,
  type SessionSettings,
  save,
  sessionAt,
} from './session-record.ts'
import { MAX_TEXT } from './turn-messages.ts'

/** The most runs that may wait for a session. */
export const MAX_WAITING = 8

/** The most characters of a message for a run at work. A longer one waits for a turn of its own. */
const MAX_STEER = 32_768

/** The most messages that one run gets. Later ones start the next turn. */
const MAX_STEERS = 100

/** The most runs that are remembered until they know that another one got their message. */
const MAX_JOINED = 100

/** Whether an input waits for a turn of its own. */
export function isTooLong(input: RunInput): boolean {
  return lengthOf(input) > MAX_STEER
}

/** The message that a run in line offers; undefined if it is too long. */
export function steerOf(
  { input, messageId, runId }: Turn,
  userId: string | undefined,
): SessionClaim['steer'] {
  if (isTooLong(input)) return undefined
  return { input, messageId: messageId ?? runId, ...(userId !== undefined && { userId }) }
}

export function busy(): ServableError {
  return new ServableError(
    'session_busy',
    'Another run of the session is at work: try again when it has ended',
  )
}

/** The run at work. Throws `session_busy` if no more runs may wait for it. */
export function runAtWork(tx: Reader, key: SessionKey): AtWork | undefined {
  const [first, ...rest] = liveClaims(sessionAt(tx, key), tx.now)
  if (rest.length >= MAX_WAITING) throw busy()
  return first && { runId: first.runId, waiting: rest.length }
}

/** The ids of the messages that a run has got, and of those that wait for it. */
export function steersFor(tx: Reader, key: SessionKey, runId: string): readonly string[] {
  const session = sessionAt(tx, key)
  return [...steeredOf(session, runId), ...waitingFor(session, tx.now, runId)].map(each => each.runId)
}

/** Gives a run the messages that wait for it. Returns all that it has got. */
export function takeSteers(
  tx: Transaction,
  key: SessionKey,
  runId: string,
  told: readonly string[],
  settings: SessionSettings,
): readonly SteeredMessage[] {
  const session = sessionAt(tx, key)
  const steered = [...steeredOf(session, runId)]
  const taken = new Set<string>()
  let length = lengthOf(steered)
  for (const { runId: id, steer } of waitingFor(session, tx.now, runId)) {
    length += lengthOf(steer)
    if (steered.length >= MAX_STEERS || length > MAX_TEXT) break
    taken.add(id)
    steered.push({ ...steer, runId: id, at: tx.now })
  }
  const joined: JoinedRun[] = [
    ...(session.joined ?? []).map(each =>
      told.includes(each.runId) ? { ...each, isTold: true as const } : each,
    ),
    ...Array.from(taken, id => ({ runId: id, into: runId })),
  ]
  const after = {
    ...session,
    line: session.line.filter(claim => !taken.has(claim.runId)),
    joined: joined.slice(-MAX_JOINED),
    open: withSteered(session, runId, steered),
  }
  save(tx, key, after, settings)
  return steered
}

/** What a run in line learns once another one has its message. Undefined if none has it. */
export function joinedBy(
  tx: Reader,
  session: Session,
  runId: string,
): { readonly into?: string } | undefined {
  const found = session.joined?.find(each => each.runId === runId)
  if (found === undefined) return undefined
  const { into, isTold } = found
  // That run may end before its readers know. Then the message goes back into the line.
  const isAlive = liveClaims(session, tx.now).some(claim => claim.runId === into)
  return isTold || !isAlive ? { into } : {}
}

/** The session once a run leaves it: messages of which its readers do not know go back to the beginning of the line. */
export function withRest(tx: Reader, session: Session, runId: string, told: readonly string[]): Session {
  const isBack = (id: string) => !told.includes(id)
  const mine = (session.joined ?? []).filter(each => each.into === runId && !each.isTold)
  const back = new Set(mine.flatMap(each => (isBack(each.runId) ? each.runId : [])))
  const steered = steeredOf(session, runId)
  const claims = steered.flatMap(({ runId: id, at: _, ...steer }): SessionClaim[] =>
    back.has(id) ? [{ runId: id, until: tx.now + LEASE_MS, steer }] : [],
  )
  const joined = (session.joined ?? []).flatMap((each): JoinedRun[] => {
    if (each.runId === runId || back.has(each.runId)) return []
    return [each.into === runId ? { ...each, isTold: true } : each]
  })
  const { joined: _, ...rest } = session
  return {
    ...rest,
    line: [...claims, ...session.line],
    open: withSteered(
      session,
      runId,
      steered.filter(each => !back.has(each.runId)),
    ),
    ...(joined.length > 0 && { joined }),
  }
}

/** The messages that a run has got. */
function steeredOf({ open }: Session, runId: string): readonly SteeredMessage[] {
  return open.find(({ turn }) => turn?.runId === runId)?.turn?.steered ?? []
}

/** The messages that a run may get: only while it has the session. */
function waitingFor(session: Session, now: number, runId: string) {
  const [first, ...rest] = liveClaims(session, now, runId)
  if (first?.runId !== runId || !session.open.some(({ turn }) => turn?.runId === runId)) return []
  return rest.flatMap(({ runId: id, steer }) => (steer === undefined ? [] : [{ runId: id, steer }]))
}

function withSteered(session: Session, runId: string, steered: readonly SteeredMessage[]): SessionEntry[] {
  return session.open.map(entry => {
    if (entry.turn?.runId !== runId) return entry
    const { steered: _, ...turn } = entry.turn
    return { ...entry, turn: steered.length > 0 ? { ...turn, steered } : turn }
  })
}
