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
  /** Another one each time that the config is set. */
  readonly generation: string
  /** The last entry of the task's log that the receiver has. */
  readonly seq: number
  /** The end of the notice that is under way or has failed: it is told again as it was. */
  readonly upTo?: number | undefined
  /** Who works on it, until it is due. */
  readonly holder?: string | undefined
  /** How often in a row the receiver has failed. */
  readonly failures: number
  /** The receiver is given up. */
  readonly isDead: boolean
}

const idOf = (taskId: string, configId: string) => `${taskId}/${configId}`

const ALL = 1000

/** All of a task, in the order in which they came. */
export function readPushes(tx: Transaction, taskId: string): KeptPush[] {
  return tx
    .list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
    .map(({ value }) => value)
    .reverse()
}

/** One of them; undefined where there is none. */
export function findPush(tx: Transaction, taskId: string, configId: string): KeptPush | undefined {
  return tx.get<KeptPush>(PUSH, idOf(taskId, configId))?.value
}

/** One of them. Throws `task_not_found` where there is none. */
export function readPush(tx: Transaction, taskId: string, configId: string): KeptPush {
  const found = findPush(tx, taskId, configId)
  if (found !== undefined) return found
  throw new ServableError('task_not_found', 'The task has no such push notification config')
}

/** Adds a config, or replaces the one of its id: what comes after `seq` is told. Throws `invalid_params` past `max`. */
export function addPush(
  tx: Transaction,
  taskId: string,
  config: PushConfig,
  { seq, max }: { readonly seq: number; readonly max: number },
): KeptPush {
  const others = tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
  const before = others.find(({ id }) => id === idOf(taskId, config.id))
  if (before === undefined && others.length >= max) {
    throw new ServableError('invalid_params', `A task has ${max} push notification configs at the most`)
  }
  const kept = { taskId, config, generation: crypto.randomUUID(), seq, failures: 0, isDead: false }
  tx.put(PUSH, documentOf(kept, Date.now(), before?.at ?? Date.now() + others.length / ALL))
  return kept
}

/** Takes a config away; nothing where there is none. */
export function deletePush(tx: Transaction, taskId: string, configId: string): void {
  tx.delete(PUSH, idOf(taskId, configId))
}

/** Takes all of a task away. */
export function deletePushes(tx: Transaction, taskId: string): void {
  for (const { id } of tx.list(PUSH, { partition: taskId, limit: ALL })) tx.delete(PUSH, id)
}

/** Writes how far a config is, and when it is due again. The caller has looked whether it still is the one it read. */
export function savePush(tx: Transaction, kept: KeptPush, dueAt: number | undefined): void {
  const before = tx.get<KeptPush>(PUSH, idOf(kept.taskId, kept.config.id))
  if (before !== undefined) tx.put(PUSH, documentOf(kept, dueAt, before.at))
}

/** Makes those of a task due that are at rest: neither in anybody's hands, nor waiting for their next try, nor given up. */
export function markDue(tx: Transaction, taskId: string): void {
  for (const { value, expiresAt } of tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })) {
    if (expiresAt === undefined && !value.isDead) savePush(tx, value, Date.now())
  }
}

/** The moment at which the soonest config is due, of all tasks. */
export function nextDue(tx: Transaction): number | undefined {
  return tx.expired<KeptPush>(PUSH, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
}

/** Takes those in hand that are due, whoever had them before; `until` is when others may. */
export function claimDue(
  tx: Transaction,
  now: number,
  { holder, until, limit }: { readonly holder: string; readonly until: number; readonly limit: number },
): KeptPush[] {
  return tx.expired<KeptPush>(PUSH, now, limit).map(({ value }) => {
    const kept = { ...value, holder }
    savePush(tx, kept, until)
    return kept
  })
}

function documentOf(kept: KeptPush, dueAt: number | undefined, at: number): Document<KeptPush> {
  const { taskId, config } = kept
  return {
    id: idOf(taskId, config.id),
    partition: taskId,
    at,
    tags: {},
    value: kept,
    ...(dueAt !== undefined && { expiresAt: dueAt }),
  }
}
