/**
 * How a task is stored: a small document for lists, a body with its messages and artifacts, and a log of its changes.
 *
 * @module
 */

import type { Kind } from '../../../agents/contract.ts'
import { Fold } from '../../../agents/fold.ts'
import { ServableError } from '../../../base/errors.ts'
import { slotOf } from '../../../runs/admission.ts'
import { checkPermit } from '../../../runs/permit.ts'
import { forgetJournal } from '../../../runs/stored/journal.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import type { TakeoverKind } from '../../../runs/stored/takeover.ts'
import { dropWaiting } from '../../../runs/waiting/waiting.ts'
import { sizeOf, sizeOfText } from '../../../stores/size.ts'
import type { Document, Eviction, EvictionOrder, Tags, Transaction } from '../../../stores/store.ts'
import { type Skill, skillId } from '../cards/skills.ts'
import { isInterruptedState, isTerminalState, type Message, type Task, type TaskStatus } from '../model.ts'
import { deletePushes } from '../push/kept.ts'
import { BODIES, logOf, type TaskBody, type TaskGathering } from './task-body.ts'
import type { FoundTask, TaskSettings, TaskView } from './task-host.ts'
import type { TaskViews } from './task-views.ts'

/** The collection of the small documents. */
export const TASKS = 'task'
/** The collection of tasks at work. */
export const AT_WORK = 'task-at-work'

/** The small document of a task. */
export interface StoredTask {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  /** The kind of the servable. Undefined: an agent. */
  readonly kind?: Kind | undefined
  /** The name of the servable. */
  readonly agent: string
  readonly owner: string | null
  readonly tenant?: string | undefined
  readonly isAtWork: boolean
  readonly instance: string
  /** How many messages the agent has received. */
  readonly turns: number
  /** The run of its last turn. Tasks of earlier versions do not have it. */
  readonly runId?: string | undefined
  /** Whether it waits in the line of the plugin `queue`. */
  readonly isQueued?: true | undefined
}

/** The servable that works on a task. */
export function skillOf({ kind = 'agent', agent }: Pick<StoredTask, 'kind' | 'agent'>): Skill {
  return { kind, name: agent }
}

/** Returns the task if the caller may change it. Throws `insufficient_scope`. */
export function permitted(task: StoredTask, only: readonly string[] | undefined): StoredTask {
  checkPermit(only, skillOf(task))
  return task
}

/** Converts a task for an administrator. */
export function toFound(task: StoredTask): FoundTask {
  const { id, contextId, owner, tenant, status } = task
  const { state, timestamp } = status
  const agent = skillId(skillOf(task))
  return {
    id,
    contextId,
    agent,
    owner,
    ...(tenant !== undefined && { tenant }),
    status: { state, timestamp },
  }
}

/** The error for a task that does not exist, or belongs to another owner. */
export function taskNotFound(): ServableError {
  return new ServableError('task_not_found', 'Task not found')
}

/** Makes the document of a task. Lists are sorted by the time of the status, newest first. */
export function toDocument(task: StoredTask, expiresAt?: number): Document<StoredTask> {
  return {
    id: task.id,
    partition: partitionOf(task.owner),
    at: Date.parse(task.status.timestamp),
    tags: { contextId: task.contextId, state: task.status.state, ...tagsOf(task.tenant) },
    value: task,
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The tags of a tenant's tasks. `hasTenant` is common to all tenants. */
export function tagsOf(tenant: string | undefined): Tags {
  return tenant === undefined ? {} : { tenant, hasTenant: 'yes' }
}

/** Writes the document of a task. An ended task expires at `expiresAt`, or earlier if the store is full. */
export function putTask(tx: Transaction, task: StoredTask, expiresAt?: number): void {
  const leaves = expiresAt === undefined ? evictionOrderOf(task) : 'first'
  tx.put(TASKS, toDocument(task, expiresAt), { thing: logOf(task.id), leaves })
}

/** A task that waits for its client may be deleted last. Its client may never return, and must not block other clients. */
function evictionOrderOf({ status }: StoredTask): EvictionOrder | undefined {
  return isInterruptedState(status.state) ? 'last' : undefined
}

/** Bytes that are reserved for the end of a turn, so that a full store can still write it. */
const END_BYTES = 4096

/** How often the end of a turn contains the context id, which the client chose. */
const NAMES_OF_CONTEXT = 8

/** The eviction rule of a task at work. It reserves room for the message that the agent works on, and for the end of the turn. */
export function evictionAtWork({ id, contextId }: StoredTask, messageBytes: number): Eviction {
  const weight = messageBytes + END_BYTES + NAMES_OF_CONTEXT * sizeOfText(JSON.stringify(contextId))
  return { thing: logOf(id), weight }
}

/** Tasks at work, as what another worker can take over. */
export function takesTasks({ maxLength }: Pick<TaskSettings, 'maxLength'>): TakeoverKind<StoredTask> {
  return {
    runOf: ({ runId, isAtWork, status }) =>
      isAtWork && runId !== undefined ? { id: runId, at: Date.parse(status.timestamp) } : undefined,
    thingOf: logOf,
    resume(tx, id) {
      const task = tx.get<StoredTask>(TASKS, id)?.value
      const { contextId } = task ?? {}
      const status = statusNow('working', undefined, task?.status)
      const entry = { type: 'status', taskId: id, contextId, status, metadata: { resumed: true } }
      return tx.append(logOf(id), JSON.stringify(entry)) !== undefined
    },
    assign(tx, before, instance, { client, input }) {
      const task = { ...before, instance }
      putTask(tx, task)
      tx.put(
        AT_WORK,
        slotOf(toDocument(task), { instance, client }),
        evictionAtWork(task, sizeOf(input) ?? 0),
      )
    },
    // The log has what clients see. What the run did before is in its journal.
    outputOf: (tx, id) => ({ fold: new Fold(maxLength), bytes: 0, length: tx.length(logOf(id)) }),
  }
}

/** Deletes everything that is stored of a task. */
export function forgetTask(tx: Transaction, id: string): undefined {
  const { runId } = tx.get<StoredTask>(TASKS, id)?.value ?? {}
  if (runId !== undefined) forgetJournal(tx, runId)
  for (const collection of [TASKS, BODIES, AT_WORK]) tx.delete(collection, id)
  dropWaiting(tx, id)
  deletePushes(tx, id)
  tx.deleteLog(logOf(id))
}

/**
 * The view of a task, made from its document and the content of its log. The document has the status at the beginning of the
 * turn, so the log has the newer status of a task at work.
 */
export function viewOf({ id, contextId, status, isAtWork }: StoredTask, gathering: TaskGathering): TaskView {
  const { artifacts, history, seq, progress } = gathering.body()
  const now = isAtWork && progress !== undefined ? progress : status
  return { task: { id, contextId, status: now, artifacts, history }, seq }
}

/** Bytes of a task, by estimate, past which it accepts no more messages. Each answer may contain the whole task. */
const MAX_TASK_BYTES = 64 * 1024 * 1024

/** Whether a task is too large to accept more messages. */
export function isTooLarge({ bytes }: TaskGathering): boolean {
  return bytes > MAX_TASK_BYTES
}

/** Log entries that may be read again at each request. After more than that, their content is stored as a body. */
const SAVE_EVERY = 256

/** Brings the stored body of a task up to `seq`, the end of its log, if enough entries are new. */
export function saveBody(tx: Transaction, stored: StoredTask, seq: number, views: TaskViews): void {
  const kept = tx.get<TaskBody>(BODIES, stored.id)?.value
  if (seq - (kept?.seq ?? 0) < SAVE_EVERY) return
  const document = { ...toDocument(stored), tags: {}, value: views.readApart(tx, stored.id).body() }
  // The body only repeats the log, so it may be deleted alone.
  tx.put(BODIES, document, { thing: logOf(stored.id), leaves: 'alone' })
}

/** A status with the current time. It is later than `before`, so that lists and clients see an order. */
export function statusNow(state: TaskStatus['state'], message?: Message, before?: TaskStatus): TaskStatus {
  const now = Math.max(Date.now(), before === undefined ? 0 : Date.parse(before.timestamp))
  return { state, timestamp: new Date(now).toISOString(), ...(message && { message }) }
}

/** The task with at most `length` messages of its history. Undefined: all. */
export function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined) return task
  const { history = [], ...rest } = task
  return length === 0 ? rest : { ...rest, history: history.slice(-length) }
}

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
