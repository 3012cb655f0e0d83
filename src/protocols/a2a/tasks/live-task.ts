/**
 * A task whose agent runs in this process. It writes the agent's events into the task's log.
 *
 * @module
 */

import type { RunOptions } from '../../../agents/contract.ts'
import { isTerminal, isWaiting } from '../../../agents/event.ts'
import type { Fold } from '../../../agents/fold.ts'
import { notStored } from '../../../runs/failures.ts'
import { numbersOf } from '../../../runs/numbers.ts'
import { type Run, startRun } from '../../../runs/run.ts'
import type { EndedRun } from '../../../runs/stored/host.ts'
import { writeLog } from '../../../runs/stored/log-writer.ts'
import type { LogWriting } from '../../../runs/stored/log-writing.ts'
import { beginningOf } from '../../../runs/stored/title.ts'
import type { Watch } from '../../../runs/stored/watch.ts'
import type { Target } from '../../../runs/target.ts'
import { continuedBy, type Waiting } from '../../../runs/waiting/waiting.ts'
import { patienceOf, type Store, type Transaction } from '../../../stores/store.ts'
import type { Message, TaskStatus } from '../model.ts'
import { toRunInput } from '../parts.ts'
import { sessionOf } from '../tenants.ts'
import { append, type Begun } from './begin-task.ts'
import { type MessageOptions, metadataOf } from './context.ts'
import { Opening } from './opening.ts'
import { logOf, type TaskEntry } from './task-body.ts'
import type { Delivered, TaskMessage, TaskSettings } from './task-host.ts'
import { forgetTask, type StoredTask } from './task-record.ts'
import type { TaskViews } from './task-views.ts'
import { TaskTurn } from './turn.ts'

/** What a live task needs. */
export interface LiveTaskOptions {
  readonly store: Store
  readonly settings: TaskSettings
  readonly views: TaskViews
  /** The followers of the task. */
  readonly watch: Watch
  /** Writes the last status of the turn, the log entry for it, and what the agent waits for. */
  readonly conclude: (
    tx: Transaction,
    status: TaskStatus,
    entry: TaskEntry | undefined,
    waiting: Waiting | undefined,
  ) => void
  /** Is called once it is certain that there is a task, and no bare message. */
  readonly onTask: () => void
}

/** One turn of a task. */
export class LiveTask {
  /** Resolves with the task or the bare message. */
  readonly delivered: Promise<Delivered>
  /** Resolves once the end is stored. Never rejects. */
  readonly ended: Promise<void>
  /** Resolves once its run is listed as well. Never rejects. */
  readonly recorded: Promise<void>
  /** Whether it is certain that the message becomes a task and not a bare message. */
  isTask = false
  readonly #run: Run
  readonly #store: Store
  readonly #writing: LogWriting
  readonly #opening: Opening
  readonly #beganAt: number = Date.now()
  /** The run's last event and result, with the fold of its events. */
  #outcome: (Pick<EndedRun, 'event' | 'result'> & { readonly fold: Fold }) | undefined

  constructor(begun: Begun, sent: TaskMessage, target: Target, options: LiveTaskOptions) {
    const { task, view } = begun
    this.#store = options.store
    const turn = new TaskTurn(task)
    const mayWait = sent.mayWait || target.servable.answers === 'message'
    this.#opening = new Opening(task, view, { turn, mayWait })
    this.#run = runOf(begun, sent, target, options.settings)
    this.#run.onBegin = () => void this.#opening.begin()
    this.#run.onWait = () => this.#opening.wait()
    this.#writing = this.#write(begun, turn, { sent, target, ...options })
    this.ended = this.#writing.ended
    this.recorded = this.ended.then(() => this.#record(begun, sent, target, options.settings))
    this.delivered = this.#opening.delivered.then(delivered => {
      if ('view' in delivered) {
        this.isTask = true
        options.onTask()
      }
      return delivered
    })
  }

  /** Cancels the run. With a reason, it fails. */
  stop(why?: unknown): void {
    if (why === undefined) this.#run.cancel()
    else this.#run.fail(why)
  }

  /** Cancels the run and waits until its end is stored. Rejects if the store cannot be written now. */
  async cancel(): Promise<void> {
    this.stop()
    await this.#writing.tried({ withinMs: patienceOf(this.#store) })
  }

  /** Resolves once the end is stored. Rejects if the store cannot be written now. */
  tried(): Promise<void> {
    return this.#writing.tried()
  }

  /** Whether the agent answered with a bare message, so that there is no task. */
  get isMessageOnly(): boolean {
    return this.#opening.isMessageOnly
  }

  /** Decides that the message becomes a task, unless that was decided otherwise before. */
  settle(): void {
    this.#opening.settle()
  }

  #write(
    { task: { id }, view }: Begun,
    turn: TaskTurn,
    {
      sent,
      target,
      store,
      settings,
      views,
      watch,
      conclude,
    }: LiveTaskOptions & { readonly sent: TaskMessage; readonly target: Target },
  ): LogWriting {
    const { options, secrets = [] } = sent
    const opening = this.#opening
    const keepUp = views.keepUp(id, store)
    const { onFailure } = settingsOf(id, settings)
    return writeLog(this.#run, {
      store,
      log: logOf(id),
      length: view.seq,
      watch,
      maxBytes: settings.maxBytes,
      maxLength: settings.maxLength,
      working: settings.working,
      // Receivers of push notifications wait for each event.
      gatherMs: settings.gatherMs ?? 0,
      onStuck: thrown => onFailure?.(notStored(this.#run.id, target, { options, secrets, thrown })),
      encode: event => {
        if (isTerminal(event)) return []
        const entries = opening.entriesOf(event)
        keepUp(entries.length)
        return entries.map(entry => JSON.stringify(entry))
      },
      finish: (tx, event, result, { fold }) => {
        this.#outcome = { event, result, fold }
        if (opening.isMessageOnly) return forgetTask(tx, id)
        const waits = isWaiting(event) ? this.#run.waiting : undefined
        const waiting = waits && { ...waits, client: sent.client }
        const { status, entries } = turn.end(event, waiting?.requests)
        for (const entry of entries.slice(0, -1)) append(tx, id, entry)
        conclude(tx, status, entries.at(-1), waiting)
      },
    })
  }

  /** Lists the run, if the service lists those of tasks. Never rejects. */
  async #record({ task }: Begun, sent: TaskMessage, target: Target, settings: TaskSettings) {
    const { record, measure, costOf, onFailure } = settingsOf(task.id, settings)
    if (record === undefined || this.#outcome === undefined) return
    const { event, result, fold } = this.#outcome
    const { id } = this.#run
    const { model } = target.servable
    const measured = measure && {
      transport: 'a2a',
      numbers: numbersOf(fold, result?.durationMs ?? this.#run.durationMs, model, costOf),
    }
    const options = { sessionId: sessionOf(task), userId: sent.options.userId }
    const { owner } = task
    const { kind, name } = target
    const ended = {
      id,
      target: { kind, name },
      input: beginningOf(this.#run.input),
      options,
      owner,
      client: sent.client,
      taskId: this.isMessageOnly ? undefined : task.id,
      at: this.#beganAt,
      event,
      result,
    }
    try {
      await record({ ...ended, ...measured })
    } catch (thrown) {
      onFailure?.(notStored(id, target, { options: sent.options, secrets: sent.secrets ?? [], thrown }))
    }
  }
}

function runOf(
  { task, waited }: Begun,
  { message, options, asked = {}, secrets = [] }: TaskMessage,
  target: Target,
  settings: TaskSettings,
): Run {
  const own = settingsOf(task.id, settings)
  const caller = { secrets: () => secrets }
  if (waited === undefined) {
    const all = { ...options, ...ofTask(task, message, asked, options) }
    return startRun(target, toRunInput(message), all, own, caller)
  }
  // The run keeps its input and its owner. Its keys are those of the answer, if the owner gave the answer.
  const { input, options: before, next, requests } = waited
  const { userId, identity } = before
  const { traceparent } = options
  const all = { ...options, ...before, traceparent, runId: next, userId, identity }
  const [from = ''] = requests[0]?.id.split('/') ?? []
  return startRun(target, input, all, own, { ...caller, continues: continuedBy(waited, from) })
}

/** Settings that name the task in the report of a failed run, so that the log leads to the task. */
function settingsOf(taskId: string, settings: TaskSettings): TaskSettings {
  const { onFailure } = settings
  if (onFailure === undefined) return settings
  return { ...settings, onFailure: failure => onFailure({ ...failure, taskId }) }
}

/** The options of the task's run: its session, and the A2A facts of the message as metadata. */
function ofTask(
  task: StoredTask,
  message: Message,
  asked: MessageOptions,
  { metadata }: RunOptions,
): RunOptions {
  const { id: taskId, contextId } = task
  const facts = metadataOf(message, { taskId, contextId }, asked)
  return { sessionId: sessionOf(task), messageId: message.messageId, metadata: { ...metadata, ...facts } }
}
