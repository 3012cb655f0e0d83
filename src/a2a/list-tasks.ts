import type { Viewer } from '../runs/host.ts'
import { readPage } from '../runs/page.ts'
import { partitionOf } from '../runs/record.ts'
import type { Transaction } from '../state/store.ts'
import type { ListRequest } from './model.ts'
import { type StoredTask, TASKS } from './task-record.ts'

/** A page of tasks as their light documents. */
export interface StoredPage {
  readonly tasks: readonly StoredTask[]
  readonly nextPageToken: string
  readonly totalSize: number
}

/** A page of an owner's tasks, newest status first. Throws `invalid_query` for a token that is none. */
export function listTasks(tx: Transaction, owner: Viewer, request: ListRequest): StoredPage {
  const { contextId, state, pageSize, pageToken, updatedAfter } = request
  const tags: Record<string, string> = {}
  if (contextId !== undefined) tags.contextId = contextId
  if (state !== undefined) tags.state = state
  const filter = { partition: partitionOf(owner), tags, since: updatedAfter }
  const where = { cursor: pageToken || undefined, limit: pageSize }
  const { values, next = '' } = readPage<StoredTask>(tx, TASKS, filter, where)
  return { tasks: values, nextPageToken: next, totalSize: tx.countMatching(TASKS, filter) }
}
