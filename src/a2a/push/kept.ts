/**
 * The stored configs of tasks, each with the position of its receiver in the task's log.
 *
 * @module
 */

import { ServableError } from '../../errors.ts'
import type { Document, Reader, Transaction } from '../../state/store.ts'
import { logOf } from '../log-name.ts'
import type { PushConfig } from './config.ts'

/** The collection of configs. The partition of a document is its task. A document expires when its config is due. */
export const PUSH = 'task-push'

/** A config with the position of its receiver. */
export interface KeptPush {
  readonly taskId: string
  readonly config: PushConfig
  /** The client whose share of deliveries the config uses. */
  readonly client?: string | undefined
  /** Changes each time that the config is set. */
  readonly generation: string
  /** The last entry of the task's log that the receiver has received. */
  readonly seq: number
  /** The last entry of the notice that is being sent or has failed. The same notice is sent again. */
  readonly upTo?: number | undefined
  /** The worker that has claimed the config. The claim ends when the config is due. */
  readonly holder?: string | undefined
  /** Failures in a row. */
  readonly failures: number
  /** Whether the receiver gets no more notifications. */
  readonly isDead: boolean
}

const idOf = (taskId: string, configId: string) => `${taskId}/${configId}`

const ALL = 1000

/** Returns all configs of a task, oldest first. */
export function readPushes(tx: Reader, taskId: string): KeptPush[] {
  return tx
    .list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
    .map(({ value }) => value)
    .reverse()
}

/** Returns a config. Undefined if there is none. */
export function findPush(tx: Reader, taskId: string, configId: string): KeptPush | undefined {
  return tx.get<KeptPush>(PUSH, idOf(taskId, configId))?.value
}

/** Returns a config. Throws `task_not_found` if there is none. */
export function readPush(tx: Reader, taskId: string, configId: string): KeptPush {
  const found = findPush(tx, taskId, configId)
  if (found !== undefined) return found
  throw new ServableError('task_not_found', 'The task has no such push notification config')
}

/** Adds or replaces a config. Its receiver gets what comes after `seq`. Throws `invalid_params` past `max`. */
export function addPush(
  tx: Transaction,
  taskId: string,
  config: PushConfig,
  { seq, max, client }: { readonly seq: number; readonly max: number; readonly client: string | undefined },
): KeptPush {
  const others = tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
  const before = others.find(({ id }) => id === idOf(taskId, config.id))
  if (before === undefined && others.length >= max) {
    throw new ServableError('invalid_params', `A task may have at most ${max} push notification configs`)
  }
  const generation = crypto.randomUUID()
  const kept = { taskId, config, client, generation, seq, failures: 0, isDead: false }
  put(tx, kept, tx.now, before?.at ?? tx.now + others.length / ALL)
  return kept
}

/** Deletes a config, if it exists. */
export function deletePush(tx: Transaction, taskId: string, configId: string): void {
  tx.delete(PUSH, idOf(taskId, configId))
}

/** Deletes all configs of a task. */
export function deletePushes(tx: Transaction, taskId: string): void {
  for (const { id } of tx.list(PUSH, { partition: taskId, limit: ALL })) tx.delete(PUSH, id)
}

/**
 * Writes the position of a config and the time when it is due. The caller checks before that the config has not changed.
 */
export function savePush(tx: Transaction, kept: KeptPush, dueAt: number | undefined): void {
  const before = tx.get<KeptPush>(PUSH, idOf(kept.taskId, kept.config.id))
  if (before !== undefined) put(tx, kept, dueAt, before.at)
}

/** Makes the idle configs of a task due: those that are not claimed, not waiting for their next try, and not given up. */
export function markDue(tx: Transaction, taskId: string): void {
  for (const { value, expiresAt } of tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })) {
    if (expiresAt === undefined && !value.isDead) savePush(tx, value, tx.now)
  }
}

/** The earliest due time over all tasks. */
export function nextDue(tx: Reader): number | undefined {
  return tx.expired<KeptPush>(PUSH, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
}

/** How configs are claimed. */
export interface Claiming {
  readonly now: number
  readonly holder: string
  /** When the claim ends and others may claim the config. */
  readonly until: number
  /** The longest time that any config may have to wait. */
  readonly maxWaitMs: number
  /** Whether a notification of this config may be sent now. */
  readonly admits: (kept: KeptPush) => boolean
}

/** Claims the configs of a task that are due and may be sent, even if another worker had them before. */
export function claimDueOf(tx: Transaction, taskId: string, claiming: Claiming): KeptPush[] {
  const all = tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
  return claim(
    tx,
    all.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= claiming.now),
    claiming,
  )
}

/** Claims from the first `limit` configs that are due, over all tasks. `isAll` says that everything due is claimed. */
export function claimDue(
  tx: Transaction,
  limit: number,
  claiming: Claiming,
): { readonly claimed: KeptPush[]; readonly isAll: boolean } {
  const { now, maxWaitMs } = claiming
  const soonest = nextDue(tx) ?? now
  // No config may wait for so long, so the clock has been set back. All configs count as due.
  const until = soonest > now + maxWaitMs ? Number.MAX_SAFE_INTEGER : now
  const due = tx.expired<KeptPush>(PUSH, until, limit)
  const claimed = claim(tx, due, claiming)
  return { claimed, isAll: due.length < limit && claimed.length === due.length }
}

function claim(
  tx: Transaction,
  due: readonly Document<KeptPush>[],
  { holder, until, admits }: Claiming,
): KeptPush[] {
  return due.flatMap(({ value }) => {
    if (!admits(value)) return []
    const kept = { ...value, holder }
    savePush(tx, kept, until)
    return [kept]
  })
}

function put(tx: Transaction, kept: KeptPush, dueAt: number | undefined, at: number): void {
  const { taskId, config } = kept
  const document: Document<KeptPush> = {
    id: idOf(taskId, config.id),
    partition: taskId,
    at,
    tags: {},
    value: kept,
    ...(dueAt !== undefined && { expiresAt: dueAt }),
  }
  tx.put(PUSH, document, { thing: logOf(taskId) })
}
