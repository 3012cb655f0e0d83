/**
 * A request of a client, and what is needed to answer it.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import type { RequestState, Route } from '../../http/context.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import type { Offer, Offered } from './offer.ts'
import type { Fields, Id } from './rpc.ts'
import type { Seal } from './seal.ts'
import type { SessionCalls } from './sessions.ts'

/** A request of a client. */
export interface McpRequest {
  readonly id: Id
  readonly params: Fields
  readonly request: Request
  readonly state: RequestState
  /** What the client can do; undefined in revisions in which requests do not say. */
  readonly capabilities: Fields | undefined
  /** Puts a result into its envelope. */
  readonly answer: (result: object) => object
}

/** What calls need. */
export interface CallParts {
  readonly core: Core
  readonly offer: Offer
  readonly seal: Seal
  readonly tasks: McpTasks | undefined
  readonly sessions: SessionCalls
}

/** What is done of a method. */
export type Method = (rpc: McpRequest, parts: CallParts) => Promise<object> | object

/** Tasks, as the plugin uses them. */
export interface McpTasks {
  readonly afterMs: number
  readonly extensions: Fields
  readonly methods: Readonly<Record<string, Method>>
  /** Whether a call may become a task. Throws where it must, and cannot. */
  takes(rpc: McpRequest, tool: Offered, core: Core): boolean
  /** The answer to a call that has become one. */
  created(
    record: RunRecord,
    kept: { readonly core: Pick<Core, 'runs'>; readonly owner: string | null },
  ): object
}

/** Lets those in who may call. */
export interface Guard {
  /** Throws `unauthorized` and `forbidden`. */
  check(request: Request, state: RequestState): Promise<void>
  /** Says in the answer to a stranger where tokens come from. */
  challenge(answer: Response): Response
  readonly routes: readonly Route[]
  readonly decidesItself: boolean
}

/** Who may call, as the plugin uses it. */
export interface McpAuth {
  guard(path: string, core: Pick<Core, 'publicUrl'>): Guard
}
