/**
 * The task host over a store that this process can reach: for a server, or for a single task in an object.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../../agents/contract.ts'
import { ServableError } from '../../../base/errors.ts'
import { stillAtWork } from '../../../runs/feedback.ts'
import type { Follower, Viewer } from '../../../runs/stored/host.ts'
import { LogFollower } from '../../../runs/stored/log-follower.ts'
import { StoredWork } from '../../../runs/stored/stored-work.ts'
import type { Asking } from '../../../runs/waiting/asking.ts'
import { type Waiting, waitingIn } from '../../../runs/waiting/waiting.ts'
import type { LocalParts } from '../../../stores/state.ts'
import type { Reader, Soon, Store } from '../../../stores/store.ts'
import { isSettledState, isTerminalState, type ListRequest, type Task, type TaskPage } from '../model.ts'
import type { PushConfig, PushRequest } from '../push/config.ts'
import type { PushDelivererOptions } from '../push/deliverer.ts'
import { createPush, type Push } from '../push/push.ts'
import { admittedMessage, type Continuing, checkAnswers, orQueued, screened } from './admit-message.ts'
import { messageOf } from './answers.ts'
import { concludeTask, type EndContext, failTask } from './end-task.ts'
import { listTasks, PageFiller } from './list-tasks.ts'
import { LiveTask } from './live-task.ts'
import { isSettling, logOf, type TaskEntry } from './task-body.ts'
import type {
  Delivered,
  FoundTask,
  ListedTasks,
  TaskHost,
  TaskMessage,
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
  taskNotFound,
  toFound,
  viewOf,
} from './task-record.ts'
import { TaskViews } from './task-views.ts'
import { TaskWatches } from './task-watches.ts'
import { Turns, type TurnsOptions } from './turns.ts'

/** What the local task host needs. */
export interface LocalTaskHostOptions extends TurnsOptions {
  /** Keeps the store open while an agent works on a task. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** Is called when a task's status has changed. */
  readonly onStatus?: (task: StoredTask) => void
  /** Given if something else sets alarms and keeps the process alive, as in a Durable Object. */
  readonly upkeep?: Pick<PushDelivererOptions, 'keepAlive' | 'schedule'>
}

/** Makes the host. Its first call fails the tasks whose process died while their agent was working. */
export function createLocalTaskHost(options: LocalTaskHostOptions): TaskHost {
  return new LocalTaskHost(options)
}

/** Most log entries that are read for one page of a list. The page ends after that. Entries of held tasks do not count. */
const MAX_LIST_ENTRIES = 10_000

class LocalTaskHost implements TaskHost {
  readonly #options: LocalTaskHostOptions
  readonly #store: Store
  readonly #work: StoredWork<StoredTask, LiveTask>
  readonly #watches: TaskWatches
  readonly #push: Push | undefined
  readonly #turns: Turns
  readonly #views = new TaskViews()
  readonly #ending: EndContext

  constructor(options: LocalTaskHostOptions) {
    this.#options = options
    const { store, settings, retention, upkeep } = options
    this.#store = store
    // In an object, its own alarm deletes the task.
    if (upkeep === undefined)
      settings.alarm?.add({ expiring: [TASKS], forget: (tx, _, id) => forgetTask(tx, id) })
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
      conclude: (tx, id) => this.#turns.conclude(tx, id),
      onConcluded: id => {
        this.#notify(id)
        settings.working?.keep(this.#turns.goOn(id))
      },
      missing: taskNotFound,
    })
    this.#watches = new TaskWatches({
      maxFollowers: settings.maxFollowers,
      isAtWork: id => this.#work.get(id) !== undefined,
      isShared: () => store.isShared,
    })
    this.#ending = { settings, retention, views: this.#views, keepsJournals: upkeep !== undefined }
    const { worker, recovery } = this.#work
    const beginning = { settings, worker, recovery, views: this.#views, setPush: this.#push?.change }
    this.#turns = new Turns(options, {
      ...{ beginning, ending: this.#ending, work: this.#work, watches: this.#watches },
      onChanged: id => this.#notifyAll(id),
      onEnded: (id, live) => {
        // The push deliverer waits on this watch, and there will be no more entries.
        this.#watches.fire(id)
        if (!live.isMessageOnly) this.#push?.deliverer.poke(id)
        this.#reportStatus(id)
        this.#watches.drop(id)
      },
    })
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
          message => this.#turns.begin(message, tx => this.#find(tx, taskId, message)),
          begun => begun instanceof LiveTask,
        ),
      (...queued) => this.#turns.openQueued(...queued),
    )
    if (begun instanceof LiveTask) return begun.delivered
    if (begun.isRepeated) return { view: begun.view }
    // The task still waits, and its new status states for what.
    this.#notifyAll(taskId)
    return { view: begun.view }
  }

  startQueued(id: string, runId: string): Promise<void> {
    return this.#turns.startQueued(id, runId)
  }

  endQueued(id: string, runId: string, event: FinishEvent | ErrorEvent): Promise<void> {
    return this.#turns.endQueued(id, runId, event)
  }

  #continuing(tx: Reader, { taskId, target }: TaskMessage): Continuing {
    if (target !== undefined) return {}
    return { task: this.#work.lookUp(tx, taskId), next: waitingIn(tx, taskId)?.next }
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
    const atWork = this.#work.get(id)
    if (atWork !== undefined) {
      await atWork.live.tried()
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
    this.#options.settings.alarm?.wake()
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
