/**
 * The task host over a store that this process can reach: for a server, or for a single task in an object.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../../agents/contract.ts'
import { ServableError } from '../../../base/errors.ts'
import { later } from '../../../base/wake.ts'
import { tooManyRuns } from '../../../runs/admission.ts'
import { admitted } from '../../../runs/admit.ts'
import { stillAtWork } from '../../../runs/feedback.ts'
import type { Follower, Viewer } from '../../../runs/stored/host.ts'
import { forgetJournal, putRequest, requestIn } from '../../../runs/stored/journal.ts'
import { LogFollower } from '../../../runs/stored/log-follower.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import { StoredWork } from '../../../runs/stored/stored-work.ts'
import { Takeover } from '../../../runs/stored/takeover.ts'
import type { Target } from '../../../runs/target.ts'
import type { Asking } from '../../../runs/waiting/asking.ts'
import { type Waiting, waitingIn } from '../../../runs/waiting/waiting.ts'
import { mayPass } from '../../../stores/remote/retrying.ts'
import type { LocalParts, Retention } from '../../../stores/state.ts'
import type { Reader, Soon, Store, Transaction } from '../../../stores/store.ts'
import type { Skill } from '../cards/skills.ts'
import { isSettledState, isTerminalState, type ListRequest, type Task, type TaskPage } from '../model.ts'
import type { PushConfig, PushRequest } from '../push/config.ts'
import type { PushDelivererOptions } from '../push/deliverer.ts'
import { createPush, type Push } from '../push/push.ts'
import { admittedMessage, type Continuing, checkAnswers, orQueued, screened } from './admit-message.ts'
import { messageOf } from './answers.ts'
import { type BeginContext, type Begun, openTask, resumeTask, startQueued } from './begin-task.ts'
import { concludeTask, type EndContext, failTask } from './end-task.ts'
import { listTasks, PageFiller } from './list-tasks.ts'
import { listTurn } from './listed-turn.ts'
import { LiveTask, type LiveTaskOptions, type TurnRequest, turnRequestOf } from './live-task.ts'
import { isSettling, logOf, type TaskEntry } from './task-body.ts'
import type {
  Delivered,
  FoundTask,
  ListedTasks,
  TaskHost,
  TaskMessage,
  TaskSettings,
  TaskView,
  TaskViewer,
} from './task-host.ts'
import {
  AT_WORK,
  forgetTask,
  permitted,
  type StoredTask,
  skillOf,
  statusNow,
  TASKS,
  takesTasks,
  taskNotFound,
  toFound,
  viewOf,
} from './task-record.ts'
import { TaskViews } from './task-views.ts'
import { TaskWatches } from './task-watches.ts'

/** What the local task host needs. */
export interface LocalTaskHostOptions {
  readonly store: Store
  readonly settings: TaskSettings
  readonly retention: Retention
  /** Whether the state is lost with its process. */
  readonly isVolatile?: boolean
  /** Keeps the store open while an agent works on a task. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** Returns the servable that continues a task. Throws `agent_not_found`, `team_not_found` or `workflow_not_found`. */
  readonly targetOf: (skill: Skill) => Target
  /** Is called when a task's status has changed. */
  readonly onStatus?: (task: StoredTask) => void
  /** Given if something else sets alarms and keeps the process alive, as in a Durable Object. */
  readonly upkeep?: Pick<PushDelivererOptions, 'keepAlive' | 'schedule'>
}

/** Makes the host. Its first call fails the tasks whose process died while their agent was working. */
export function createLocalTaskHost(options: LocalTaskHostOptions): TaskHost {
  return new LocalTaskHost(options)
}

/** Milliseconds until the next attempt to go on with a task after the store could not be read. */
const GO_ON_RETRY_MS = 1000

/** The text of a task whose process died, or lost its store, while the agent was at work. */
const CUT_OFF = 'The service stopped while the agent was at work. Send the message again, without a task id'

/** Most log entries that are read for one page of a list. The page ends after that. Entries of held tasks do not count. */
const MAX_LIST_ENTRIES = 10_000

class LocalTaskHost implements TaskHost {
  readonly #options: LocalTaskHostOptions
  readonly #store: Store
  readonly #work: StoredWork<StoredTask, LiveTask>
  readonly #watches: TaskWatches
  readonly #push: Push | undefined
  readonly #takeover: Takeover<StoredTask>
  readonly #views = new TaskViews()
  readonly #beginning: BeginContext
  readonly #ending: EndContext

  constructor(options: LocalTaskHostOptions) {
    this.#options = options
    const { store, settings, retention, upkeep } = options
    this.#store = store
    this.#push =
      settings.push &&
      createPush({
        store,
        settings: settings.push,
        growing: id => {
          const live = this.#work.get(id)
          return live && { changed: this.#watches.of(id).changed, isTask: live.isTask }
        },
        onGivenUp: async (id, why) => settings.onGivenUp({ id, owner: await this.#ownerOf(id) }, why),
        upkeep,
      })
    this.#work = new StoredWork<StoredTask, LiveTask>(options, {
      collection: TASKS,
      atWork: AT_WORK,
      isAtWork: task => task.isAtWork,
      logOf,
      stop: (task, why) => task.live.stop(why),
      leave: task => task.live.leave(),
      conclude: (tx, id) => {
        if (this.#takeover.take(tx, id) !== undefined) failTask(tx, id, CUT_OFF, this.#ending)
      },
      onConcluded: id => {
        this.#notify(id)
        settings.working?.keep(this.#goOn(id))
      },
      missing: taskNotFound,
    })
    const targetIn = (skill: Skill) => options.targetOf(skill)
    this.#takeover = new Takeover(this.#work, targetIn, takesTasks(settings))
    this.#watches = new TaskWatches({
      maxFollowers: settings.maxFollowers,
      isAtWork: id => this.#work.get(id) !== undefined,
      isShared: () => store.isShared,
    })
    this.#ending = { settings, retention, views: this.#views, keepsJournals: upkeep !== undefined }
    const { worker, recovery } = this.#work
    this.#beginning = { settings, worker, recovery, views: this.#views, setPush: this.#push?.change }
  }

  async deliver(sent: TaskMessage): Promise<Delivered> {
    const { pushConfig, taskId } = sent
    if (pushConfig !== undefined) await this.#pushOrThrow().sender.check(pushConfig.url)
    await this.#work.look(taskId)
    if (sent.by?.change === undefined) await this.#expire()
    const stored = () => this.#store.read(tx => skillOf(this.#find(tx, taskId, sent)))
    const message = await screened(sent, this.#options.settings, stored)
    const waiting = () => this.#store.read(tx => this.#find(tx, taskId, sent) && waitingIn(tx, taskId))
    await checkAnswers(message, this.#options.settings, waiting)
    const begun = await orQueued(
      message,
      this.#options.settings,
      () =>
        admittedMessage(
          message,
          this.#options,
          () => this.#store.read(tx => this.#continuing(tx, message)),
          message => this.#begin(message),
          begun => begun instanceof LiveTask,
        ),
      (message, target, runId) => this.#store.write(tx => this.#openQueued(tx, message, target, runId)),
    )
    if (begun instanceof LiveTask) return begun.delivered
    if (begun.isRepeated) return { view: begun.view }
    // The task still waits, and its new status states for what.
    this.#notifyAll(taskId)
    return { view: begun.view }
  }

  #openQueued(tx: Transaction, message: TaskMessage, target: Target, runId: string): Begun {
    const begun = openTask(tx, message, target, this.#beginning, runId)
    const kept = { resumes: false, keepsInput: true }
    putRequest(tx, runId, turnRequestOf(begun, message, target), kept, logOf(message.taskId))
    if (requestIn(tx, runId) === undefined) throw tooManyRuns('this message is too large to wait')
    return begun
  }

  async startQueued(id: string, runId: string): Promise<void> {
    const { settings, targetOf } = this.#options
    await this.#work.look(id)
    const [task, asked] = await this.#store.read(
      tx => [this.#work.lookUp(tx, id), requestIn(tx, runId)] as const,
    )
    if (task === undefined || asked === undefined) return
    const target = targetOf(skillOf(task))
    const { input, client = partitionOf(task.owner) } = asked
    const options = { ...asked.options, messageId: String(asked.options.metadata?.messageId) }
    const request = { target, input, options, owner: task.owner, client, isBackground: true, mayWait: false }
    const begin = () =>
      this.#work.begin(id, async () => {
        const [begun, isJournalled = false] = await this.#store.write(tx => {
          const begun = startQueued(tx, id, runId, this.#beginning)
          if (begun === undefined) return []
          forgetJournal(tx, runId, { entries: 0 })
          return [begun, this.#putRequest(tx, runId, request, id)]
        })
        return begun && this.#launch(begun, request, { isJournalled })
      })
    const run = { id: runId, target, input, options: { identity: task.owner ?? undefined }, client }
    if (settings.admit === undefined) await begin()
    else await admitted(settings.admit, { ...run, continues: false }, begin, begun => begun !== undefined)
    this.#notifyAll(id)
  }

  async endQueued(id: string, runId: string, event: FinishEvent | ErrorEvent): Promise<void> {
    await this.#store.write(tx => {
      const task = this.#work.lookUp(tx, id)
      if (task?.isQueued !== true || task.runId !== runId) return
      if (event.type === 'error') failTask(tx, id, event.error, this.#ending)
      else concludeTask(tx, id, { status: statusNow('canceled') }, this.#ending)
    })
    this.#notifyAll(id)
  }

  /** Lists the run of a turn, and stores its request if another worker may go on with it. Returns whether it has a journal. */
  #putRequest(tx: Transaction, runId: string, request: TurnRequest, taskId: string): boolean {
    const { isVolatile, settings } = this.#options
    const task = tx.get<StoredTask>(TASKS, taskId)?.value
    if (task !== undefined) listTurn(tx, task, request, settings)
    const resumes = !isVolatile && request.target.servable.resume === true
    return putRequest(tx, runId, request, { resumes, keepsInput: false }, logOf(taskId))
  }

  #continuing(tx: Reader, { taskId, target }: TaskMessage): Continuing {
    if (target !== undefined) return {}
    return { task: this.#work.lookUp(tx, taskId), next: waitingIn(tx, taskId)?.next }
  }

  #begin(message: TaskMessage): Promise<LiveTask | Begun> {
    const { target, taskId } = message
    return this.#work.begin(taskId, async () => {
      // The view is from before the agent's first event, so a stream that begins there misses nothing.
      const [begun, request, isJournalled = false] = await this.#store.write(tx => {
        const begun =
          target === undefined
            ? resumeTask(tx, this.#find(tx, taskId, message), message, this.#beginning)
            : openTask(tx, message, target, this.#beginning)
        if (begun.isRepeated || !begun.task.isAtWork) return [begun]
        const of = target ?? this.#options.targetOf(skillOf(begun.task))
        const request = turnRequestOf(begun, message, of)
        return [begun, request, this.#putRequest(tx, begun.task.runId ?? '', request, taskId)]
      })
      if (request === undefined) return begun
      return this.#launch(begun, request, { isJournalled })
    })
  }

  /** Goes on with a task that was taken over. Never rejects. */
  async #goOn(id: string): Promise<void> {
    try {
      await this.#work.begin(id, async () => {
        if (this.#work.get(id) !== undefined) return
        const taken = await this.#store.read(tx => {
          const taken = this.#takeover.taken(tx, id)
          return taken && { ...taken, view: viewOf(taken.kept, this.#views.read(tx, id)) }
        })
        if (taken === undefined) return
        const { kept: task, view, request, cut } = taken
        this.#launch({ task, view }, { ...request, mayWait: false }, { isJournalled: true, cut })
      })
    } catch (error) {
      if (!mayPass(error)) return
      // No other host finds it while this one is alive.
      await later(GO_ON_RETRY_MS)
      return this.#goOn(id)
    }
  }

  async push(viewer: TaskViewer, request: PushRequest): Promise<readonly PushConfig[]> {
    const push = this.#pushOrThrow()
    if (request.act === 'set') await push.sender.check(request.config.url)
    const { taskId } = request
    await this.#work.look(taskId)
    if (request.act === 'get' || request.act === 'list') {
      return this.#store.read(tx => {
        this.#find(tx, taskId, viewer)
        return push.look(tx, request)
      })
    }
    const configs = await this.#store.write(tx => {
      const task = this.#find(tx, taskId, viewer)
      return push.change(tx, request, () => tx.length(logOf(task.id)))
    })
    if (request.act === 'set') push.deliverer.poke(taskId)
    return configs
  }

  async resume(): Promise<void> {
    // Notifications of tasks that other processes left behind are sent too.
    await this.lookAfter()
    this.#push?.deliverer.sweep()
  }

  async lookAfter(): Promise<void> {
    await this.#work.lookAfter()
    await this.#expire()
  }

  async close(): Promise<void> {
    await this.#push?.deliverer.close()
  }

  /** Ends or continues the tasks whose approvals have expired. */
  #expire(): Soon<void> {
    return this.#options.settings.approvals?.expireTasks({
      store: this.#store,
      refuse: (tx, id, text) => failTask(tx, id, text, this.#ending),
      onRefused: id => this.#notifyAll(id),
      answer: async (taskId, answers) => {
        const message = messageOf(answers)
        const task = await this.#store.read(tx => tx.get<StoredTask>(TASKS, taskId)?.value)
        const { owner = null, tenant } = task ?? {}
        const by = { isOther: true, change: (after: Waiting) => after }
        const owned = { owner, tenant, target: undefined }
        await this.deliver({ taskId, message, ...owned, mayWait: false, options: {}, by })
      },
    })
  }

  #pushOrThrow(): Push {
    if (this.#push !== undefined) return this.#push
    throw new ServableError('push_not_supported', 'Push notifications are not supported here')
  }

  /** Throws `task_not_found` for a task of another owner or tenant, and `insufficient_scope`. */
  #find(tx: Reader, id: string, { owner, tenant, only }: TaskViewer): StoredTask {
    const task = this.#work.find(tx, id, owner)
    if (task.tenant === tenant) return permitted(task, only)
    throw taskNotFound()
  }

  async get(id: string, viewer: TaskViewer): Promise<TaskView> {
    await this.#work.look(id)
    await this.#expire()
    return this.#store.read(tx => viewOf(this.#find(tx, id, viewer), this.#views.read(tx, id)))
  }

  async asking(id: string, tenant: string | undefined): Promise<Asking | undefined> {
    await this.#work.look(id)
    await this.#expire()
    const { approvals } = this.#options.settings
    return this.#store.read(tx => {
      const task = this.#work.lookUp(tx, id)
      return task !== undefined && task.tenant === tenant ? approvals?.asking(tx, id) : undefined
    })
  }

  async follow(id: string, viewer: TaskViewer, after: number): Promise<Follower | undefined> {
    await this.#work.look(id)
    const length = await this.#store.read(tx => {
      this.#find(tx, id, viewer)
      return tx.length(logOf(id))
    })
    if (after > length) return undefined
    return new LogFollower({
      store: this.#store,
      log: logOf(id),
      after,
      watch: this.#watches.of(id),
      isKept: tx => tx.get(TASKS, id) !== undefined,
      look: () => this.#work.look(),
    })
  }

  settled(id: string, viewer: TaskViewer): Promise<Task> {
    return this.#work.held(id, () => this.#settled(id, viewer))
  }

  async #settled(id: string, viewer: TaskViewer): Promise<Task> {
    const view = await this.get(id, viewer)
    if (isSettledState(view.task.status.state)) return view.task
    const live = this.#work.get(id)
    if (live !== undefined) {
      await live.live.tried()
      return (await this.get(id, viewer)).task
    }
    const follower = await this.follow(id, viewer, view.seq)
    if (follower === undefined) throw taskNotFound()
    try {
      for (let batch = await follower.next(); batch !== undefined; batch = await follower.next()) {
        if (batch.some(({ data }) => isSettling(JSON.parse(data) as TaskEntry))) break
      }
    } finally {
      follower.leave()
    }
    return (await this.get(id, viewer)).task
  }

  async cancel(id: string, viewer: TaskViewer): Promise<{ task: Task; wasCanceled: boolean }> {
    await this.#work.begun(id)
    await this.#work.look(id)
    const { status, runId } = await this.#store.read(tx => this.#find(tx, id, viewer))
    const { state } = status
    if (state === 'canceled') return { task: (await this.get(id, viewer)).task, wasCanceled: true }
    if (isTerminalState(state)) throw notCancelable(state)
    return this.#work.held(id, async () => {
      await this.#work.end(id, {
        stop: task => task.live.cancel(),
        conclude: tx => concludeTask(tx, id, { status: statusNow('canceled') }, this.#ending),
      })
      const { task } = await this.get(id, viewer)
      if (task.status.state !== 'canceled') throw notCancelable(task.status.state)
      if (state === 'submitted' && runId !== undefined) await this.#options.settings.line?.remove(runId)
      return { task, wasCanceled: false }
    })
  }

  async find(ref: string): Promise<readonly FoundTask[]> {
    return (await this.#work.findAll(ref)).map(toFound)
  }

  async list(viewer: TaskViewer, request: ListRequest): Promise<TaskPage> {
    await this.#work.look()
    await this.#expire()
    return this.#store.read(tx => {
      const page = listTasks(tx, viewer, request)
      const filler = new PageFiller(page, request)
      const before = this.#views.entriesRead
      for (const task of page.tasks) {
        if (this.#views.entriesRead - before > MAX_LIST_ENTRIES && filler.end()) break
        if (!filler.add(task, viewOf(task, this.#views.read(tx, task.id)).task)) break
      }
      return filler.done()
    })
  }

  async page(viewer: TaskViewer, request: ListRequest): Promise<ListedTasks> {
    await this.#work.look()
    return this.#store.read(tx => listTasks(tx, viewer, request))
  }

  async delete(id: string, viewer: TaskViewer): Promise<void> {
    await this.#work.begun(id)
    await this.#work.look(id)
    await this.#store.write(tx => {
      if (this.#find(tx, id, viewer).isAtWork) throw stillAtWork()
      forgetTask(tx, id)
    })
    this.#watches.fire(id)
  }

  #launch(
    begun: Begun,
    request: TurnRequest,
    journalled: Pick<LiveTaskOptions, 'isJournalled' | 'cut'>,
  ): LiveTask {
    const { id, instance } = begun.task
    const live = new LiveTask(begun, request, {
      ...journalled,
      store: this.#store,
      settings: this.#options.settings,
      retention: this.#options.retention,
      views: this.#views,
      watch: this.#watches.of(id),
      conclude: (tx, conclusion) => concludeTask(tx, id, conclusion, this.#ending),
      onTask: () => this.#notifyAll(id),
      leave: tx => this.#takeover.leave(tx, id, instance),
      retire: () => this.#work.worker.retire(),
    })
    this.#work.add(id, live, {
      ended: live.ended,
      done: live.recorded,
      onEnded: () => {
        live.settle()
        // The push deliverer waits on this watch, and there will be no more entries.
        this.#watches.fire(id)
        if (!live.isMessageOnly) this.#push?.deliverer.poke(id)
        this.#reportStatus(id)
        this.#watches.drop(id)
        // In an object, its index frees the slot first.
        if (this.#options.upkeep === undefined) void this.#options.settings.onFree?.()
      },
    })
    return live
  }

  /** Wakes the followers of a task and sends its notifications. */
  #notify(id: string): void {
    this.#watches.fire(id)
    this.#push?.deliverer.poke(id)
  }

  #notifyAll(id: string): void {
    this.#notify(id)
    this.#reportStatus(id)
  }

  #reportStatus(id: string): void {
    const { onStatus } = this.#options
    if (onStatus !== undefined) void this.#readStatus(id).then(task => task && onStatus(task))
  }

  async #readStatus(id: string): Promise<StoredTask | undefined> {
    try {
      return await this.#store.read(tx => this.#work.lookUp(tx, id))
    } catch {
      // The status could not be read. The next request for the task reads it.
      return undefined
    }
  }

  /** The owner of a task, or null if the task is gone. Without an owner the log does not contain whole ids. */
  async #ownerOf(id: string): Promise<Viewer> {
    return (await this.#readStatus(id))?.owner ?? null
  }
}

function notCancelable(state: string): ServableError {
  return new ServableError('task_not_cancelable', `The task is ${state} and can no longer be cancelled`)
}
