/**
 * The interface of the plugin `approvals`, which is called where runs and tasks wait. Without the plugin only the owner of a run
 * answers, and nothing expires.
 *
 * @module
 */

import type { Answer, HistoryMessage, InputRequest, RunOptions } from '../../agents/contract.ts'
import type { Reader, Store, Transaction } from '../../stores/store.ts'
import type { RunNotices } from '../notices.ts'
import type { RetentionOf } from '../stored/retention-of.ts'
import type { Approver, Asking, DecidedRun } from './asking.ts'
import type { AnsweredRun, Answering, Notes, Waiting } from './waiting.ts'

/** Gives access to waiting runs. */
export interface WaitingRuns {
  asking(id: string): Promise<Asking | undefined>
  answer(
    id: string,
    viewer: string | null,
    answers: readonly Answer[],
    next: string,
    by: Answering,
  ): Promise<AnsweredRun>
}

/** Gives access to the waiting tasks of a protocol, to read and answer them over other routes. */
export interface AskingTasks {
  /** Returns a task's requests, whoever owns it. Undefined if it has none, or if the asker may not see it. */
  asking(id: string, asker: Approver): Promise<Asking | undefined>
  /** Answers a task that `asking` has returned. Throws as `RunHost.answer` does. */
  answer(asking: Asking, given: GivenToTask): Promise<void>
  /** Returns the task's messages, oldest first. */
  messages(asking: Asking): Promise<readonly HistoryMessage[]>
}

/** Answers for a task, with the facts of their request. */
export interface GivenToTask {
  readonly answers: readonly Answer[]
  readonly options: RunOptions
  readonly secrets: readonly string[]
  readonly by: Answering
}

/** The part of the plugin that a handler uses. */
export interface Approvals extends Notes {
  /** Set by the plugin of a protocol with tasks. */
  tasks?: AskingTasks | undefined
  /** Milliseconds during which an approval may be decided. */
  readonly expiresMs: number
  /** Whether somebody may decide what others are asked: `authorize` or a role may let them. */
  mayBeOther(approver: Approver): boolean
  /**
   * Returns whether somebody other than the owner answers. Throws `forbidden` for requests that they may not decide, and
   * `missing` if they may decide none of the run.
   */
  admit(
    asking: Asking,
    answers: readonly Answer[],
    approver: Approver,
    missing: () => Error,
  ): Promise<boolean>
  /**
   * Decides for somebody other than the owner of a run. Returns undefined, without effect, if the owner answers. Throws as
   * `admit` and `RunHost.answer` do.
   */
  decide(
    host: WaitingRuns,
    asked: { readonly id: string; readonly answers: readonly Answer[] },
    approver: Approver,
    goOn: (next: NonNullable<AnsweredRun['next']>) => Promise<unknown>,
  ): Promise<DecidedRun | undefined>
  /**
   * Answers a task's requests, for its owner or for somebody else who may. Returns undefined, without effect, if no task has this
   * id. Throws as `admit` and `AskingTasks.answer` do.
   */
  answerTask(id: string, given: GivenToTask, asker: Approver): Promise<DecidedRun | undefined>
  /** Makes the response for somebody who has decided. `after` is what the run or task asks then. */
  decided(
    asking: Asking,
    answers: readonly Answer[],
    after: Asking | undefined,
    approver: Approver,
  ): Promise<DecidedRun>
  /** The requests that somebody other than the owner may see: those that they may decide. */
  known(asking: Asking, requests: readonly InputRequest[], approver: Approver): Promise<InputRequest[]>
  /** Returns what a run or task asks; undefined if it does not wait. */
  asking(tx: Reader, id: string): Asking | undefined
  /** Writes it to the list that all objects share. */
  enlist(asking: Asking): Promise<void>
  /** Throws `approval_expired` if answers no longer count. */
  check(waiting: Waiting, now: number): void
  /** Ends expired runs, or goes on with them, once each. Never rejects. */
  expireRuns(
    host: WaitingRuns,
    kept: {
      readonly store: Store
      readonly keepMs: RetentionOf
      readonly notices?: RunNotices | undefined
    },
  ): Promise<void>
  /** Does the same for tasks. */
  expireTasks(tasks: ExpiringTasks): Promise<void>
}

/** Tasks that may have expired. */
export interface ExpiringTasks {
  readonly store: Store
  /** Fails a task that waits. */
  refuse(tx: Transaction, id: string, message: string): void
  /** Called for each failed task once that is written. */
  onRefused(id: string): void
  /** Answers the task. */
  answer(id: string, answers: readonly Answer[], waiting: Waiting): Promise<void>
}
