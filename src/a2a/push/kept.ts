/**
 * The configs of a task as they are kept beside it, each with how far its receiver has been told.
 *
 * @module
 */

import { ServableError } from '../../errors.ts'
import type { Document, Reader, Transaction } from '../../state/store.ts'
import { logOf } from '../log-name.ts'
import type { PushConfig } from './config.ts'

/** The collection of configs. A document's partition is its task; it expires when it is due. */
export const PUSH = 'task-push'

/** A config, and how far it is. */
export interface KeptPush {
  readonly taskId: string
  readonly config: PushConfig
  /** Whose places are taken to tell it. */
  readonly client?: string | undefined
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
export function readPushes(tx: Reader, taskId: string): KeptPush[] {
  return tx
    .list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
    .map(({ value }) => value)
    .reverse()
}

/** One of them; undefined where there is none. */
export function findPush(tx: Reader, taskId: string, configId: string): KeptPush | undefined {
  return tx.get<KeptPush>(PUSH, idOf(taskId, configId))?.value
}

/** One of them. Throws `task_not_found` where there is none. */
export function readPush(tx: Reader, taskId: string, configId: string): KeptPush {
  const found = findPush(tx, taskId, configId)
  if (found !== undefined) return found
  throw new ServableError('task_not_found', 'The task has no such push notification config')
}

/** Adds a config, or replaces the one of its id: what comes after `seq` is told. Throws `invalid_params` past `max`. */
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
  if (before !== undefined) put(tx, kept, dueAt, before.at)
}

/** Makes those of a task due that are at rest: neither in anybody's hands, nor waiting for their next try, nor given up. */
export function markDue(tx: Transaction, taskId: string): void {
  for (const { value, expiresAt } of tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })) {
    if (expiresAt === undefined && !value.isDead) savePush(tx, value, tx.now)
  }
}

/** The moment at which the soonest config is due, of all tasks. */
export function nextDue(tx: Reader): number | undefined {
  return tx.expired<KeptPush>(PUSH, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
}

/** How configs are taken in hand. */
export interface Claiming {
  readonly now: number
  readonly holder: string
  /** When others may take them. */
  readonly until: number
  /** The longest for which any config may have to wait. */
  readonly maxWaitMs: number
  /** Whether one may be told now. */
  readonly admits: (kept: KeptPush) => boolean
}

/** Takes those of a task in hand that are due and may be told, whoever had them before. */
export function claimDueOf(tx: Transaction, taskId: string, claiming: Claiming): KeptPush[] {
  const all = tx.list<KeptPush>(PUSH, { partition: taskId, limit: ALL })
  return claim(
    tx,
    all.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= claiming.now),
    claiming,
  )
}

/** The same, of the first `limit` that are due, of all tasks; `isAll` says that there are no more, and none is left. */
export function claimDue(
  tx: Transaction,
  limit: number,
  claiming: Claiming,
): { readonly claimed: KeptPush[]; readonly isAll: boolean } {
  const { now, maxWaitMs } = claiming
  const soonest = nextDue(tx) ?? now
  // None was to wait for so long: the clock has been set back since.
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
