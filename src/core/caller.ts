/**
 * The sender of a request, as plugins use it: its runs, its sessions, and what it may do. `callerOf(core, request, context)` makes one.
 *
 * @module
 */

import type { Answer, InputRequest, RunInput } from '../agents/contract.ts'
import type { GraphThread } from '../agents/graph.ts'
import type { ClientTool, HistoryMessage, Metadata } from '../agents/run-types.ts'
import type { Turn, TurnTree } from '../agents/turn.ts'
import type { Encoder } from '../http/runs/encoded.ts'
import type { AskedRun, StartedRun } from '../http/runs/start-run.ts'
import type { Right } from '../http/security/rights.ts'
import type { SessionPage, SessionQuery, SessionSummary } from '../runs/sessions/summary.ts'
import type { RunPage, RunQuery } from '../runs/stored/host.ts'
import type { RunEventPage } from '../runs/stored/log-page.ts'
import type { RunRecord, RunStatus, RunSummary } from '../runs/stored/record.ts'
import type { Target } from '../runs/target.ts'
import type { Reply, ReplyHeaders } from '../web/reply.ts'

/**
 * The sender of a request. Whatever it calls is about its own things, with its identity, keys and limits; or about those of whom it acts
 * for (`x-servable-owner`), if its role allows that.
 */
export interface Caller {
  /** Whose things its calls are about. Null for a caller without an identity. */
  readonly owner: string | null
  /** Why its runs cannot be stored here, as text; undefined if they can. */
  readonly whyUnstored: string | undefined
  readonly runs: CallerRuns
  readonly sessions: CallerSessions
  /**
   * Starts a run. It is a stored run if the request asks for the background or has a key, or if the disconnect policy says so. A plain run
   * is cancelled when its reader stops or its request is aborted. Throws `runs_not_stored`, `idempotency_mismatch`, `too_many_runs`, and
   * `invalid_body` for a wrong `history` or `clientTools`.
   */
  start(asked: AskedRun): Promise<StartedRun>
  /**
   * A response of server-sent events: those that the encoder makes of a run, or of runs that go on with each other (their ids, the
   * first one first). A reader that leaves counts as leaving the run. Rejects with `run_not_found` and `too_many_followers`.
   */
  stream(run: StartedRun | readonly string[], encoder: Encoder, options?: StreamOptions): Promise<Reply>
  /** Whether its roles allow this on the things of an owner (null: of nobody), or of all in its tenant if none is given. */
  may(right: Right, owner?: string | null): boolean
  /** Throws `insufficient_scope` if it has a key that may not run this, and as a start does for a key that is revoked or has no rate left. */
  checkMayRun(target: Pick<Target, 'kind' | 'name'>): Promise<void>
}

/** How a stream begins. */
export interface StreamOptions {
  /** Sent before the first event. */
  readonly head?: string
  /**
   * Sent each five seconds in which the run says nothing. Default: a comment, which clients pass over. With blank space alone, no comment
   * is sent at all: for an encoder whose text is no server-sent event.
   */
  readonly keepAlive?: string
  /**
   * The position in the first run after which to begin, for stored runs. An encoder that keeps a state gets no event before it. Default:
   * 0, the beginning.
   */
  readonly after?: number
  /** Default: those of server-sent events, and `x-run-id`. */
  readonly headers?: ReplyHeaders
}

/** The caller's stored runs. Methods throw `run_not_found` for a run that does not exist, or is not the caller's. */
export interface CallerRuns {
  get(id: string): Promise<RunRecord>
  /** A run to read from its first event, or to wait for. */
  open(id: string): Promise<StartedRun>
  /** The stored input of a run, and how it was asked for. Throws `input_not_kept`. */
  input(id: string): Promise<KeptInput>
  /**
   * A page of runs, newest first. Callers without an identity are one owner: whoever of them names a session gets its runs, so its id is
   * the only secret. Throws `not_found` for one that names no session, unless `runs.listAnonymous` is on.
   */
  list(query?: Partial<Omit<RunQuery, 'everyone'>>): Promise<RunPage>
  /** A page of the events after a position, without waiting for new ones: at most 1,000. It counts as no reader. */
  log(id: string, query?: { readonly after?: number; readonly limit?: number }): Promise<RunEventPage>
  /** The newest run of a session that has the status, with the runs that it goes on with. Undefined if there is none. */
  newest(session: SessionOf, status?: RunStatus): Promise<FoundRun | undefined>
  /** The ids of the runs that go on with each other, among which this one is: the first one first, at most 200. */
  chain(id: string): Promise<readonly string[]>
  /** Answers requests of a waiting run. The last answer starts the run that goes on. Throws as `POST /runs/:id/answers` answers. */
  answer(asked: AnswersToRun): Promise<AnsweredRun>
  /** Lets an interrupted run go on. Throws `not_resumable` and `key_required`. */
  resume(id: string): Promise<StartedRun>
  /** Runs the input of a run again. Throws `input_not_kept` and `key_required`. */
  retry(id: string): Promise<StartedRun>
  /** Cancels a run. Throws `run_ended` for one that has completed or failed. Cancelling twice is no error. */
  cancel(id: string): Promise<RunRecord>
  /** Deletes an ended run with all that it has. Throws `session_busy` for one at work. */
  delete(id: string): Promise<void>
}

/** The input of a stored run. */
export interface KeptInput {
  readonly input: RunInput
  readonly history?: readonly HistoryMessage[] | undefined
  readonly clientTools?: readonly ClientTool[] | undefined
  /** The facts of the transport that it was started with. */
  readonly metadata?: Metadata | undefined
  readonly isBackground: boolean
  /** The answers that it goes on with, and their requests. */
  readonly answered: readonly { readonly request: InputRequest; readonly answer: Answer }[]
}

/** Answers to a waiting run. All of them count, or none. */
export interface AnswersToRun {
  readonly id: string
  readonly answers: readonly Answer[]
  /** The key of a model provider. Keys in headers override it. */
  readonly apiKey?: string | undefined
  /** Whether the run that goes on outlives its reader. Default: as the run that waited. */
  readonly isBackground?: boolean
}

/** The result of answers. */
export interface AnsweredRun {
  /** The record of the run that still waits, or of the run that goes on. Of somebody else's run that was decided, what its decider may see. */
  readonly record: Pick<RunRecord, 'id' | 'kind' | 'name' | 'requests'>
  /** The run that goes on. Undefined while requests are open, and if somebody else's run was decided. */
  readonly started?: StartedRun | undefined
}

/** A run in a list, and the runs of its message. */
export interface FoundRun {
  readonly run: RunSummary
  /** The ids of the runs from the first one of the message to this one, at most 100. */
  readonly chain: readonly string[]
}

/** A session, by what it is with and its id. */
export interface SessionOf {
  readonly target: Target
  readonly id: string
}

/**
 * The caller's sessions. All but `turns`, `tree`, `write` and `graph` need the plugin `sessions()`, and throw `unsupported_operation`
 * without it. Methods throw `session_not_found` for a session that does not exist, and `runs_not_stored` if nothing is stored.
 */
export interface CallerSessions {
  /** A page of sessions, newest first. Throws `not_found` for a caller without an identity. */
  list(query?: Partial<SessionQuery>): Promise<SessionPage>
  /**
   * The stored turns in the order in which they began. Empty for a session that does not exist. A caller without an identity has none:
   * `session_not_found`.
   */
  turns(session: SessionOf): Promise<readonly Turn[]>
  /** The stored turns of all branches. As `turns` for a session that does not exist, and without an identity. */
  tree(session: SessionOf): Promise<TurnTree>
  /**
   * Adds a turn that no run made, such as a conversation from elsewhere. The agent remembers it. Returns the id of its message, which is
   * that of its run if it has none of its own. Throws `session_busy` while a run of the session is at work, and `session_changed` for a
   * place that is not there.
   */
  write(session: SessionOf, turn: WrittenTurn): Promise<string>
  /**
   * The thread of a graph. Undefined if the agent is no graph, or keeps no threads. Its methods throw `session_not_found` for a caller
   * without an identity whose session has no id from the service. `updateState` throws `session_busy` while a run of the session is at
   * work, and `insufficient_scope` if the caller's key may not run the agent.
   */
  graph(session: SessionOf): GraphThread | undefined
  rename(session: SessionOf, title: string): Promise<SessionSummary>
  /** Copies a session, up to the turn of a run, into a new one. */
  fork(
    session: SessionOf,
    how?: { readonly runId?: string; readonly title?: string },
  ): Promise<SessionSummary>
  /** Deletes the turn of a run and all after it, with their runs. Throws `run_not_found`, and `session_busy` if one is at work. */
  deleteBranch(session: SessionOf, runId: string): Promise<void>
  /** Deletes a session with its runs. Throws `session_busy` while a run of it is at work, unless `cancels` is set. */
  delete(session: SessionOf, how?: { readonly cancels?: boolean }): Promise<void>
}

/** A turn to add to a session. */
export interface WrittenTurn {
  readonly input: RunInput
  /** The answer's text. */
  readonly text: string
  /** The client's own id of the message: 1 to 500 characters. */
  readonly messageId?: string
  /** Its place, as of a run. Default: after the last turn of the branch that counts. */
  readonly replaces?: string | undefined
  readonly branchFrom?: string | undefined
}
