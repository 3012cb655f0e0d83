import { ServableError } from '../errors.ts'
import { partitionOf } from '../runs/record.ts'
import type { Transaction } from '../state/store.ts'
import { isInterruptedState, isTerminalState } from './model.ts'
import { forgetTask, type StoredTask, TASKS } from './task-record.ts'

/** How many of the oldest tasks are looked at to find one that may leave. */
const LOOK_AT = 100

/**
 * Lets the oldest ended task of a full partition go. Where clients have no identity they share a partition, and one must not
 * keep all others out: there, where none has ended, the oldest that waits for its client goes. Throws `too_many_runs` where
 * none may.
 */
export function makeRoom(tx: Transaction, partition: string, maxTasks: number): void {
  if (tx.count(TASKS, partition) < maxTasks) return
  const oldest = tx.oldest<StoredTask>(TASKS, LOOK_AT, partition)
  const ended = oldest.find(({ value }) => isTerminalState(value.status.state))
  const isShared = partition === partitionOf(null)
  const leaver = ended ?? (isShared ? oldest.find(isWaiting) : undefined)
  if (leaver !== undefined) return forgetTask(tx, leaver.id)
  throw new ServableError('too_many_runs', `${maxTasks} tasks are already open: finish or cancel one first`)
}

function isWaiting({ value }: { readonly value: StoredTask }): boolean {
  return !value.isAtWork && isInterruptedState(value.status.state)
}
