/**
 * The record of a turn's run beside its task, with which `GET /runs` lists it: from its beginning to its end, in the commits of the
 * task. In objects, where the list is elsewhere, `LiveTask` lists the run once it has ended.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunResult } from '../../../agents/contract.ts'
import { eventToJson } from '../../../runs/event-json.ts'
import type { RunNumbers } from '../../../runs/numbers.ts'
import type { StartRequest } from '../../../runs/stored/host.ts'
import { newRun } from '../../../runs/stored/new-run.ts'
import { RUNS, type StoredRun, toDocument } from '../../../runs/stored/record.ts'
import { type RunRetention, runKeepMsOf, sealRun } from '../../../runs/stored/retention.ts'
import { beginningOf, titleFor } from '../../../runs/stored/title.ts'
import type { Transaction } from '../../../stores/store.ts'
import { sessionOf } from '../tenants.ts'
import type { TaskSettings } from './task-host.ts'
import type { StoredTask } from './task-record.ts'

/** Lists the run of a turn that begins. */
export function listTurn(
  tx: Transaction,
  task: StoredTask,
  { target, input, options, owner, continues }: Omit<StartRequest, 'key'>,
  settings: TaskSettings,
): void {
  const { id: taskId, runId: id = '', instance, status } = task
  if (settings.lists !== true) return
  const about = {
    ...{ target, owner, continues, taskId, key: undefined },
    options: { sessionId: sessionOf(task), userId: options.userId },
    transport: settings.measure ? 'a2a' : undefined,
    title: titleFor({ input, owner }, settings),
  }
  const run = newRun({ id, at: Date.parse(status.timestamp), instance }, about)
  tx.put(RUNS, { ...toDocument(run), text: run.record.title }, { thing: id })
}

/** The end of a turn's run. */
export interface TurnEnd {
  readonly event: FinishEvent | ErrorEvent
  readonly result?: RunResult | undefined
  readonly numbers?: RunNumbers | undefined
  /** The input of the run, if it is known. */
  readonly input?: StartRequest['input'] | undefined
  /** Whether the answer was a bare message, without a task. */
  readonly isMessageOnly?: boolean | undefined
}

/** Writes the end of a listed run. Does nothing for one that is not listed, or has ended. */
export function endTurn(
  tx: Transaction,
  { runId: id = '', kind = 'agent', agent: name, owner }: StoredTask,
  { event, result, numbers, input, isMessageOnly = false }: TurnEnd,
  { settings, retention }: RunRetention,
): void {
  const run = tx.get<StoredRun>(RUNS, id)?.value
  if (run?.record.status !== 'running') return
  if (isMessageOnly) {
    const { taskId: _, ...record } = run.record
    tx.put(RUNS, toDocument({ ...run, record }), { thing: id })
  }
  const keepMs = runKeepMsOf({ kind, name, owner }, { settings, retention })
  const { notices, hasTexts } = settings
  const searched = { hasTexts, input: input === undefined ? undefined : beginningOf(input) }
  sealRun(tx, id, { event, json: eventToJson(event), result, numbers, keepMs, notices, searched })
}
