/**
 * The inbox: the requests of each run and task as one document of a list. A local store writes it with the run. Durable Objects
 * send it to the one object that has the list.
 *
 * @module
 */

import type { InputRequest } from '../../agents/contract.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { type Page, readPage } from '../../runs/stored/page.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Asking, AskingRun } from '../../runs/waiting/asking.ts'
import {
  ASKING,
  openOf,
  WAITING,
  type Waiting,
  type Waiting as WaitingWork,
} from '../../runs/waiting/waiting.ts'
import type { Eviction, Reader, Store, Transaction } from '../../stores/store.ts'

/** The address of the list in Durable Objects. */
export const INBOX = 'approvals'

/** The kind of a request. */
export type RequestKind = InputRequest['kind']

/** A request in the inbox. */
export interface WaitingRequest {
  readonly request: InputRequest
  /** The run or task with the request. For the caller's own, `owner` is absent. */
  readonly run: Omit<AskingRun, 'owner'> & { readonly owner?: string | null }
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  /** The time after which nobody may decide it. Only for approvals. */
  readonly expiresAt?: string
}

/** Which runs and tasks to list, newest first. */
export interface InboxQuery {
  /** The owner; undefined for all. */
  readonly owner?: string | undefined
  readonly kind: RequestKind
  readonly cursor?: string | undefined
  /** Most runs and tasks. Each is listed with all of its requests of that kind. */
  readonly limit: number
}

/** The tags of runs and tasks with open requests of a kind. */
const TAGS = { approval: 'approval', question: 'question', client_tool: 'clientTool' } as const

/** The type of {@link INBOX_TRANSACTIONS}. */
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

/** The requests of a run or task. */
export function askingOf(id: string, waiting: WaitingWork): Asking {
  const { target, options, requests, isTask, at = 0, expiresAt } = waiting
  const { kind, name } = target
  const { identity: owner = null, userId, sessionId } = options
  const open = openOf(waiting).map(request => request.id)
  const run = { id, kind, name, owner, userId, sessionId, isTask }
  return { run, requests, open, createdAt: at, expiresAt }
}

/** Writes the open requests of a run or task. Deletes the document if there are none and nothing expires. */
export function putAsking(tx: Transaction, asking: Asking, eviction?: Eviction): void {
  const { run, open, createdAt: at, expiresAt } = asking
  const { id } = run
  if (open.length === 0 && expiresAt === undefined) return tx.delete(ASKING, id)
  const requests = asking.requests.filter(request => open.includes(request.id))
  const tags: Record<string, string> = { owner: partitionOf(run.owner) }
  for (const { kind } of requests) tags[TAGS[kind]] = 'yes'
  tx.put(ASKING, { id, partition: '', at, tags, value: { ...asking, requests }, expiresAt }, eviction)
}

/** The requests of a run or task, in the form for clients. */
export function waitingOf(
  { run, createdAt, expiresAt }: Asking,
  requests: readonly InputRequest[],
  isOwn: boolean,
): WaitingRequest[] {
  return requests.map(request => ({
    request,
    run: runOf(run, isOwn),
    ...momentsOf({ createdAt, expiresAt: request.kind === 'approval' ? expiresAt : undefined }),
  }))
}

/** The run or task. For the caller's own, `owner` is absent. */
export function runOf({ owner, ...others }: AskingRun, isOwn: boolean): WaitingRequest['run'] {
  return isOwn ? others : { ...others, owner }
}

/** The begin and end of its wait, in the form for clients. */
export function momentsOf({
  createdAt,
  expiresAt,
}: Pick<Asking, 'createdAt' | 'expiresAt'>): Pick<WaitingRequest, 'createdAt' | 'expiresAt'> {
  return {
    createdAt: new Date(createdAt).toISOString(),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

/** Most waiting runs and tasks to read: the oldest. Each is read with its work. */
const MOST = 1000

/** Adds runs and tasks to the inbox that waited before the plugin was used. Never rejects. */
export async function adoptWaiting(store: Store): Promise<void> {
  try {
    const isListed = await store.read(tx => tx.count(ASKING) > 0 || tx.count(WAITING) === 0)
    if (isListed) return
    await store.write(tx => {
      for (const { id, value } of tx.oldest<Waiting>(WAITING, MOST)) putAsking(tx, askingOf(id, value))
    })
  } catch {
    // They can be answered even if they are not listed.
  }
}
