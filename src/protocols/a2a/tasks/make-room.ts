import { ServableError } from '../../../base/errors.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import type { Transaction } from '../../../stores/store.ts'
import { isInterruptedState, isTerminalState } from '../model.ts'
import { forgetTask, type StoredTask, TASKS } from './task-record.ts'

/** How many of the oldest tasks are searched for one that may be deleted. */
const LOOK_AT = 100

/**
 * Makes room for one more task in a full partition: deletes the oldest ended task. All clients without an identity share
 * one partition, and one client must not block the others. So if none of its tasks has ended, the oldest task that waits
 * for its client is deleted. Throws `too_many_runs` if no task may be deleted.
 */
export function makeRoom(tx: Transaction, partition: string, maxTasks: number): void {
  if (tx.count(TASKS, partition) < maxTasks) return
  const oldest = tx.oldest<StoredTask>(TASKS, LOOK_AT, partition)
  const ended = oldest.find(({ value }) => isTerminalState(value.status.state))
  const isShared = partition === partitionOf(null)
  const deletable = ended ?? (isShared ? oldest.find(isWaiting) : undefined)
  if (deletable !== undefined) return forgetTask(tx, deletable.id)
  throw new ServableError('too_many_runs', `${maxTasks} tasks are already open: finish or cancel one first`)
}

function isWaiting({ value }: { readonly value: StoredTask }): boolean {
  return !value.isAtWork && isInterruptedState(value.status.state)
}
