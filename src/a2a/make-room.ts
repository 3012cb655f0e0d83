import { ServableError } from '../errors.ts'
import type { Transaction } from '../state/store.ts'
import { isTerminalState } from './model.ts'
import { forgetTask, type StoredTask, TASKS } from './task-record.ts'

/** How many of the oldest tasks are looked at to find one that has ended. */
const LOOK_AT = 100

/** Lets the oldest ended task of a full partition go. Throws `too_many_runs` where the oldest ones have not ended. */
export function makeRoom(tx: Transaction, partition: string, maxTasks: number): void {
  if (tx.count(TASKS, partition) < maxTasks) return
  const oldest = tx.oldest<StoredTask>(TASKS, LOOK_AT, partition)
  const ended = oldest.find(({ value }) => isTerminalState(value.status.state))
  if (ended !== undefined) return forgetTask(tx, ended.id)
  throw new ServableError('too_many_runs', `${maxTasks} tasks are open already: end some of them first`)
}
