/**
 * Stores that an agent starts to work on a message: of a new task, or of a task that waits for its client. A task with open
 * requests continues once all of them are answered.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import { slotOf, takeSlot } from '../../../runs/admission.ts'
import { checkPermit } from '../../../runs/permit.ts'
import { requestIn } from '../../../runs/stored/journal.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import type { Recovery } from '../../../runs/stored/recovery.ts'
import type { WorkerName } from '../../../runs/stored/worker-name.ts'
import type { Target } from '../../../runs/target.ts'
import {
  answered,
  dropWaiting,
  openOf,
  putWaiting,
  type Waiting,
  waitingIn,
} from '../../../runs/waiting/waiting.ts'
import { sizeOf } from '../../../stores/size.ts'
import type { Transaction } from '../../../stores/store.ts'
import { isTerminalState } from '../model.ts'
import { markDue } from '../push/kept.ts'
import type { Push } from '../push/push.ts'
import { answersIn, askingParts } from './answers.ts'
import { logOf, type TaskEntry, type TaskGathering } from './task-body.ts'
import type { TaskMessage, TaskSettings, TaskView } from './task-host.ts'
import {
  AT_WORK,
  evictionAtWork,
  isTooLarge,
  makeRoom,
  putTask,
  type StoredTask,
  statusNow,
  TASKS,
  toDocument,
  viewOf,
} from './task-record.ts'
import type { TaskViews } from './task-views.ts'

/** The state and limits for starting a task. */
export interface BeginContext {
  readonly settings: TaskSettings
  readonly worker: WorkerName
  readonly recovery: Recovery
  readonly views: TaskViews
  /** Undefined if push notifications are off. */
  readonly setPush: Push['change'] | undefined
}

/** A task after a message. Its agent is at work, unless the task still waits. */
export interface Begun {
  readonly task: StoredTask
  readonly view: TaskView
  /** The waiting work that continues. Given if every request of the agent is answered. */
  readonly waited?: Waiting | undefined
  /** The same message was sent before, so nothing begins. */
  readonly isRepeated?: true
}

/**
 * Stores a new task. `queuedAs` is its run if it waits for a slot. Throws `unsupported_operation` if a task with its id exists, and
 * `too_many_runs`.
 */
export function openTask(
  tx: Transaction,
  sent: TaskMessage,
  target: Target,
  by: BeginContext,
  queuedAs?: string,
): Begun {
  const { taskId, message, owner, tenant } = sent
  const { kind, name } = target
  const earlier = tx.get<StoredTask>(TASKS, taskId)
  if (earlier !== undefined) throw atWork()
  makeRoom(tx, partitionOf(owner), by.settings.maxTasksPerOwner)
  const contextId = message.contextId ?? crypto.randomUUID()
  const status = statusNow('submitted')
  const instance = by.worker.own
  const whose = {
    ...(kind !== 'agent' && { kind }),
    agent: name,
    owner,
    ...(tenant !== undefined && { tenant }),
  }
  const task = { id: taskId, contextId, status, ...whose, isAtWork: false, instance, turns: 0 }
  if (queuedAs === undefined) return begin(tx, task, sent, by)
  const queued = { ...task, turns: 1, runId: queuedAs, isQueued: true } as const
  putTask(tx, queued)
  return { task: queued, view: take(tx, queued, sent, by, undefined) }
}

/** Stores that the agent of a queued task works. Returns undefined if the task waits no more. Throws `too_many_runs`. */
export function startQueued(tx: Transaction, id: string, runId: string, by: BeginContext): Begun | undefined {
  const queued = tx.get<StoredTask>(TASKS, id)?.value
  if (queued?.isQueued !== true || queued.runId !== runId) return undefined
  const { isQueued: _, ...before } = queued
  const { client, input } = requestIn(tx, runId) ?? {}
  const task = putAtWork(tx, before, { client, bytes: sizeOf(input) ?? 0 }, by)
  const { contextId, status } = task
  append(tx, id, { type: 'status', taskId: id, contextId, status })
  return { task, view: viewOf(task, by.views.readApart(tx, id)) }
}

/** Continues a task that waits for its client, or states what it still waits for. Throws the errors of `TaskHost.deliver`. */
export function resumeTask(tx: Transaction, task: StoredTask, sent: TaskMessage, by: BeginContext): Begun {
  const { taskId, message } = sent
  checkPermit(sent.by?.only, { kind: task.kind ?? 'agent', name: task.agent })
  const { contextId = task.contextId } = message
  if (contextId !== task.contextId) {
    throw new ServableError('invalid_params', '`message.contextId` differs from the context of the task')
  }
  const isFull = task.turns * 2 >= by.settings.maxHistory
  const gathering = by.views.readApart(tx, taskId)
  const waiting = waitingIn(tx, taskId)
  if (isRepeated(gathering, sent) && !needsKey(waiting)) {
    return { task, view: viewOf(task, gathering), isRepeated: true }
  }
  if (isTerminalState(task.status.state)) {
    throw new ServableError(
      'unsupported_operation',
      `The task is ${task.status.state} and accepts no more messages`,
    )
  }
  if (task.isAtWork || task.isQueued) throw atWork()
  if (isFull || isTooLarge(gathering)) {
    throw new ServableError('unsupported_operation', 'The history of the task is full: begin a new task')
  }
  if (waiting === undefined) return begin(tx, task, sent, by, gathering)
  if (sent.by?.change === undefined) by.settings.approvals?.check(waiting, tx.now)
  const answers = answersIn(message, openOf(waiting))
  const waited = answered(waiting, answers, sent.options.runId ?? crypto.randomUUID(), sent.by)
  if (waited.next === undefined) return stay(tx, task, waited, sent, by, gathering)
  dropWaiting(tx, taskId)
  // An answer of somebody else counts against the client of the waiting run.
  const { client = sent.client } = sent.by?.isOther ? waited : sent
  return { ...begin(tx, task, { ...sent, client }, by, gathering, waited.next), waited }
}

/**
 * Whether the owner has sent this very message before. A client that got no response sends its message again. Answers of other
 * people are no messages of the owner.
 */
function isRepeated({ history }: TaskGathering, { message, by }: TaskMessage): boolean {
  if (by?.isOther) return false
  const { messageId, parts } = message
  const same = history.filter(each => each.role === 'user' && each.messageId === messageId)
  return same.some(each => JSON.stringify(each.parts) === JSON.stringify(parts))
}

/** Whether only the key of the client is missing. The client may send the same message again with the key. */
function needsKey(waiting: Waiting | undefined): boolean {
  return waiting !== undefined && openOf(waiting).length === 0
}

/** Stores the answers so far, and a status that states what the task still waits for. */
function stay(
  tx: Transaction,
  before: StoredTask,
  waiting: Waiting,
  sent: TaskMessage,
  by: BeginContext,
  gathering: TaskGathering,
): Begun {
  const { id, contextId } = before
  const open = openOf(waiting)
  const parts = open.length === 0 ? [{ text: KEY_NEEDED }] : askingParts(open)
  const message = { messageId: crypto.randomUUID(), role: 'agent', parts, taskId: id, contextId } as const
  const status = statusNow('input-required', message, before.status)
  const task = { ...before, status, turns: before.turns + 1 }
  putTask(tx, task)
  putWaiting(tx, id, waiting, { thing: logOf(id) }, by.settings.approvals)
  const view = take(tx, task, sent, by, gathering)
  if (by.setPush !== undefined) markDue(tx, id)
  return { task, view }
}

/** The text of a task that waits only for the key of its client. */
const KEY_NEEDED = 'All is answered. Send a message with your key to go on.'

/** Marks the agent of a task as working. Throws `too_many_runs` if too many agents work already. */
function begin(
  tx: Transaction,
  before: StoredTask,
  sent: TaskMessage,
  by: BeginContext,
  gathering?: TaskGathering,
  runId: string = sent.options.runId ?? crypto.randomUUID(),
): Begun {
  const { client, message } = sent
  const next = { ...before, turns: before.turns + 1, runId }
  const task = putAtWork(tx, next, { client, bytes: sizeOf(message) ?? 0 }, by)
  return { task, view: take(tx, task, sent, by, gathering) }
}

function putAtWork(
  tx: Transaction,
  before: StoredTask,
  { client, bytes }: { readonly client: string | undefined; readonly bytes: number },
  { settings, worker, recovery }: BeginContext,
): StoredTask {
  const status = statusNow('working', undefined, before.status)
  const task = { ...before, status, isAtWork: true, instance: worker.own }
  putTask(tx, task)
  recovery.enlist(tx)
  const slot = slotOf(toDocument(task), { instance: task.instance, client })
  takeSlot(tx, AT_WORK, slot, settings, evictionAtWork(task, bytes))
  return task
}

/** Appends the client's message and the new status to the log. Returns the task as it is then. */
function take(
  tx: Transaction,
  task: StoredTask,
  { message: received, client, pushConfig }: TaskMessage,
  { setPush }: BeginContext,
  gathering: TaskGathering | undefined,
): TaskView {
  const { id, contextId, status } = task
  const message = { ...received, taskId: id, contextId }
  append(tx, id, { type: 'history', message })
  if (status.message !== undefined) append(tx, id, { type: 'history', message: status.message })
  const seq = append(tx, id, { type: 'status', taskId: id, contextId, status })
  if (pushConfig !== undefined) {
    const config = { ...pushConfig, id: pushConfig.id ?? id }
    setPush?.(tx, { act: 'set', taskId: id, config, client }, () => seq - 1)
  }
  if (gathering !== undefined) return viewOf(task, gathering.readOn(tx, id))
  return { task: { id, contextId, status, artifacts: [], history: [message] }, seq }
}

/** Adds an entry to the log of a task, and returns the entry's number. */
export function append(tx: Transaction, id: string, entry: TaskEntry, seal = false): number {
  return tx.append(logOf(id), JSON.stringify(entry), seal) ?? 0
}

/** The error for a message to a task that is at work, or waits for a slot. */
export function atWork(): ServableError {
  return new ServableError('unsupported_operation', 'The task is working: wait for it, or cancel it')
}
