/**
 * The run host starts, reads, lists and cancels stored runs. It has two implementations: over a store of this process
 * (`local-host.ts`), and in Durable Objects (`runtimes/cloudflare`).
 *
 * @module
 */

import type {
  Answer,
  ErrorEvent,
  FinishEvent,
  Kind,
  RunInput,
  RunOptions,
  RunResult,
} from '../../agents/contract.ts'
import type { Alarm } from '../../stores/alarm.ts'
import type { StoredLogEntry } from '../../stores/store.ts'
import type { Admit } from '../admit.ts'
import type { Brake } from '../brake.ts'
import type { Feedback, FeedbackInput, Rating } from '../feedback.ts'
import type { FileStorage } from '../files.ts'
import type { InputFilter } from '../input-filter.ts'
import type { RunNotices } from '../notices.ts'
import type { CostOf, RunNumbers } from '../numbers.ts'
import type { Permit } from '../permit.ts'
import type { RunSettings } from '../run-settings.ts'
import type { Target } from '../target.ts'
import type { Approvals } from '../waiting/approvals.ts'
import type { Asking } from '../waiting/asking.ts'
import type { AnsweredRun, Answering, Continued, NextRun, WaitingRun } from '../waiting/waiting.ts'
import type { StoredRequest } from './journal.ts'
import type { EventQuery, LogPage } from './log-page.ts'
import type { FoundRun, RunRecord, RunStatus, RunSummary, RunWebhook } from './record.ts'
import type { RetentionOf } from './retention-of.ts'

/** What a run does when all its followers have left: it ends, goes on, or goes on for `graceMs` milliseconds. */
export type DisconnectPolicy = 'cancel' | 'continue' | { readonly graceMs: number }

/** Of which runs the input is kept: all, none, or those of an identity. */
export type KeptInputs = boolean | 'identified'

/** Whether the input of a run is kept. */
export function keepsInputOf({ keepInput }: Pick<HostSettings, 'keepInput'>, owner: string | null): boolean {
  return keepInput === 'identified' ? owner !== null : keepInput === true
}

/** The settings of all stored runs of a handler. */
export interface HostSettings extends RunSettings {
  readonly disconnect: DisconnectPolicy
  /** Whether a run gets a client's system messages. Default: it does not. */
  readonly clientSystem?: 'ignore' | 'append'
  /** The most bytes (counted as characters of JSON) of one run's events. More fail it with `run_too_large`. */
  readonly maxBytes: number
  /** The most followers of one run at a time. */
  readonly maxFollowers: number
  /** The most stored runs at work at a time: in total, and per client. */
  readonly maxRunning: number
  readonly maxRunningPerOwner: number
  /** Milliseconds for which an ended run is kept. */
  readonly retentionMs: number
  /** The retention of one run, if the deployment sets it. Default: `retentionMs`. */
  readonly retentionOf?: RetentionOf | undefined
  /** The retention of a run that waits for answers, if that is longer. Default: `retentionMs`. */
  readonly waitingMs?: number | undefined
  /**
   * Milliseconds for which the events after one may wait, to be written together. It saves writes where each one is charged.
   * Default: 0, which means the end of the turn of the event loop.
   */
  readonly gatherMs?: number | undefined
  /** Whether runs are stored with the texts by which they are found. Default: true. */
  readonly hasTexts?: boolean | undefined
  /** Default: `asked`. `all` stores every run that can be stored. */
  readonly store?: 'all' | 'asked' | 'none' | undefined
  /** Whose input and options are stored as long as the record, so that a run can run again. */
  readonly keepInput?: KeptInputs | undefined
  /** Milliseconds after a run's end at which its pieces are joined. Default: never. */
  readonly piecesMs?: number | undefined
  /** Whether the journal of a run that has ended is kept as long as its record. Default: it is deleted. */
  readonly keepJournal?: boolean | undefined
  /** Writes into the record of a run its numbers and its transport. */
  readonly measure?: boolean | undefined
  /** Returns the cost of a run. Default: the cost that the run reports. */
  readonly costOf?: CostOf | undefined
  /** Finds a servable by its name. Throws if there is none. */
  readonly targetOf?: ((asked: Pick<Target, 'kind' | 'name' | 'scope'>) => Target) | undefined
  /** Stores the files of runs apart; undefined if they stay in events. */
  readonly files?: FileStorage | undefined
  /** The most plain runs of one client that wait for answers. */
  readonly maxWaitingPerOwner?: number | undefined
  /** Decides which runs a caller may start; undefined if everyone may start every run. */
  readonly permit?: Permit | undefined
  /** Lets others than the owner decide, and approvals expire; undefined without the plugin `approvals`. */
  readonly approvals?: Approvals | undefined
  /** Called when a stored run that was at work here has ended and its end is written. Never rejects. */
  readonly onFree?: (() => Promise<void> | undefined) | undefined
  /** Deletes what expires in a state of this process. Undefined where an object's alarm does. */
  readonly alarm?: Alarm | undefined
  /** Reads and may change the input of clients first. */
  readonly inputFilter?: InputFilter | undefined
  /** Called before a run starts. */
  readonly admit?: Admit | undefined
  /** Whether the logs of runs have what models were sent and replied. */
  readonly keepModelCalls?: boolean
  /** Cancels a listed run that is a turn of a task at work. Set by the plugin of a protocol with tasks. */
  readonly turns?: { cancel?: (taskId: string, viewer: Viewer) => Promise<void> } | undefined
  /** Knows what starts no new runs. `admit` asks it already. */
  readonly brake?: Brake | undefined
  /** Notifies webhooks of the ends of runs; undefined without the plugin `webhooks`. */
  readonly notices?: RunNotices | undefined
}

/** An idempotency key, as digests of its owner, its target and its body. */
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
  /** The client whose slot it takes while it is at work. Default: its owner. */
  readonly client?: string | undefined
  /** How it was requested, for its record. */
  readonly transport?: string | undefined
  /** Whether it outlives its client under any policy. */
  readonly isBackground: boolean
  /** Whether its input and options are stored as long as its record, whatever `keepInput` is. */
  readonly keepsInput?: boolean | undefined
  /** The webhook that gets its end, beside subscribers. */
  readonly webhook?: RunWebhook | undefined
  readonly key?: IdempotencyKey | undefined
  /** Secrets of the request that must not be logged. They stay in memory. */
  readonly secrets?: readonly string[] | undefined
  /** The run that this one continues. */
  readonly continues?: Continued | undefined
  /** The run whose input it runs again. */
  readonly retryOf?: string | undefined
  /** When it began, if it is listed already. Default: now. */
  readonly at?: number | undefined
}

/** An interrupted run, and the run that continues it. */
export interface ResumedRun {
  readonly record: RunSummary
  readonly next: NextRun
}

/** A request to continue an interrupted run. */
export interface ResumeRequest {
  /** The id of the run that continues it, unless one was chosen before. */
  readonly next: string
  /** Whether a key of a model's provider comes with it. */
  readonly hasKey: boolean
}

/** Reads a log: batches of entries as they come, in order, then undefined at the end. */
export interface Follower {
  next(): Promise<readonly StoredLogEntry[] | undefined>
  /** Returns what can be read without waiting; empty if only waiting would tell. */
  ready(): readonly StoredLogEntry[]
  /** Stops reading. The disconnect policy decides what happens to the run. */
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
  /** Runs with this feedback. */
  readonly feedback?: Rating | 'any' | undefined
  /** Set for the runs of all owners, or of those of a tenant. Each of them then has its `owner`. */
  readonly everyone?: { readonly tenant: string | undefined } | undefined
  /** Only runs that began at this time or later. Milliseconds since 1970. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
  /** Only runs whose input (if it is kept), output or error contains this. 1 to 200 characters. */
  readonly search?: string | undefined
  /** Whether the page has the number of all matching runs. */
  readonly count?: true | undefined
  /** 1 to 100. */
  readonly limit: number
}

/** A run in a list. It has its owner in a list of everyone's. */
export type ListedRun = RunSummary & { readonly owner?: string | null }

/** A page of a list, newest first. It may be short or empty although there is a next one. */
export interface RunPage {
  /** The runs without their results. */
  readonly runs: readonly ListedRun[]
  /** The cursor of the next page; null only at the end. */
  readonly nextCursor: string | null
  /** The number of runs of all pages, among the newest 1,000 that a search looks at. If it was asked for. */
  readonly count?: number | undefined
  /** Whether there are more runs than were looked at. */
  readonly countIsCut?: true | undefined
}

/** The caller: the id of an identity, or null. Every caller that knows its id may read a run without an owner. */
export type Viewer = string | null

/** Stored runs. Methods throw `run_not_found` for a run that does not exist or is not the viewer's. */
export interface RunHost {
  /**
   * Starts a run, or returns the one of the same key. Throws `idempotency_mismatch` if the key was used for another body, and
   * `too_many_runs`.
   */
  start(request: StartRequest): Promise<RunRecord>
  get(id: string, viewer: Viewer): Promise<RunRecord>
  /** Reads the log after an entry. Throws `too_many_followers`. */
  follow(id: string, viewer: Viewer, after: number): Promise<Follower>
  /** Returns a page of the log. It does not count as a follower. */
  events(id: string, viewer: Viewer, query: EventQuery): Promise<LogPage>
  /** Waits for the end. `signal` fires when the caller has left. */
  wait(id: string, viewer: Viewer, signal: AbortSignal): Promise<RunRecord>
  list(owner: Viewer, query: RunQuery): Promise<RunPage>
  /** The runs that a reference in the log may stand for, of any owner: for an administrator. */
  find(ref: string): Promise<readonly FoundRun[]>
  /** Cancels a run. Throws `run_ended` for one that has completed or failed. Cancelling twice is no error. */
  cancel(id: string, viewer: Viewer): Promise<RunRecord>
  /** Stores a plain run that waits for someone. Throws `too_many_runs`, `state_full` and `state_unavailable`. */
  keep(run: WaitingRun): Promise<void>
  /** Stores the record of a run that has ended. Throws `state_full` and `state_unavailable`. */
  record(run: EndedRun): Promise<void>
  /** Returns the requests of a waiting run, of any owner; undefined if it does not wait. */
  asking(id: string): Promise<Asking | undefined>
  /**
   * Answers requests of a waiting run: all of the answers count, or none. `next` is the id of the next run, which the last answer
   * chooses. Throws as `answered` does, `approval_expired`, and `run_ended` for a run that waits for nothing.
   */
  answer(
    id: string,
    viewer: Viewer,
    answers: readonly Answer[],
    next: string,
    by?: Answering,
  ): Promise<AnsweredRun>
  /**
   * Lets an interrupted run go on as another one, whose id is chosen once. Throws `not_resumable`, and `key_required` if the run
   * used a key of its client and none is given.
   */
  resume(id: string, viewer: Viewer, request: ResumeRequest): Promise<ResumedRun>
  /**
   * Returns the stored input and options of a run. Throws `input_not_kept`. `from` is the id of a step or a tool call that is done:
   * `continues` has the work up to its end then. Throws `not_resumable` and `invalid_body` if that was not kept or recorded.
   */
  asked(id: string, viewer: Viewer, from?: string): Promise<StoredRequest>
  /** Deletes everything that is stored of an ended run. Throws `session_busy` for a run at work. */
  delete(id: string, viewer: Viewer): Promise<void>
  /**
   * Returns the feedback on an ended run; stores it first if `given` is set. Throws `session_busy` for feedback on a run at work.
   */
  feedback(id: string, viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined>
  /** Writes into the record of an ended run what was said of its turn. */
  rate(id: string, viewer: Viewer, rating: Rating): Promise<void>
  /** Ends runs that dead processes left, where that does not happen by itself. Never rejects. */
  lookAfter?(): Promise<void>
  /** Called when a slot is free: a run of this process has ended and its end is written. Never rejects. */
  onFree?(): Promise<void>
  /** The line in which tasks wait for a slot; undefined without the plugin `queue`. */
  readonly line?: TaskLine | undefined
}

/** A task that waits for a slot. Its message is stored in the task. */
export interface QueuedTask extends Pick<StartRequest, 'target' | 'input' | 'owner' | 'client'> {
  readonly taskId: string
  /** The run of its turn. */
  readonly runId: string
  readonly sessionId: string | undefined
}

/** Starts and ends tasks that waited. Set by the plugin of a protocol with tasks. */
export interface QueuedTasks {
  /** Starts the run of a task, unless the task waits no more. Throws `too_many_runs` if there is no slot. */
  start(taskId: string, runId: string): Promise<void>
  /** Ends a task whose run does not start. */
  end(taskId: string, runId: string, event: FinishEvent | ErrorEvent): Promise<void>
}

/** The line in which tasks wait for a slot. */
export interface TaskLine {
  tasks?: QueuedTasks | undefined
  /** Whether something waits. Then a task waits behind it. */
  isBusy(): Promise<boolean>
  /**
   * Adds a task. It does not start before `release`, or a few seconds: until then it can be stored. Throws `too_many_runs` if the
   * line is full.
   */
  add(task: QueuedTask): Promise<void>
  release(runId: string): Promise<void>
  remove(runId: string): Promise<void>
}

/** A run that has ended and was not a stored run: a turn of an A2A task. Its record, result and last event are stored. */
export interface EndedRun {
  readonly id: string
  readonly target: Pick<Target, 'kind' | 'name'>
  /** The text of its input, or the beginning of that. Its title is a piece of it. */
  readonly input?: RunInput | undefined
  readonly options: Pick<RunOptions, 'sessionId' | 'userId'>
  readonly owner: string | null
  /** The client whose index lists it if there is no owner. Default: the index of all. */
  readonly client?: string | undefined
  /** Absent if the answer is only a message, without a task. */
  readonly taskId?: string | undefined
  readonly transport?: string | undefined
  /** Milliseconds since 1970 at which it began. */
  readonly at: number
  readonly event: FinishEvent | ErrorEvent
  readonly result?: RunResult | undefined
  readonly numbers?: RunNumbers | undefined
}
