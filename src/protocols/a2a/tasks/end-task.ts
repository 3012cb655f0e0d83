/**
 * Stores how a turn of a task ends.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../../agents/contract.ts'
import { forgetJournal } from '../../../runs/stored/journal.ts'
import { keepMsOf } from '../../../runs/stored/retention.ts'
import { dropWaiting, putWaiting, type Waiting } from '../../../runs/waiting/waiting.ts'
import type { Retention } from '../../../stores/state.ts'
import type { Transaction } from '../../../stores/store.ts'
import { isTerminalState } from '../model.ts'
import { markDue } from '../push/kept.ts'
import { append } from './begin-task.ts'
import { endTurn } from './listed-turn.ts'
import { logOf, type TaskEntry } from './task-body.ts'
import type { TaskSettings } from './task-host.ts'
import { AT_WORK, putTask, type StoredTask, saveBody, skillOf, statusNow, TASKS } from './task-record.ts'
import type { TaskViews } from './task-views.ts'

/** The parts of the host that this needs. */
export interface EndContext {
  readonly settings: TaskSettings
  readonly retention: Retention
  readonly views: TaskViews
  /** Whether the journals of its runs stay until all of the task is deleted. */
  readonly keepsJournals: boolean
}

/** The end of a turn. */
export interface TaskConclusion {
  readonly status: StoredTask['status']
  /** The entry for the log. Default: the status. */
  readonly entry?: TaskEntry | undefined
  readonly waiting?: Waiting | undefined
  /** The most entries of the run's journal, or that it has none. Default: it is looked for. */
  readonly journal?: number | 'none' | undefined
}

/** Ends a task whose agent no longer works, with the state `failed` and a text. */
export function failTask(tx: Transaction, id: string, text: string, ending: EndContext): void {
  const { contextId } = tx.get<StoredTask>(TASKS, id)?.value ?? {}
  const ids = { messageId: crypto.randomUUID(), taskId: id, contextId }
  concludeTask(tx, id, { status: statusNow('failed', { ...ids, role: 'agent', parts: [{ text }] }) }, ending)
}

/** Writes the last status of a turn. Writes nothing if the task has already ended. */
export function concludeTask(
  tx: Transaction,
  id: string,
  { status, entry, waiting, journal }: TaskConclusion,
  { settings, retention, views, keepsJournals }: EndContext,
): void {
  const task = tx.get<StoredTask>(TASKS, id)?.value
  // The task was deleted, because it seemed that no agent worked on it. So the rest of its log must go too.
  if (task === undefined) tx.deleteLog(logOf(id))
  if (task === undefined || isTerminalState(task.status.state)) return
  const { contextId } = task
  const isEnd = isTerminalState(status.state)
  const seq = append(tx, id, entry ?? { type: 'status', taskId: id, contextId, status }, isEnd)
  const { isQueued: _, ...rest } = task
  const ended = { ...rest, status, isAtWork: false }
  // The end of a run that nobody worked on. Any other has written it.
  if (settings.lists === true) endTurn(tx, task, { event: eventOf(status) }, { settings, retention })
  const keepMs = keepMsOf({ ...skillOf(task), owner: task.owner }, settings, retention)
  putTask(tx, ended, isEnd ? tx.now + keepMs : undefined)
  tx.delete(AT_WORK, id)
  if (task.runId !== undefined && !keepsJournals && journal !== 'none')
    forgetJournal(tx, task.runId, { entries: journal })
  if (waiting === undefined) dropWaiting(tx, id)
  else putWaiting(tx, id, { ...waiting, isTask: true }, { thing: logOf(id) }, settings.approvals)
  saveBody(tx, ended, seq, views)
  // If this process ends now, another one sends the notifications.
  if (settings.push !== undefined) markDue(tx, id)
}

/** The end of a run whose task ends with a status. */
function eventOf({ state, message }: StoredTask['status']): FinishEvent | ErrorEvent {
  if (state === 'canceled') return { type: 'finish', finishReason: 'cancelled' }
  const [{ text = '' } = {}] = message?.parts ?? []
  return { type: 'error', code: 'interrupted', error: text }
}
