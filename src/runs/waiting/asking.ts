/**
 * What runs and tasks ask, and who decides it.
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
  readonly identity?:
    | { readonly id: string; readonly scopes?: readonly string[]; readonly keyId?: string }
    | undefined
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
