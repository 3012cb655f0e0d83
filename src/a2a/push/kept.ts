/**
 * The configs of a task as they are kept beside it, each with how far its receiver has been told.
 *
 * @module
 */

import { ServableError } from '../../errors.ts'
import type { Document, Transaction } from '../../state/store.ts'
import type { PushConfig } from './config.ts'

/** The collection of configs. A document's partition is its task; it expires when it is due. */
export const PUSH = 'task-push'

/** A config, and how far it is. */
export interface KeptPush {
  readonly taskId: string
  readonly config: PushConfig
  /** The last entry of the task's log that the receiver has. */
  readonly seq: number
  /** How often in a row the receiver has failed. */
  readonly failures: number
  /** The receiver is given up. */
  readonly isDead: boolean
}

const idOf = (taskId: string, configId: string) => `${taskId}/${configId}`

/** All of a task, in the order in which they came. */
export function readPushes(tx: Transaction, taskId: string): KeptPush[] {
  return tx
    .list<KeptPush>(PUSH, { partition: taskId, limit: 1000 })
    .map(({ value }) => value)
    .reverse()
}

/** One of them. Throws `task_not_found` where there is none. */
export function readPush(tx: Transaction, taskId: string, configId: string): KeptPush {
  const found = tx.get<KeptPush>(PUSH, idOf(taskId, configId))
  if (found !== undefined) return found.value
  throw new ServableError('task_not_found', 'The task has no such push notification config')
}

/** Adds a config, or replaces the one of its id: what comes after `seq` is told. Throws `invalid_params` past `max`. */
export function addPush(
  tx: Transaction,
  taskId: string,
  config: PushConfig,
  { seq, max }: { readonly seq: number; readonly max: number },
): KeptPush {
  const others = tx.list<KeptPush>(PUSH, { partition: taskId, limit: 1000 })
  const before = others.find(({ id }) => id === idOf(taskId, config.id))
  if (before === undefined && others.length >= max) {
    throw new ServableError('invalid_params', `A task has ${max} push notification configs at the most`)
  }
  const kept = { taskId, config, seq, failures: 0, isDead: false }
  tx.put(PUSH, { ...documentOf(kept, undefined), at: before?.at ?? Date.now() + others.length / 1000 })
  return kept
}

/** Takes a config away; nothing where there is none. */
export function deletePush(tx: Transaction, taskId: string, configId: string): void {
  tx.delete(PUSH, idOf(taskId, configId))
}

/** Takes all of a task away. */
export function deletePushes(tx: Transaction, taskId: string): void {
  for (const { id } of tx.list(PUSH, { partition: taskId, limit: 1000 })) tx.delete(PUSH, id)
}

/** Writes how far a config is, and when it is due again; nothing where it has been taken away or replaced meanwhile. */
export function savePush(tx: Transaction, kept: KeptPush, dueAt: number | undefined): void {
  const before = tx.get<KeptPush>(PUSH, idOf(kept.taskId, kept.config.id))
  if (before === undefined || JSON.stringify(before.value.config) !== JSON.stringify(kept.config)) return
  tx.put(PUSH, { ...documentOf(kept, dueAt), at: before.at })
}

/** The moment at which the soonest config is due, of all tasks. */
export function nextDue(tx: Transaction): number | undefined {
  return tx.expired<KeptPush>(PUSH, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
}

/** Those that are due; `until` is when they are due again, should whoever works on them be gone by then. */
export function claimDue(tx: Transaction, now: number, until: number, limit: number): KeptPush[] {
  const due = tx.expired<KeptPush>(PUSH, now, limit)
  for (const { value } of due) savePush(tx, value, until)
  return due.map(({ value }) => value)
}

function documentOf(kept: KeptPush, dueAt: number | undefined): Document<KeptPush> {
  const { taskId, config } = kept
  return {
    id: idOf(taskId, config.id),
    partition: taskId,
    at: Date.now(),
    tags: {},
    value: kept,
    ...(dueAt !== undefined && { expiresAt: dueAt }),
  }
}
