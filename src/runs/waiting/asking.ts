/**
 * The requests of runs and tasks, and who decides them.
 *
 * @module
 */

import type { InputRequest, Kind } from '../../agents/contract.ts'
import type { RunRecord } from '../stored/record.ts'

/** The run or task that asks. */
export interface AskingRun {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  /** The identity that owns it; null if there is none. */
  readonly owner: string | null
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
  /** Set for an A2A task, which a message answers. */
  readonly isTask?: true | undefined
}

/** The requests of a run or task, without its work and its input. JSON. */
export interface Asking {
  readonly run: AskingRun
  readonly requests: readonly InputRequest[]
  /** The ids of the requests without an answer. */
  readonly open: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When it expires, in milliseconds since 1970; undefined if never. */
  readonly expiresAt?: number | undefined
}

/** The caller that answers. */
export interface Approver {
  /** The identity from the transport; undefined if nobody is identified. */
  readonly identity?:
    | {
        readonly id: string
        readonly tenant?: string
        readonly scopes?: readonly string[]
        readonly roles?: readonly string[]
        readonly keyId?: string
      }
    | undefined
  readonly ip: string | undefined
  readonly requestId?: string | undefined
}

/** The response for somebody other than the owner who has decided a run. */
export interface DecidedRun extends Pick<RunRecord, 'id' | 'kind' | 'name'> {
  /** The open requests that they may decide. */
  readonly requests?: readonly InputRequest[]
  /** Whether every request has an answer and the run goes on. */
  readonly goesOn: boolean
  /** Set if every request has an answer and the run waits for its owner's key. */
  readonly resumable?: true
}
