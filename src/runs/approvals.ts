/**
 * What the plugin `approvals` does where runs and tasks wait. This file has the interface alone: without the plugin only the owner
 * of a run answers, and nothing expires.
 *
 * @module
 */

import type { Answer, InputRequest, Kind } from '../agents/contract.ts'
import type { Footing, Reader, Store, Transaction } from '../state/store.ts'
import type { AnsweredRun, RunHost } from './host.ts'
import type { RunRecord } from './record.ts'
import type { Waiting } from './waiting.ts'

/** The run or task that asks. */
export interface AskingRun {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  /** The identity that owns it; null where there is none. */
  readonly owner: string | null
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
  /** It is an A2A task: a message answers it. */
  readonly isTask?: true | undefined
}

/** What a run or task asks, without its work and its input. JSON. */
export interface Asking {
  readonly run: AskingRun
  readonly requests: readonly InputRequest[]
  /** The ids of those that nobody has answered. */
  readonly open: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When it expires, if it does. */
  readonly expiresAt?: number | undefined
}

/** Who answers. */
export interface Approver {
  /** As the transport has it; undefined where nobody is identified. */
  readonly identity?: { readonly id: string; readonly scopes?: readonly string[] } | undefined
  readonly ip: string | undefined
  readonly requestId?: string | undefined
}

/** What somebody other than the owner is told of a run that they have decided. */
export interface DecidedRun extends Pick<RunRecord, 'id' | 'kind' | 'name'> {
  /** Those that are open still and that they may decide. */
  readonly requests?: readonly InputRequest[]
  /** All is answered, and the run goes on. */
  readonly goesOn: boolean
  /** All is answered, and the run waits for its owner's key. */
  readonly resumable?: true
}

/** What of the plugin is made for a handler. */
export interface Approvals {
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
    host: RunHost,
    asked: { readonly id: string; readonly answers: readonly Answer[] },
    approver: Approver,
    goOn: (next: NonNullable<AnsweredRun['next']>) => Promise<unknown>,
  ): Promise<DecidedRun | undefined>
  /** The requests that somebody else may know of: those that they may decide. */
  known(asking: Asking, requests: readonly InputRequest[], approver: Approver): Promise<InputRequest[]>
  /** What a run or task asks; undefined for one that does not wait. */
  asking(tx: Reader, id: string): Asking | undefined
  /** Gives what waits with its expiry, and writes it where lists find it, unless that is elsewhere. */
  note(tx: Transaction, id: string, waiting: Waiting, footing: Footing): Waiting
  /** The same, in the list of all objects. */
  tell(asking: Asking): Promise<void>
  /** Throws `approval_expired` for what no answer counts for any more. */
  check(waiting: Waiting, now: number): void
  /** Ends what has expired, or goes on with it, once. Never rejects. */
  expireRuns(host: RunHost, kept: { readonly store: Store; readonly keepMs: number }): Promise<void>
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
