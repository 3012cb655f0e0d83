/**
 * A task whose agent runs in this process. It writes the agent's events into the task's log.
 *
 * @module
 */

import type { RunOptions } from '../../../agents/contract.ts'
import { isTerminal, isWaiting } from '../../../agents/event.ts'
import { notStored } from '../../../runs/failures.ts'
import { numbersOf } from '../../../runs/numbers.ts'
import type { Run } from '../../../runs/run.ts'
import type { StartRequest } from '../../../runs/stored/host.ts'
import { type LaunchOptions, launchRun } from '../../../runs/stored/launch.ts'
import type { LiveRun, OwnLog } from '../../../runs/stored/live-run.ts'
import { beginningOf } from '../../../runs/stored/title.ts'
import type { Watch } from '../../../runs/stored/watch.ts'
import type { Target } from '../../../runs/target.ts'
import { continuedBy } from '../../../runs/waiting/waiting.ts'
import type { Retention } from '../../../stores/state.ts'
import type { Transaction } from '../../../stores/store.ts'
import type { Message } from '../model.ts'
import { toRunInput } from '../parts.ts'
import { sessionOf } from '../tenants.ts'
import { append, type Begun } from './begin-task.ts'
import { type MessageOptions, metadataOf } from './context.ts'
import type { TaskConclusion } from './end-task.ts'
import { endTurn, type TurnEnd } from './listed-turn.ts'
import { Opening } from './opening.ts'
import { logOf } from './task-body.ts'
import type { Delivered, TaskMessage, TaskSettings } from './task-host.ts'
import { forgetTask, type StoredTask, TASKS } from './task-record.ts'
import type { TaskViews } from './task-views.ts'
import { TaskTurn } from './turn.ts'

/** What a live task needs. */
export interface LiveTaskOptions
  extends Pick<LaunchOptions, 'store' | 'leave' | 'retire' | 'isJournalled' | 'cut'> {
  readonly settings: TaskSettings
  readonly retention: Retention
  readonly views: TaskViews
  /** The followers of the task. */
  readonly watch: Watch
  /** Writes the last status of the turn, the log entry for it, and what the agent waits for. */
  readonly conclude: (tx: Transaction, conclusion: TaskConclusion) => void
  /** Is called once it is certain that there is a task, and no bare message. */
  readonly onTask: () => void
}

/** What its run is started with. The message that it answers is stored already. */
export interface TurnRequest extends Omit<StartRequest, 'key'> {
  /** Whether the agent may send a bare message after any silence. */
  readonly mayWait: boolean
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
  /** The run at work. */
  readonly live: LiveRun
  readonly #run: Run
  readonly #opening: Opening
  #end: TurnEnd | undefined

  constructor(begun: Begun, request: TurnRequest, options: LiveTaskOptions) {
    const { task, view } = begun
    const { settings, onTask, cut } = options
    const turn = new TaskTurn(task)
    const mayWait = request.mayWait || request.target.servable.answers === 'message'
    this.#opening = new Opening(task, view, { turn, mayWait })
    const { run, live } = launchRun(request, {
      ...options,
      id: task.runId ?? '',
      instance: task.instance,
      settings: settingsOf(task.id, settings),
      keepMs: () => 0,
      keepsJournal: true,
      own: this.#logOf(begun, turn, request, options),
    })
    this.#run = run
    this.live = live
    run.onBegin = () => void this.#opening.begin()
    run.onWait = () => this.#opening.wait()
    if (cut !== undefined) this.#opening.settle()
    this.ended = live.ended
    this.recorded = this.ended.then(() => this.#record(begun, request, settings))
    this.delivered = this.#opening.delivered.then(delivered => {
      if ('view' in delivered) {
        this.isTask = true
        onTask()
      }
      return delivered
    })
  }

  /** Whether the agent answered with a bare message, so that there is no task. */
  get isMessageOnly(): boolean {
    return this.#opening.isMessageOnly
  }

  /** Decides that the message becomes a task, unless that was decided otherwise before. */
  settle(): void {
    this.#opening.settle()
  }

  #logOf(
    { task, view }: Begun,
    turn: TaskTurn,
    { client, target }: TurnRequest,
    { store, settings, retention, views, watch, conclude, cut }: LiveTaskOptions,
  ): OwnLog {
    const { id, instance, runId } = task
    const opening = this.#opening
    const keepUp = views.keepUp(id, store)
    return {
      log: logOf(id),
      length: cut?.length ?? view.seq,
      watch,
      // Receivers of push notifications wait for each event.
      gatherMs: settings.gatherMs ?? 0,
      isOurs(tx) {
        const task = tx.get<StoredTask>(TASKS, id)?.value
        return task?.instance === instance && task.runId === runId && task.isAtWork
      },
      encode: event => {
        if (isTerminal(event)) return []
        const entries = opening.entriesOf(event)
        keepUp(entries.length)
        return entries.map(entry => JSON.stringify(entry))
      },
      finish: (tx, event, result, { fold }) => {
        const { measure, costOf } = settings
        const durationMs = result?.durationMs ?? this.#run.durationMs
        const numbers = measure ? numbersOf(fold, durationMs, target.servable.model, costOf) : undefined
        const { input } = this.#run
        this.#end = { event, result, numbers, input, isMessageOnly: opening.isMessageOnly }
        if (settings.lists) endTurn(tx, task, this.#end, { settings, retention })
        if (opening.isMessageOnly) return forgetTask(tx, id)
        const waits = isWaiting(event) ? this.#run.waiting : undefined
        const waiting = waits && { ...waits, client }
        const { status, entries } = turn.end(event, waiting?.requests)
        for (const entry of entries.slice(0, -1)) append(tx, id, entry)
        const journal = cut === undefined ? (this.live.journalled ?? 'none') : undefined
        conclude(tx, { status, entry: entries.at(-1), waiting, journal })
      },
    }
  }

  /** Lists the run, where its list is in another object. Never rejects. */
  async #record(
    { task }: Begun,
    { target, options, client, secrets = [] }: TurnRequest,
    settings: TaskSettings,
  ) {
    const { record, onFailure } = settingsOf(task.id, settings)
    if (record === undefined || this.#end === undefined) return
    const { isMessageOnly, input, ...end } = this.#end
    const { id } = this.#run
    const { owner, status } = task
    const { kind, name } = target
    try {
      await record({
        ...{ id, owner, client, ...end },
        target: { kind, name },
        input: input && beginningOf(input),
        options: { sessionId: sessionOf(task), userId: options.userId },
        taskId: isMessageOnly ? undefined : task.id,
        transport: settings.measure ? 'a2a' : undefined,
        at: Date.parse(status.timestamp),
      })
    } catch (thrown) {
      onFailure?.(notStored(id, target, { options, secrets, thrown }))
    }
  }
}

/** What the run of a turn is started with. */
export function turnRequestOf(
  { task, waited }: Begun,
  { message, options, asked = {}, client, secrets, mayWait, owner }: TaskMessage,
  target: Target,
): TurnRequest {
  const common = { target, owner, client, secrets, mayWait, isBackground: true }
  if (waited === undefined) {
    return {
      ...common,
      input: toRunInput(message),
      options: { ...options, ...ofTask(task, message, asked, options) },
    }
  }
  // The run keeps its input and its owner. Its keys are those of the answer, if the owner gave the answer.
  const { input, options: before, requests } = waited
  const { userId, identity } = before
  const { traceparent } = options
  const [from = ''] = requests[0]?.id.split('/') ?? []
  return {
    ...common,
    input,
    options: { ...options, ...before, traceparent, userId, identity },
    continues: continuedBy(waited, from),
  }
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
