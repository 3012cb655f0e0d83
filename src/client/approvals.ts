import type { InputRequest } from '../agents/contract.ts'
import type { ApprovalDetail } from '../features/approvals/detail.ts'
import type { Waiting } from '../features/approvals/inbox.ts'
import type { InboxEvent } from '../features/approvals/watch.ts'
import type { Caller } from './call.ts'
import { watch } from './metrics.ts'
import type { CallOptions } from './options.ts'
import { leavable } from './reconnect.ts'
import type { ContinuedRun, RunsClient } from './runs.ts'
import { queryOf, segment } from './sent.ts'

/** Which requests: of which kind, and whose. */
export interface InboxFilter {
  /** Default: `approval`. */
  readonly kind?: InputRequest['kind']
  /** The caller's own, or those of others that the caller may decide. Default: `mine`. */
  readonly whose?: 'mine' | 'others'
}

/** A decision. */
export interface Decision {
  readonly decision: 'approve' | 'deny'
  /** Why; a model is told. */
  readonly reason?: string
  /** The arguments instead of those asked for, where the request is `editable`. */
  readonly editedArgs?: unknown
}

/** What came of a decision. */
export interface Decided {
  /** All is answered, and the run goes on. */
  readonly goesOn: boolean
  /** The run that goes on, if it is the caller's. */
  readonly next: ContinuedRun | undefined
  /** What is left of it. */
  readonly requests?: readonly InputRequest[] | undefined
  /** All is answered, and the run waits for its owner's key. */
  readonly resumable?: true | undefined
}

/** A page of what waits. */
export interface ApprovalPage {
  readonly approvals: readonly Waiting[]
  /** Gives the next page; null at the end, and only there. */
  readonly nextCursor: string | null
}

/** What waits for a person, if the service has the plugin `approvals`. */
export interface ApprovalsClient {
  /** A page, newest first. A page may be short or empty. If it has a `nextCursor`, there may be more. */
  list(
    query?: InboxFilter & { readonly limit?: number; readonly cursor?: string },
    options?: CallOptions,
  ): Promise<ApprovalPage>
  /**
   * What a run or task asks, with what was said before it: to its owner all of it, to somebody else what they may decide. `id` is the
   * `run.id` of the list. Rejects with `run_not_found` if there is nothing that the caller may decide.
   */
  get(id: string, options?: CallOptions): Promise<ApprovalDetail>
  /**
   * Decides an approval of a run or task as it was listed. If it is another one by now, this rejects with `request_changed`.
   *
   * @example
   * const { approvals } = await client.approvals.list({ whose: 'others' })
   * for (const each of approvals) await client.approvals.decide(each, { decision: 'approve' })
   */
  decide(
    approval: Pick<Waiting, 'request' | 'run'>,
    decision: Decision,
    options?: CallOptions,
  ): Promise<Decided>
  /**
   * First all that waits, then what comes and what goes, until the loop is left. After a lost connection it begins again with all that
   * waits.
   */
  watch(query?: InboxFilter, options?: CallOptions): AsyncIterableIterator<InboxEvent>
}

/** Makes the part of a client for approvals. */
export function createApprovals(caller: Caller, { answer }: RunsClient): ApprovalsClient {
  const path = (query?: InboxFilter) => `/approvals${queryOf(query)}`
  return {
    list: async (query, options) => caller.ask(path(query), options),
    get: async (id, options) => caller.ask(`/approvals/${segment(id)}`, options),
    async decide({ request: { id, digest }, run }, decision, options) {
      const { record, next } = await answer(run.id, [{ ...decision, id, digest }], options)
      return { goesOn: next !== undefined, ...record, next }
    },
    watch: (query, options) => leavable(caller.open, options, call => watch(call, path(query))),
  }
}
