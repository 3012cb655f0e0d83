/**
 * What the plugin `approvals` does where runs and tasks wait. This file has the interface alone: without the plugin only the owner
 * of a run answers, and nothing expires.
 *
 * @module
 */

import type { Answer, HistoryMessage, InputRequest, RunOptions } from '../../agents/contract.ts'
import type { Reader, Store, Transaction } from '../../stores/store.ts'
import type { RunNotices } from '../notices.ts'
import type { RetentionOf } from '../stored/retention-of.ts'
import type { Approver, Asking, DecidedRun } from './asking.ts'
import type { AnsweredBy, AnsweredRun, Notes, Waiting } from './waiting.ts'

/** Where runs wait. */
export interface WaitingRuns {
  asking(id: string): Promise<Asking | undefined>
  answer(
    id: string,
    viewer: string | null,
    answers: readonly Answer[],
    next: string,
    by: AnsweredBy,
  ): Promise<AnsweredRun>
}

/** Tasks of a protocol that ask, for whoever reads or answers them elsewhere. */
export interface AskingTasks {
  /** What a task asks, whoever owns it. Undefined for one that asks nothing, and for one that the asker may not know of. */
  asking(id: string, asker: Approver): Promise<Asking | undefined>
  /** Gives answers to a task that `asking` has given. Throws as `RunHost.answer` does. */
  answer(asking: Asking, given: GivenToTask): Promise<void>
  /** What was said in it, oldest first. */
  said(asking: Asking): Promise<readonly HistoryMessage[]>
}

/** Answers for a task, and what they come with. */
export interface GivenToTask {
  readonly answers: readonly Answer[]
  readonly options: RunOptions
  readonly secrets: readonly string[]
  readonly by: AnsweredBy
}

/** What of the plugin is made for a handler. */
export interface Approvals extends Notes {
  /** Set by the plugin of a protocol that has tasks. */
  tasks?: AskingTasks | undefined
  /** Milliseconds for which an approval may be decided. */
  readonly expiresMs: number
  /**
   * Whether the answers are those of another person than the owner. Throws `forbidden` for what they may not decide, and `missing`
   * where they may decide nothing of the run. Undefined: only the owner answers.
   */
  readonly admit?:
    | ((
        asking: Asking,
        answers: readonly Answer[],
        approver: Approver,
        missing: () => Error,
      ) => Promise<boolean>)
    | undefined
  /**
   * Decides for somebody other than the owner of a run; undefined, and nothing is done, where the owner answers. Throws as `admit`
   * and `RunHost.answer` do.
   */
  decide(
    host: WaitingRuns,
    asked: { readonly id: string; readonly answers: readonly Answer[] },
    approver: Approver,
    goOn: (next: NonNullable<AnsweredRun['next']>) => Promise<unknown>,
  ): Promise<DecidedRun | undefined>
  /**
   * Answers what a task asks, for its owner or for somebody else who may. Undefined, and nothing is done, where no task has this id.
   * Throws as `admit` and `AskingTasks.answer` do.
   */
  answerTask(id: string, given: GivenToTask, asker: Approver): Promise<DecidedRun | undefined>
  /** What somebody is told of a run or task that they have decided. `after` is what it asks then. */
  decided(
    asking: Asking,
    answers: readonly Answer[],
    after: Asking | undefined,
    approver: Approver,
  ): Promise<DecidedRun>
  /** The requests that somebody else may know of: those that they may decide. */
  known(asking: Asking, requests: readonly InputRequest[], approver: Approver): Promise<InputRequest[]>
  /** What a run or task asks; undefined for one that does not wait. */
  asking(tx: Reader, id: string): Asking | undefined
  /** The same, in the list of all objects. */
  tell(asking: Asking): Promise<void>
  /** Throws `approval_expired` for what no answer counts for any more. */
  check(waiting: Waiting, now: number): void
  /** Ends what has expired, or goes on with it, once. Never rejects. */
  expireRuns(
    host: WaitingRuns,
    kept: {
      readonly store: Store
      readonly keepMs: RetentionOf
      readonly notices?: RunNotices | undefined
    },
  ): Promise<void>
  /** The same for tasks. */
  expireTasks(tasks: ExpiringTasks): Promise<void>
}

/** Tasks that may have expired. */
export interface ExpiringTasks {
  readonly store: Store
  /** Fails a task that waits. */
  refuse(tx: Transaction, id: string, message: string): void
  /** Told of each that was, once that is written. */
  onRefused(id: string): void
  /** Gives it these answers. */
  answer(id: string, answers: readonly Answer[], waiting: Waiting): Promise<void>
}
