/**
 * The index object of tasks: the list of an owner's tasks, and the slots of the tasks at work.
 *
 * @module
 */

import type { Reach } from '../../../core/hosted.ts'
import { type Calls, objectCalls, type Transactions } from '../../../core/transaction-calls.ts'
import { takeSlot, type WorkBounds } from '../../../runs/admission.ts'
import type { Viewer } from '../../../runs/stored/host.ts'
import { idsOf, partitionOf } from '../../../runs/stored/record.ts'
import type { Reader, Transaction } from '../../../stores/store.ts'
import type { ListRequest } from '../model.ts'
import { listTasks, type StoredPage } from './list-tasks.ts'
import type { TaskViewer } from './task-host.ts'
import { AT_WORK, makeRoom, type StoredTask, TASKS, toDocument } from './task-record.ts'

/** The name of the object services of tasks, which is the plugin's name. */
export const TASK_SERVICE = 'a2a'

/** A task whose agent is about to start. */
export interface AdmittedTask {
  readonly id: string
  readonly owner: Viewer
  /** The client that the task counts against. */
  readonly client: string
  readonly isNew: boolean
}

/** Limits: how many tasks may be stored, how many may be at work, and for how long. */
export interface TaskBounds extends WorkBounds {
  readonly maxTasksPerOwner: number
  /** Milliseconds after which a task at work has certainly ended, even if its object has not reported it. */
  readonly endsInMs: number
}

/** The transactions of an index object of tasks. */
export interface TaskIndex extends Transactions {
  readonly reads: {
    readonly list: (tx: Reader, viewer: TaskViewer, request: ListRequest) => StoredPage
    /** Returns the ids that a reference in the log may mean. */
    readonly idsOf: (tx: Reader, reference: string) => readonly string[]
  }
  readonly writes: {
    /**
     * Takes a slot for a task at work. Returns false if the task has one already. Throws `too_many_runs` if the owner has
     * too many tasks, or the client too many at work.
     */
    readonly admit: (tx: Transaction, task: AdmittedTask, bounds: TaskBounds) => boolean
    /** Frees the slot of a task whose agent is not at work after all. */
    readonly rest: (tx: Transaction, id: string) => void
    readonly update: (tx: Transaction, task: StoredTask, expiresAt: number | undefined) => void
    readonly remove: (tx: Transaction, id: string) => void
  }
}

/** The transactions of an index object. */
export const TASK_INDEX: TaskIndex = {
  reads: {
    list: listTasks,
    idsOf: (tx, reference) => idsOf(tx, TASKS, reference),
  },
  writes: {
    admit(tx, { id, owner, client, isNew }, { maxTasksPerOwner, endsInMs, ...bounds }) {
      // A task that is removed from the list stays in its own object until it expires there.
      if (isNew) makeRoom(tx, partitionOf(owner), maxTasksPerOwner)
      if (tx.get(AT_WORK, id) !== undefined) return false
      const at = tx.now
      takeSlot(
        tx,
        AT_WORK,
        { id, partition: client, at, tags: {}, value: '', expiresAt: at + endsInMs },
        bounds,
      )
      return true
    },
    rest: (tx, id) => tx.delete(AT_WORK, id),
    update(tx, task, expiresAt) {
      tx.put(TASKS, toDocument(task, expiresAt))
      if (!task.isAtWork) tx.delete(AT_WORK, task.id)
    },
    remove(tx, id) {
      tx.delete(TASKS, id)
      tx.delete(AT_WORK, id)
    },
  },
}

/** Calls of the index of an owner, whose address is `partitionOf(owner)`. */
export function taskIndexAt(reach: Reach): Calls<TaskIndex> {
  return objectCalls((address, service) => reach('index', address, service), TASK_SERVICE, TASK_INDEX)
}
