/**
 * How a task is kept: a light document for lists, what it has said and made beside it, and a log of what happens.
 *
 * @module
 */

import { partitionOf } from '../runs/record.ts'
import { WAITING } from '../runs/waiting.ts'
import { sizeOfText } from '../state/size.ts'
import type { Document, Footing, Leaving, Transaction } from '../state/store.ts'
import { logOf } from './log-name.ts'
import { isInterruptedState, type Message, type Task, type TaskStatus } from './model.ts'
import { deletePushes } from './push/kept.ts'
import { BODIES, type Gathering, type TaskBody } from './task-body.ts'
import type { FoundTask, TaskView } from './task-host.ts'
import type { TaskViews } from './task-views.ts'

/** Collections of the task host. */
export const TASKS = 'task'
/** Tasks whose agent is at work. */
export const AT_WORK = 'task-at-work'

/** The light document of a task. */
export interface StoredTask {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  /** The agent's name. */
  readonly agent: string
  readonly owner: string | null
  readonly isAtWork: boolean
  readonly instance: string
  /** How many messages the agent has been given. */
  readonly turns: number
}

/** A task as an administrator finds it. */
export function toFound({ id, contextId, agent, owner, status }: StoredTask): FoundTask {
  const { state, timestamp } = status
  return { id, contextId, agent, owner, status: { state, timestamp } }
}

/** The document of a task. Lists go by the status, newest first. */
export function toDocument(task: StoredTask, expiresAt?: number): Document<StoredTask> {
  return {
    id: task.id,
    partition: partitionOf(task.owner),
    at: Date.parse(task.status.timestamp),
    tags: { contextId: task.contextId, state: task.status.state },
    value: task,
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** Writes the light document of a task; one that has ended goes at `expiresAt`, or before where there is no room. */
export function putTask(tx: Transaction, task: StoredTask, expiresAt?: number): void {
  const leaves = expiresAt === undefined ? leavesUnended(task) : 'first'
  tx.put(TASKS, toDocument(task, expiresAt), { thing: logOf(task.id), leaves })
}

/** A client may never come back to a task that waits for it, and must not keep all others out until then. */
function leavesUnended({ status }: StoredTask): Leaving | undefined {
  return isInterruptedState(status.state) ? 'last' : undefined
}

/** Bytes that are kept for the end of a turn, so that it can be written where there is room for nothing else. */
const END_BYTES = 4096

/** How often an end names the context, which the client chose. */
const NAMES_OF_CONTEXT = 8

/** How a task at work stands in a store: with the message that its agent is at work on, which weighs so many bytes. */
export function footingAtWork({ id, contextId }: StoredTask, messageBytes: number): Footing {
  const weight = messageBytes + END_BYTES + NAMES_OF_CONTEXT * sizeOfText(JSON.stringify(contextId))
  return { thing: logOf(id), weight }
}

/** Deletes all that is kept of a task. */
export function forgetTask(tx: Transaction, id: string): undefined {
  for (const collection of [TASKS, BODIES, AT_WORK, WAITING]) tx.delete(collection, id)
  deletePushes(tx, id)
  tx.deleteLog(logOf(id))
}

/** A task with all that was gathered of its log. */
export function viewOf({ id, contextId, status }: StoredTask, gathering: Gathering): TaskView {
  const { artifacts, history, seq } = gathering.body()
  return { task: { id, contextId, status, artifacts, history }, seq }
}

/** Bytes, by estimate, of a task that takes no more messages: each answer about it may have all of it. */
const MAX_TASK_BYTES = 64 * 1024 * 1024

/** Whether a task has said and been told so much that it is to take no more. */
export function isTooLarge({ bytes }: Gathering): boolean {
  return bytes > MAX_TASK_BYTES
}

/** Entries of a log that are read anew each time before what they say is kept beside it. */
const SAVE_EVERY = 256

/** Brings what is kept of a task's artifacts and history up to the end of its log, `seq`, once that is worth it. */
export function saveBody(tx: Transaction, stored: StoredTask, seq: number, views: TaskViews): void {
  const kept = tx.get<TaskBody>(BODIES, stored.id)?.value
  if (seq - (kept?.seq ?? 0) < SAVE_EVERY) return
  const document = { ...toDocument(stored), tags: {}, value: views.readApart(tx, stored.id).body() }
  // The log says it all: this is only quicker to read.
  tx.put(BODIES, document, { thing: logOf(stored.id), leaves: 'alone' })
}

/** A status of this moment; later than `before`, so that lists and clients see an order. */
export function statusNow(state: TaskStatus['state'], message?: Message, before?: TaskStatus): TaskStatus {
  const now = Math.max(Date.now(), before === undefined ? 0 : Date.parse(before.timestamp))
  return { state, timestamp: new Date(now).toISOString(), ...(message && { message }) }
}

/** The task as an answer shows it: with so many of its last messages. */
export function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined) return task
  const { history = [], ...rest } = task
  return length === 0 ? rest : { ...rest, history: history.slice(-length) }
}
