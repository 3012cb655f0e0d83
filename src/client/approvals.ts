import type { InputRequest } from '../agents/contract.ts'
import type { WaitingRequest } from '../features/approvals/inbox.ts'
import type { ApprovalDetail } from '../features/approvals/service.ts'
import type { InboxEvent } from '../features/approvals/watch.ts'
import type { ClientCaller } from './call.ts'
import { watch } from './metrics.ts'
import type { CallOptions } from './options.ts'
import { leavable } from './reconnect.ts'
import type { ContinuedRun, RunsClient } from './runs.ts'
import { queryOf, segment } from './sent.ts'

/** Selects requests by their kind and owner. */
export interface InboxFilter {
  /** The kind of the requests. Default: `approval`. */
  readonly kind?: InputRequest['kind']
  /** Requests of the caller's own runs, or of others' runs that the caller may decide. Default: `mine`. */
  readonly whose?: 'mine' | 'others'
}

/** A decision. */
export interface Decision {
  readonly decision: 'approve' | 'deny'
  /** The reason, which a model gets. */
  readonly reason?: string
  /** Arguments that replace those of the request, if it is `editable`. */
  readonly editedArgs?: unknown
}

/** The result of a decision. */
export interface Decided {
  /** Whether the run continues, because all of its requests are answered. */
  readonly goesOn: boolean
  /** The run that continues, if it is the caller's. */
  readonly next: ContinuedRun | undefined
  /** The requests that are still open. */
  readonly requests?: readonly InputRequest[] | undefined
  /** Given if all requests are answered, and the run waits for its owner's key. */
  readonly resumable?: true | undefined
}

/** A page of waiting requests. */
export interface ApprovalPage {
  readonly approvals: readonly WaitingRequest[]
  /** The cursor of the next page. Null on the last page only. */
  readonly nextCursor: string | null
}

/** The requests that wait for a person, if the service has the plugin `approvals`. */
export interface ApprovalsClient {
  /** A page, newest first. A page may be short or empty. If it has a `nextCursor`, there may be more. */
  list(
    query?: InboxFilter & { readonly limit?: number; readonly cursor?: string },
    options?: CallOptions,
  ): Promise<ApprovalPage>
  /**
   * The requests of a run or task, with the messages before them. Its owner gets all requests, and others those that they may
   * decide. `id` is the `run.id` of the list. Rejects with `run_not_found` if there is nothing that the caller may decide.
   */
  get(id: string, options?: CallOptions): Promise<ApprovalDetail>
  /**
   * Decides an approval of a run or task as it was listed. Rejects with `request_changed` if the request has changed since.
   *
   * @example
   * const { approvals } = await client.approvals.list({ whose: 'others' })
   * for (const each of approvals) await client.approvals.decide(each, { decision: 'approve' })
   */
  decide(
    approval: Pick<WaitingRequest, 'request' | 'run'>,
    decision: Decision,
    options?: CallOptions,
  ): Promise<Decided>
  /**
   * Yields all waiting requests, and then each request that is added or removed, until the loop ends. After a lost connection it
   * begins again with all waiting requests.
   */
  watch(query?: InboxFilter, options?: CallOptions): AsyncIterableIterator<InboxEvent>
}

/** Makes the part of a client for approvals. */
export function createApprovals(caller: ClientCaller, { answer }: RunsClient): ApprovalsClient {
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
