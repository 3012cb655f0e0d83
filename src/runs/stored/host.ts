/**
 * The run host starts, reads, lists and cancels stored runs. It has two implementations: over a store of this process
 * (`local-host.ts`), and in Durable Objects (`runtimes/cloudflare`).
 *
 * @module
 */

import type { Answer, Kind, RunInput, RunOptions } from '../../agents/contract.ts'
import type { LogEntry } from '../../stores/store.ts'
import type { Admit } from '../admit.ts'
import type { Feedback, FeedbackInput } from '../feedback.ts'
import type { FileStorage } from '../files.ts'
import type { InputFilter } from '../input-filter.ts'
import type { RunNotices } from '../notices.ts'
import type { CostOf } from '../numbers.ts'
import type { Permit } from '../permit.ts'
import type { RunSettings } from '../run-settings.ts'
import type { Target } from '../target.ts'
import type { Approvals } from '../waiting/approvals.ts'
import type { Asking } from '../waiting/asking.ts'
import type { AnsweredBy, AnsweredRun, Continued, NextRun, WaitingRun } from '../waiting/waiting.ts'
import type { EndedRun } from './ended-run.ts'
import type { Asked } from './journal.ts'
import type { EventQuery, LogPage } from './log-page.ts'
import type { FoundRun, RunRecord, RunStatus, RunSummary, RunWebhook } from './record.ts'
import type { RetentionOf } from './retention-of.ts'

/** What a run does when all who watch it have left: ends, goes on, or goes on for so long. */
export type DisconnectPolicy = 'cancel' | 'continue' | { readonly graceMs: number }

/** What holds for every stored run of a handler. */
export interface HostSettings extends RunSettings {
  readonly disconnect: DisconnectPolicy
  /** Whether a run is told what a client claims to be a system message. Default: it is not. */
  readonly clientSystem?: 'ignore' | 'append'
  /** Most bytes (counted as characters of JSON) of one run's events; more fail it with `run_too_large`. */
  readonly maxBytes: number
  /** Most followers of one run at a time. */
  readonly maxFollowers: number
  /** Most stored runs at work at a time: in all, and of one client. */
  readonly maxRunning: number
  readonly maxRunningPerOwner: number
  /** Milliseconds for which an ended run is kept. */
  readonly retentionMs: number
  /** The same of one run, where a deployment says. Default: `retentionMs`. */
  readonly retentionOf?: RetentionOf | undefined
  /** The same for one that waits for answers, if that is longer. Default: `retentionMs`. */
  readonly waitingMs?: number | undefined
  /**
   * Milliseconds for which what follows an event may wait, to be written together: where each writing is paid for. Default: 0,
   * to the end of the turn.
   */
  readonly gatherMs?: number | undefined
  /** `all` stores every run that can be stored. */
  readonly store?: 'none' | 'all' | undefined
  /** Keeps what a run was asked with as long as its record, so that it can run again. */
  readonly keepInput?: boolean | undefined
  /** Writes the numbers of a run into its record, and how it was asked for. */
  readonly measure?: boolean | undefined
  /** What a run cost. Default: what it says itself. */
  readonly costOf?: CostOf | undefined
  /** Finds who runs something by its name. Throws where nobody does. */
  readonly targetOf?: ((asked: Pick<Target, 'kind' | 'name' | 'scope'>) => Target) | undefined
  /** Stores the files of runs apart; undefined where they stay in what runs say. */
  readonly files?: FileStorage | undefined
  /** Most plain runs of one client that wait for answers. */
  readonly maxWaitingPerOwner?: number | undefined
  /** Says who may run what; undefined where everyone may run everything. */
  readonly permit?: Permit | undefined
  /** Lets others than the owner decide, and approvals expire; undefined where neither is so. */
  readonly approvals?: Approvals | undefined
  /** Told when a stored run that was at work here has ended, and that is written. Never rejects. */
  readonly onFree?: (() => Promise<void> | undefined) | undefined
  /** Sees what clients say first. */
  readonly inputFilter?: InputFilter | undefined
  /** Is asked before a run starts. */
  readonly admit?: Admit | undefined
  /** Tells others of the ends of runs; undefined where nobody is told. */
  readonly notices?: RunNotices | undefined
}

/** An idempotency key, as digests: whose, for what, and with which body. */
export interface IdempotencyKey {
  readonly id: string
  readonly fingerprint: string
}

/** A stored run to start. */
export interface StartRequest {
  readonly target: Target
  readonly input: RunInput
  /** As for a plain run, without `signal`: the host decides what ends it. */
  readonly options: RunOptions
  readonly owner: string | null
  /** Whose place it takes while it is at work; its owner's where nobody is named. */
  readonly client?: string | undefined
  /** How it was asked for, if its record says so. */
  readonly transport?: string | undefined
  /** It outlives its client, whatever the policy says. */
  readonly isBackground: boolean
  /** What it is asked with is kept as long as its record, whatever `keepInput` says. */
  readonly keepsInput?: boolean | undefined
  /** Who is told of its end, beside subscribers. */
  readonly webhook?: RunWebhook | undefined
  readonly key?: IdempotencyKey | undefined
  /** What the request held that must stand in no log. It is in memory only. */
  readonly secrets?: readonly string[] | undefined
  /** The run that this one continues. */
  readonly continues?: Continued | undefined
}

/** An interrupted run, and the one that goes on. */
export interface ResumedRun {
  readonly record: RunSummary
  readonly next: NextRun
}

/** Asks for an interrupted run to go on. */
export interface ResumeRequest {
  /** The id of the run that goes on, unless it was chosen before. */
  readonly next: string
  /** Whether a key of a model's provider comes with it. */
  readonly hasKey: boolean
}

/** Reads a log: batches of entries as they come, in order, and undefined at the end. */
export interface Follower {
  next(): Promise<readonly LogEntry[] | undefined>
  /** What can be read without waiting; none where only waiting would tell. */
  ready(): readonly LogEntry[]
  /** Stops reading. What that does to the run is for the disconnect policy to say. */
  leave(): void
}

/** Which runs to list. */
export interface RunQuery {
  readonly kind?: Kind | undefined
  readonly name?: string | undefined
  readonly sessionId?: string | undefined
  readonly status?: RunStatus | undefined
  /** Runs that wait for answers. */
  readonly waiting?: true | undefined
  /** Runs that began at this time or later, and before the other one. Milliseconds since 1970. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** From a page before. */
  readonly cursor?: string | undefined
  /** 1 to 100. */
  readonly limit: number
}

/** A page of a list, newest first. It may be short or empty and yet have a next one. */
export interface RunPage {
  /** Without their results. */
  readonly runs: readonly RunSummary[]
  /** Gives the next page; null at the end, and only there. */
  readonly nextCursor: string | null
}

/** Who asks: the id of an identity, or null. A run without an owner is everyone's who knows its id. */
export type Viewer = string | null

/** Where stored runs live. Runs that are not there, or not the viewer's, are `run_not_found`. */
export interface RunHost {
  /**
   * Starts a run, or finds the one of the same key. Throws `idempotency_mismatch` where the key was used for another
   * body, and `too_many_runs`.
   */
  start(request: StartRequest): Promise<RunRecord>
  get(id: string, viewer: Viewer): Promise<RunRecord>
  /** Reads the log from after an entry on. Throws `too_many_followers`. */
  follow(id: string, viewer: Viewer, after: number): Promise<Follower>
  /** A page of the log. Nobody counts as a follower for it. */
  events(id: string, viewer: Viewer, query: EventQuery): Promise<LogPage>
  /** Waits for the end; `signal` says that the one who waits has left. */
  wait(id: string, viewer: Viewer, signal: AbortSignal): Promise<RunRecord>
  list(owner: Viewer, query: RunQuery): Promise<RunPage>
  /** Those that a reference out of the log may stand for, whoever's they are: for an administrator. */
  find(ref: string): Promise<readonly FoundRun[]>
  /** Throws `run_ended` for a run that has completed or failed. Cancelling twice is no error. */
  cancel(id: string, viewer: Viewer): Promise<RunRecord>
  /** Keeps a plain run that waits for someone. Throws `too_many_runs`, `state_full` and `state_unavailable`. */
  keep(run: WaitingRun): Promise<void>
  /** Keeps what is listed of a run that has ended. Throws `state_full` and `state_unavailable`. */
  record(run: EndedRun): Promise<void>
  /** What a run that waits asks, whoever's it is; undefined for one that does not wait. */
  asking(id: string): Promise<Asking | undefined>
  /**
   * Answers requests of a run that waits: all of the answers count, or none. `next` is the id of the run that goes on, which the
   * last answer chooses. Throws as `answered` does, `approval_expired`, and `run_ended` for a run that waits for nothing.
   */
  answer(
    id: string,
    viewer: Viewer,
    answers: readonly Answer[],
    next: string,
    by?: AnsweredBy,
  ): Promise<AnsweredRun>
  /**
   * Lets an interrupted run go on as another one, which is chosen once. Throws `not_resumable`, and `key_required` where the run used
   * a key of its client and none is given.
   */
  resume(id: string, viewer: Viewer, request: ResumeRequest): Promise<ResumedRun>
  /** What a run was asked with. Throws `input_not_kept`. */
  asked(id: string, viewer: Viewer): Promise<Asked>
  /** Deletes all that is kept of a run that has ended. Throws `session_busy` for one at work. */
  delete(id: string, viewer: Viewer): Promise<void>
  /**
   * What was said of a run that has ended; keeps what is said now. Throws `session_busy` for a run at work of which something is
   * said.
   */
  feedback(id: string, viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined>
  /** Looks after what others have left behind, where that is not done by itself. Never rejects. */
  lookAfter?(): Promise<void>
  /** A place is free: a run of this process has ended, and that is written. Never rejects. */
  onFree?(): Promise<void>
}
