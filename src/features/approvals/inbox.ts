/**
 * The inbox: what runs and tasks ask, each in one document of a list. A local store writes it with the run. Objects tell it to the
 * object of one place.
 *
 * @module
 */

import type { InputRequest } from '../../agents/contract.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { type Page, readPage } from '../../runs/stored/page.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Asking, AskingRun } from '../../runs/waiting/asking.ts'
import { ASKING, openOf, type Waiting as WaitingWork } from '../../runs/waiting/waiting.ts'
import type { Footing, Reader, Transaction } from '../../stores/store.ts'

/** The place of the list, where objects have it. */
export const INBOX = 'approvals'

/** What is asked for. */
export type RequestKind = InputRequest['kind']

/** A request in the inbox. */
export interface Waiting {
  readonly request: InputRequest
  /** The run or task that asks. Of the caller's own it says no owner. */
  readonly run: Omit<AskingRun, 'owner'> & { readonly owner?: string | null }
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  /** Of an approval: from then on nobody may decide it. */
  readonly expiresAt?: string
}

/** Which runs and tasks to list, newest first. */
export interface InboxQuery {
  /** Whose; undefined for all. */
  readonly owner?: string | undefined
  readonly kind: RequestKind
  readonly cursor?: string | undefined
  /** Most runs and tasks: each with all of its requests of that kind. */
  readonly limit: number
}

/** The tag of those that ask such a thing. */
const TAGS = { approval: 'approval', question: 'question', client_tool: 'clientTool' } as const

/** See {@link INBOX_TRANSACTIONS}. */
export interface InboxTransactions extends Transactions {
  readonly reads: { readonly list: (tx: Reader, query: InboxQuery) => Page<Asking> }
  readonly writes: { readonly put: (tx: Transaction, asking: Asking) => void }
}

/** The transactions of the list. */
export const INBOX_TRANSACTIONS: InboxTransactions = {
  reads: {
    list(tx, { owner, kind, ...page }) {
      const tags = { [TAGS[kind]]: 'yes', ...(owner !== undefined && { owner: partitionOf(owner) }) }
      return readPage<Asking>(tx, ASKING, { partition: '', tags }, page)
    },
  },
  writes: { put: (tx, asking) => putAsking(tx, asking) },
}

/** What a run or task asks. */
export function askingOf(id: string, waiting: WaitingWork): Asking {
  const { target, options, requests, isTask, at = 0, expiresAt } = waiting
  const { kind, name } = target
  const { identity: owner = null, userId, sessionId } = options
  const open = openOf(waiting).map(request => request.id)
  const run = { id, kind, name, owner, userId, sessionId, isTask }
  return { run, requests, open, createdAt: at, expiresAt }
}

/** Writes what is still asked; what asks nothing any more, and is not to be looked at, leaves. */
export function putAsking(tx: Transaction, asking: Asking, footing?: Footing): void {
  const { run, open, createdAt: at, expiresAt } = asking
  const { id } = run
  if (open.length === 0 && expiresAt === undefined) return tx.delete(ASKING, id)
  const requests = asking.requests.filter(request => open.includes(request.id))
  const tags: Record<string, string> = { owner: partitionOf(run.owner) }
  for (const { kind } of requests) tags[TAGS[kind]] = 'yes'
  tx.put(ASKING, { id, partition: '', at, tags, value: { ...asking, requests }, expiresAt }, footing)
}

/** The requests of a run or task, as clients read them. */
export function waitingOf(
  { run, createdAt, expiresAt }: Asking,
  requests: readonly InputRequest[],
  isOwn: boolean,
): Waiting[] {
  return requests.map(request => ({
    request,
    run: runOf(run, isOwn),
    ...momentsOf({ createdAt, expiresAt: request.kind === 'approval' ? expiresAt : undefined }),
  }))
}

/** The run or task. Of the caller's own it says no owner. */
export function runOf({ owner, ...others }: AskingRun, isOwn: boolean): Waiting['run'] {
  return isOwn ? others : { ...others, owner }
}

/** Since when it asks, and until when, as clients read it. */
export function momentsOf({
  createdAt,
  expiresAt,
}: Pick<Asking, 'createdAt' | 'expiresAt'>): Pick<Waiting, 'createdAt' | 'expiresAt'> {
  return {
    createdAt: new Date(createdAt).toISOString(),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  }
}
