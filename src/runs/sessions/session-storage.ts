/**
 * Keeps the sessions of a service in its state, and has those of this process told of each other. A state brings it, so that a
 * service without one does not carry it.
 *
 * @module
 */

import type { Entered, SessionKey, SessionReader, SessionStorage, Sitting } from '../../agents/memory.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { RunTurn } from './run-turn.ts'
import { appendSession, readSession, type SessionWindow, summarizeSession } from './session-memory.ts'
import type { SessionParts } from './session-options.ts'
import { forgetSession, idOf, SESSIONS, type SessionSettings } from './session-record.ts'
import { enterSession, keepSession, leaveSession, turnsOf, turnUntil } from './session-turns.ts'

/** The transactions of sessions. */
export interface SessionTransactions {
  readonly reads: {
    readonly window: (tx: Reader, key: SessionKey, reader: SessionReader, settings: SessionSettings) => string
    readonly turns: (tx: Reader, key: SessionKey) => string
    readonly until: typeof turnUntil
  }
  readonly writes: {
    readonly enter: (tx: Transaction, key: SessionKey, turn: string, settings: SessionSettings) => Entered
    readonly beat: typeof keepSession
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
}

type CallsOf<Works> = {
  readonly [Name in keyof Works]: Works[Name] extends (tx: never, ...args: infer Args) => infer Result
    ? (place: SessionPlace, ...args: Args) => Promise<Result>
    : never
}

/** Calls of the transactions, each at the place of a session. */
export type SessionCalls = CallsOf<SessionTransactions['reads']> & CallsOf<SessionTransactions['writes']>

/** How a state keeps sessions. */
export interface Sessions {
  /** The name of their keeper, which no plugin can have. */
  readonly name: string
  readonly transactions: SessionTransactions
  keeper(calls: SessionCalls, parts: SessionParts): SessionStorage
}

interface SessionPlace {
  readonly name: string
  readonly key: string
}

/** The transactions of sessions. What other programs wrote crosses as JSON: it need not be what can be cloned. */
const SESSION_TRANSACTIONS: SessionTransactions = {
  reads: {
    window: (tx, key, reader, settings) => JSON.stringify(readSession(tx, key, reader, settings)),
    turns: (tx, key) => JSON.stringify(turnsOf(tx, key)),
    until: turnUntil,
  },
  writes: {
    enter: (tx, key, turn, settings) => enterSession(tx, key, JSON.parse(turn), settings),
    beat: keepSession,
    leave: (tx, key, end, note, settings) =>
      leaveSession(tx, key, JSON.parse(end), note === undefined ? note : JSON.parse(note), settings),
    append: (tx, key, note, settings) => appendSession(tx, key, JSON.parse(note), settings),
    summarize: summarizeSession,
  },
  expiring: [SESSIONS],
  forget: (tx, _, id) => forgetSession(tx, id),
}

/** Milliseconds between two beats of a run that has its session: of one that later runs may stop, it is soon heard. */
const BEAT_MS = 5000
const STOPPABLE_BEAT_MS = 1000

/** Most characters of a summary. */
const MAX_SUMMARY = 16_384

/** Keeps sessions. With Durable Objects each has an object of its own, and nobody counts those of one owner. */
function keeper(
  calls: SessionCalls,
  { settings, settingsFor, compact, hold, onError, files }: SessionParts,
): SessionStorage {
  const here = new Map<string, Set<Sitting>>()
  const held = <T>(work: Promise<T>): Promise<T> => {
    hold?.(work.catch(() => {}))
    return work
  }
  const tell = (key: SessionKey) => {
    if (sessions.changed !== undefined) void held(sessions.changed(key).catch(onError))
  }
  const sessions: SessionStorage = {
    turnOf: (key, target, run) => new RunTurn(sessions, key, target, run, files),
    beatMs: settings.concurrency === 'interrupt' ? STOPPABLE_BEAT_MS : BEAT_MS,
    failed: onError,
    async read(key, reader = {}, signal = new AbortController().signal) {
      const window: SessionWindow = JSON.parse(await calls.window(placeOf(key), key, reader, settings))
      const summary = (await summed(key, window, signal)) ?? window.summary
      return summary === undefined ? window.messages : [told(summary), ...window.messages]
    },
    turns: async key => JSON.parse(await calls.turns(placeOf(key), key)),
    turnUntil: (key, runId) => calls.until(placeOf(key), key, runId),
    append: async (key, note) => calls.append(placeOf(key), key, JSON.stringify(note), settingsFor(key)),
    async enter(key, turn) {
      const entered = await held(calls.enter(placeOf(key), key, JSON.stringify(turn), settingsFor(key)))
      if (entered.isFirst) tell(key)
      return entered
    },
    beat: (key, runId) => calls.beat(placeOf(key), key, runId, settingsFor(key)),
    async leave(key, end, note) {
      await held(
        calls.leave(placeOf(key), key, JSON.stringify(end), note && JSON.stringify(note), settingsFor(key)),
      )
      tell(key)
    },
    seat(key, sitting) {
      const id = idOf(key)
      const others = here.get(id) ?? new Set()
      here.set(id, others.add(sitting))
      return {
        others,
        letGo() {
          others.delete(sitting)
          for (const other of others) other.look()
          if (others.size === 0 && here.get(id) === others) here.delete(id)
        },
      }
    },
  }
  return sessions

  /** What stands for all turns that are told no more; undefined where there is nothing new. */
  async function summed(
    key: SessionKey,
    { leaving, summary, upTo }: SessionWindow,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (compact === undefined || leaving.length === 0) return undefined
    const { sessionId, owner } = key
    try {
      const text = String(await compact(leaving, { sessionId, owner, signal, summary })).slice(0, MAX_SUMMARY)
      await calls.summarize(placeOf(key), key, { text, upTo }, settingsFor(key))
      return text
    } catch (error) {
      if (!signal.aborted) onError(error)
      return undefined
    }
  }
}

function told(summary: string): object {
  return { role: 'user', content: `[Summary of earlier turns of this conversation]\n${summary}` }
}

/** All that is kept of a session is at one place. */
export function placeOf({ member: _, ...key }: SessionKey): SessionPlace {
  return { name: 'session', key: idOf(key) }
}

/** Sessions in a store, or in objects. */
export const SESSIONS_IN_STATE: Sessions = {
  name: 'core:session',
  transactions: SESSION_TRANSACTIONS,
  keeper,
}
