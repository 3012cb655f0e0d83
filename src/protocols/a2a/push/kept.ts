/**
 * The stored configs of tasks, each with the position of its receiver in the task's log.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import {
  listQueued,
  markDueOf,
  nextDueIn,
  putQueued,
  type Queue,
  type QueueEntry,
} from '../../../features/webhooks/delivery/queue.ts'
import type { Reader, Transaction } from '../../../stores/store.ts'
import { logOf } from '../tasks/task-body.ts'
import type { PushConfig } from './config.ts'

/** The collection of configs. The partition of a document is its task. A document expires when its config is due. */
export const PUSH = 'task-push'

/** A config with the position of its receiver. */
export interface KeptPush extends QueueEntry {
  readonly taskId: string
  readonly config: PushConfig
  /** The client whose share of deliveries the config uses. */
  readonly client?: string | undefined
  /** The last entry of the task's log that the receiver has received. */
  readonly seq: number
  /** The last entry of the notice that is being sent or has failed. The same notice is sent again. */
  readonly upTo?: number | undefined
}

const idOf = (taskId: string, configId: string) => `${taskId}/${configId}`

/** The queue of configs, in groups by their task. */
export const PUSHES: Queue<KeptPush> = {
  collection: PUSH,
  idOf: ({ taskId, config }) => idOf(taskId, config.id),
  groupOf: ({ taskId }) => taskId,
  evictionOf: ({ taskId }) => ({ thing: logOf(taskId) }),
}

/** Milliseconds between configs that were added in the same millisecond, so that their order is kept. */
const APART = 1 / 1000

/** Returns all configs of a task, oldest first. */
export function readPushes(tx: Reader, taskId: string): KeptPush[] {
  return listQueued(tx, PUSHES, taskId)
    .map(({ value }) => value)
    .reverse()
}

/** Returns a config. Throws `task_not_found` if there is none. */
export function readPush(tx: Reader, taskId: string, configId: string): KeptPush {
  const found = tx.get<KeptPush>(PUSH, idOf(taskId, configId))?.value
  if (found !== undefined) return found
  throw new ServableError('task_not_found', 'The task has no such push notification config')
}

/** Adds or replaces a config. Its receiver gets the entries after `seq`. Throws `invalid_params` past `max`. */
export function addPush(
  tx: Transaction,
  taskId: string,
  config: PushConfig,
  { seq, max, client }: { readonly seq: number; readonly max: number; readonly client: string | undefined },
): KeptPush {
  const others = listQueued(tx, PUSHES, taskId)
  const before = others.find(({ id }) => id === idOf(taskId, config.id))
  if (before === undefined && others.length >= max) {
    throw new ServableError('invalid_params', `A task may have at most ${max} push notification configs`)
  }
  const generation = crypto.randomUUID()
  const kept = { taskId, config, client, generation, seq, failures: 0, isDead: false }
  putQueued(tx, PUSHES, kept, { at: before?.at ?? tx.now + others.length * APART, dueAt: tx.now })
  return kept
}

/** Deletes a config, if it exists. */
export function deletePush(tx: Transaction, taskId: string, configId: string): void {
  tx.delete(PUSH, idOf(taskId, configId))
}

/** Deletes all configs of a task. */
export function deletePushes(tx: Transaction, taskId: string): void {
  for (const { id } of listQueued(tx, PUSHES, taskId)) tx.delete(PUSH, id)
}

/** Makes the idle configs of a task due: those that are not claimed, not waiting for their next try, and not given up. */
export function markDue(tx: Transaction, taskId: string): void {
  markDueOf(tx, PUSHES, taskId)
}

/** The earliest due time over all tasks. */
export function nextDue(tx: Reader): number | undefined {
  return nextDueIn(tx, PUSHES)
}
