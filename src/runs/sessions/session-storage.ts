/**
 * Stores the sessions of a service in its state, and lets the runs of this process notify each other. A state brings it, so that
 * a service without a state does not include it.
 *
 * @module
 */

import type {
  Entered,
  LocalSessionRun,
  SessionKey,
  SessionReader,
  SessionStorage,
} from '../../agents/memory.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { RunTurn } from './run-turn.ts'
import { appendSession, readSession, type SessionWindow, summarizeSession } from './session-memory.ts'
import type { SessionParts } from './session-options.ts'
import {
  forgetSession,
  idOf,
  LEAVE_AT_ONCE,
  SESSIONS,
  type SessionSettings,
  STATE_HEADS,
} from './session-record.ts'
import { forgetStates, readStates, releaseStates, writeState } from './session-states.ts'
import { isTooLong, runAtWork, steersFor, takeSteers } from './session-steering.ts'
import { enterSession, keepSession, leaveSession, treeOf, turnsOf, turnUntil } from './session-turns.ts'

/** The transactions of sessions. */
export interface SessionTransactions {
  readonly reads: {
    readonly window: (tx: Reader, key: SessionKey, reader: SessionReader, settings: SessionSettings) => string
    readonly turns: (tx: Reader, key: SessionKey, runId?: string) => string
    readonly tree: (tx: Reader, key: SessionKey) => string
    readonly until: typeof turnUntil
    readonly atWork: typeof runAtWork
    readonly steers: typeof steersFor
    readonly states: typeof readStates
  }
  readonly writes: {
    readonly state: typeof writeState
    readonly releaseStates: typeof releaseStates
    readonly forgetStates: typeof forgetStates
    readonly enter: (tx: Transaction, key: SessionKey, turn: string, settings: SessionSettings) => Entered
    readonly beat: typeof keepSession
    readonly take: (...args: Parameters<typeof takeSteers>) => string
    readonly leave: (
      tx: Transaction,
      key: SessionKey,
      end: string,
      note: string | undefined,
      settings: SessionSettings,
    ) => void
    readonly append: (tx: Transaction, key: SessionKey, note: string, settings: SessionSettings) => void
    readonly summarize: typeof summarizeSession
  }
  readonly expiring: readonly string[]
  readonly forget: (tx: Transaction, collection: string, id: string) => void
  readonly atOnce: number
}

type CallsOf<Works> = {
  readonly [Name in keyof Works]: Works[Name] extends (tx: never, ...args: infer Args) => infer Result
    ? (address: SessionAddress, ...args: Args) => Promise<Result>
    : never
}

/** Calls of the transactions, each at the address of a session. */
export type SessionCalls = CallsOf<SessionTransactions['reads']> & CallsOf<SessionTransactions['writes']>

/** How a state stores sessions. */
export interface Sessions {
  /** The name of their object service. No plugin can have it. */
  readonly name: string
  readonly transactions: SessionTransactions
  createStorage(calls: SessionCalls, parts: SessionParts): SessionStorage
}

interface SessionAddress {
  readonly name: string
  readonly key: string
}

/** The transactions of sessions. Values of other programs cross as JSON, since they may not be cloneable. */
const SESSION_TRANSACTIONS: SessionTransactions = {
  reads: {
    window: (tx, key, reader, settings) => JSON.stringify(readSession(tx, key, reader, settings)),
    turns: (tx, key, runId) => JSON.stringify(turnsOf(tx, key, runId)),
    tree: (tx, key) => JSON.stringify(treeOf(tx, key)),
    until: turnUntil,
    atWork: runAtWork,
    steers: steersFor,
    states: readStates,
  },
  writes: {
    state: writeState,
    releaseStates,
    forgetStates,
    enter: (tx, key, turn, settings) => enterSession(tx, key, JSON.parse(turn), settings),
    beat: keepSession,
    take: (...args) => JSON.stringify(takeSteers(...args)),
    leave: (tx, key, end, note, settings) =>
      leaveSession(tx, key, JSON.parse(end), note === undefined ? note : JSON.parse(note), settings),
    append: (tx, key, note, settings) => appendSession(tx, key, JSON.parse(note), settings),
    summarize: summarizeSession,
  },
  expiring: [SESSIONS, STATE_HEADS],
  forget: (tx, _, id) => forgetSession(tx, id),
  // Each may have many turns.
  atOnce: LEAVE_AT_ONCE,
}

/** Milliseconds between two beats of a run that has its session. Shorter if later runs may stop it, so that it stops soon. */
const BEAT_MS = 5000
const STOPPABLE_BEAT_MS = 1000

/** The most characters of a summary. */
const MAX_SUMMARY = 16_384

const STEERING = { queue: 'asked', steer: 'always', reject: 'never', interrupt: 'never' } as const

/** Makes the storage. With Durable Objects each session has its own object, so the sessions of an owner are not counted. */
function createStorage(calls: SessionCalls, parts: SessionParts): SessionStorage {
  const { settings, settingsFor, hold, onError, files } = parts
  const here = new Map<string, Set<LocalSessionRun>>()
  const held = <T>(work: Promise<T>): Promise<T> => {
    hold?.(work.catch(() => {}))
    return work
  }
  const announce = (key: SessionKey) => {
    if (sessions.changed !== undefined) void held(sessions.changed(key).catch(onError))
  }
  const sessions: SessionStorage = {
    turnOf: (key, target, run) => new RunTurn(sessions, key, target, run, files),
    beatMs: settings.concurrency === 'interrupt' ? STOPPABLE_BEAT_MS : BEAT_MS,
    failed: onError,
    async read(key, reader = {}, signal = new AbortController().signal) {
      const window: SessionWindow = JSON.parse(
        await calls.window(sessionAddressOf(key), key, reader, settings),
      )
      const summary = (await summed(calls, parts, key, window, signal)) ?? window.summary
      return summary === undefined ? window.messages : [summaryMessage(summary), ...window.messages]
    },
    turns: async (key, runId) => JSON.parse(await calls.turns(sessionAddressOf(key), key, runId)),
    tree: async key => JSON.parse(await calls.tree(sessionAddressOf(key), key)),
    turnUntil: (key, runId) => calls.until(sessionAddressOf(key), key, runId),
    append: async (key, note) =>
      calls.append(sessionAddressOf(key), key, JSON.stringify(note), settingsFor(key)),
    async enter(key, turn) {
      const entered = await held(
        calls.enter(sessionAddressOf(key), key, JSON.stringify(turn), settingsFor(key)),
      )
      if (entered.isFirst) announce(key)
      return entered
    },
    atWork: async (key, input) => (isTooLong(input) ? undefined : calls.atWork(sessionAddressOf(key), key)),
    steers: (key, runId) => calls.steers(sessionAddressOf(key), key, runId),
    take: async (key, runId, told) =>
      JSON.parse(await held(calls.take(sessionAddressOf(key), key, runId, told, settingsFor(key)))),
    steering: STEERING[settings.concurrency],
    readStates: (key, query, side) => calls.states(sessionAddressOf(key), key, query, side),
    writeState: (key, update, side) =>
      held(calls.state(sessionAddressOf(key), key, update, side, settingsFor(key))),
    forgetStates: key => held(calls.forgetStates(sessionAddressOf(key), key)),
    releaseStates: key => held(calls.releaseStates(sessionAddressOf(key), key)),
    beat: (key, runId) => calls.beat(sessionAddressOf(key), key, runId, settingsFor(key)),
    async leave(key, end, note) {
      await held(
        calls.leave(
          sessionAddressOf(key),
          key,
          JSON.stringify(end),
          note && JSON.stringify(note),
          settingsFor(key),
        ),
      )
      announce(key)
    },
    join(key, run) {
      const id = idOf(key)
      const others = here.get(id) ?? new Set()
      here.set(id, others.add(run))
      return {
        others,
        release() {
          others.delete(run)
          for (const other of others) other.look()
          if (others.size === 0 && here.get(id) === others) here.delete(id)
        },
      }
    },
  }
  return sessions
}

/** Sums up the turns that no longer fit; undefined if there are no new ones. */
async function summed(
  calls: SessionCalls,
  { compact, settingsFor, onError }: SessionParts,
  key: SessionKey,
  { leaving, summary, upTo }: SessionWindow,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (compact === undefined || leaving.length === 0) return undefined
  const { sessionId, owner } = key
  try {
    const text = String(await compact(leaving, { sessionId, owner, signal, summary })).slice(0, MAX_SUMMARY)
    await calls.summarize(sessionAddressOf(key), key, { text, upTo }, settingsFor(key))
    return text
  } catch (error) {
    if (!signal.aborted) onError(error)
    return undefined
  }
}

function summaryMessage(summary: string): object {
  return { role: 'user', content: `[Summary of earlier turns of this conversation]\n${summary}` }
}

/** The address of everything that is stored of a session. */
export function sessionAddressOf({ member: _, ...key }: SessionKey): SessionAddress {
  return { name: 'session', key: idOf(key) }
}

/** Session storage in a store, or in objects. */
export const SESSIONS_IN_STATE: Sessions = {
  name: 'core:session',
  transactions: SESSION_TRANSACTIONS,
  createStorage,
}
