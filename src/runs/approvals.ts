/**
 * What the plugin `approvals` does where runs and tasks wait. This file has the interface alone: without the plugin only the owner
 * of a run answers, and nothing expires.
 *
 * @module
 */

import type { Answer, InputRequest, Kind } from '../agents/contract.ts'
import type { Footing, Store, Transaction } from '../state/store.ts'
import type { RunHost } from './host.ts'
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
  /** The requests that somebody else may know of: those that they may decide. */
  known(asking: Asking, requests: readonly InputRequest[], approver: Approver): Promise<InputRequest[]>
  /** Writes what is still asked where lists find it; nothing where that is elsewhere. */
  note(tx: Transaction, asking: Asking, footing: Footing): void
  /** The same, in the list of all objects. */
  tell(asking: Asking): Promise<void>
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
