/**
 * The task host over a store that this process can reach: for a server, or for a single task in an object.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { admitted } from '../runs/admit.ts'
import type { Asking } from '../runs/asking.ts'
import { stillAtWork } from '../runs/feedback.ts'
import type { Follower, Viewer } from '../runs/host.ts'
import { KeptWork } from '../runs/kept-work.ts'
import { LogFollower } from '../runs/log-follower.ts'
import { partitionOf } from '../runs/record.ts'
import { keepMsOf } from '../runs/retention.ts'
import type { Target } from '../runs/target.ts'
import { dropWaiting, putWaiting, type Waiting, waitingIn } from '../runs/waiting.ts'
import { createWatch, type Watch } from '../runs/watch.ts'
import type { LocalParts, Retention } from '../state/state.ts'
import type { Reader, Soon, Store, Transaction } from '../state/store.ts'
import { append, type Beginning, type Begun, openTask, resumeTask } from './begin-task.ts'
import { listTasks, PageFiller } from './list-tasks.ts'
import { LiveTask } from './live-task.ts'
import { logOf } from './log-name.ts'
import { isSettledState, isTerminalState, type ListRequest, type Task, type TaskPage } from './model.ts'
import { partsOf, toRunInput } from './parts.ts'
import type { PushConfig, PushRequest } from './push/config.ts'
import type { DelivererOptions } from './push/deliverer.ts'
import { markDue } from './push/kept.ts'
import { createPush, type Push } from './push/push.ts'
import type { Skill } from './skills.ts'
import type { TaskEntry } from './task-body.ts'
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
  putTask,
  type StoredTask,
  saveBody,
  skillOf,
  statusNow,
  TASKS,
  toFound,
  viewOf,
} from './task-record.ts'
import { TaskViews } from './task-views.ts'

/** What the local task host needs. */
export interface LocalTaskHostOptions {
  readonly store: Store
  readonly settings: TaskSettings
  readonly retention: Retention
  /** Keeps the store open while an agent works on a task. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** Returns the servable that continues a task. Throws `agent_not_found`, `team_not_found` or `workflow_not_found`. */
  readonly targetOf: (skill: Skill) => Target
  /** Is called when a task's status has changed. */
  readonly onStatus?: (task: StoredTask) => void
  /** Given if something other than this process keeps time and keeps the process alive, as in a Durable Object. */
  readonly upkeep?: Pick<DelivererOptions, 'keepAlive' | 'schedule'>
}

/** Makes the host. Its first call fails the tasks whose process died while their agent was working. */
export function createLocalTaskHost(options: LocalTaskHostOptions): TaskHost {
  return new LocalTaskHost(options)
}

/** What a task says whose process died, or lost its store, while the agent was at work. */
const CUT_OFF = 'The service stopped while the agent was at work. Send the message again, without a task id'

/** Most log entries that are read for one page of a list. The page ends after that. Entries of held tasks do not count. */
const MAX_LIST_ENTRIES = 10_000

class LocalTaskHost implements TaskHost {
  readonly #options: LocalTaskHostOptions
  readonly #store: Store
  readonly #work: KeptWork<StoredTask, LiveTask>
  /** The watches of tasks with followers, whether the agent works or the task waits. */
  readonly #watches = new Map<string, Watch>()
  readonly #push: Push | undefined
  readonly #views = new TaskViews()
  readonly #beginning: Beginning

  constructor(options: LocalTaskHostOptions) {
    this.#options = options
    const { store, settings, upkeep } = options
    this.#store = store
    this.#push =
      settings.push &&
      createPush({
        store,
        settings: settings.push,
        growing: id => {
          const live = this.#work.get(id)
          return live && { changed: this.#watchOf(id).changed, isTask: live.isTask }
        },
        onGivenUp: async (id, why) => settings.onGivenUp({ id, owner: await this.#ownerOf(id) }, why),
        upkeep,
      })
    this.#work = new KeptWork<StoredTask, LiveTask>(options, {
      collection: TASKS,
      atWork: AT_WORK,
      isAtWork: task => task.isAtWork,
      logOf,
      stop: live => live.stop(),
      conclude: (tx, id) => this.#fail(tx, id, CUT_OFF),
      onConcluded: id => this.#tell(id),
      missing: notFound,
    })
    const { worker, recovery } = this.#work
    this.#beginning = { settings, worker, recovery, views: this.#views, setPush: this.#push?.change }
  }

  async deliver(sent: TaskMessage): Promise<Delivered> {
    const { pushConfig, taskId } = sent
    if (pushConfig !== undefined) await this.#pushOrThrow().sender.check(pushConfig.url)
    await this.#work.look(taskId)
    if (sent.by?.change === undefined) await this.#expire()
    const message = await this.#screened(sent)
    const begun = await this.#admitted(message, message => this.#begin(message))
    if (begun instanceof LiveTask) return begun.delivered
    if (begun.isRepeated) return { view: begun.view }
    // It goes on to wait, and says so.
    this.#tell(taskId)
    this.#tellStatus(taskId)
    return { view: begun.view }
  }

  /** Begins once the run of the message is admitted, which has an id of its own then. */
  async #admitted(
    message: TaskMessage,
    begin: (message: TaskMessage) => Promise<LiveTask | Begun>,
  ): Promise<LiveTask | Begun> {
    const { admit } = this.#options.settings
    if (admit === undefined) return begin(message)
    const { owner, client = partitionOf(owner) } = message
    const { task, next = crypto.randomUUID() } = await this.#store.read(tx => this.#waits(tx, message))
    const target = message.target ?? (task && this.#options.targetOf(skillOf(task)))
    // Of a task that is not there.
    if (target === undefined) return begin(message)
    const run = { id: next, target, options: { identity: owner ?? undefined }, client }
    const options = { ...message.options, runId: next }
    return admitted(
      admit,
      run,
      () => begin({ ...message, options }),
      begun => begun instanceof LiveTask,
    )
  }

  /** The task that a message continues, and the run that goes on with it where that is chosen. */
  #waits(
    tx: Reader,
    { taskId, target }: TaskMessage,
  ): { task?: StoredTask | undefined; next?: string | undefined } {
    if (target !== undefined) return {}
    return { task: this.#work.lookUp(tx, taskId), next: waitingIn(tx, taskId)?.next }
  }

  #begin(message: TaskMessage): Promise<LiveTask | Begun> {
    const { target, taskId } = message
    return this.#work.begin(taskId, async () => {
      // The view is as it is before the agent's first word: a stream begins there and misses nothing.
      const begun = await this.#store.write(tx =>
        target === undefined
          ? resumeTask(tx, this.#find(tx, taskId, message), message, this.#beginning)
          : openTask(tx, message, target, this.#beginning),
      )
      if (begun.isRepeated || !begun.task.isAtWork) return begun
      return this.#launch(begun, message, target ?? this.#options.targetOf(skillOf(begun.task)))
    })
  }

  /** The message, once it has been looked at. Nothing of it is kept before that. */
  async #screened(sent: TaskMessage): Promise<TaskMessage> {
    const { screen } = this.#options.settings
    const { message, taskId, options, by } = sent
    if (screen === undefined || by?.change !== undefined) return sent
    const stored = () => this.#store.read(tx => skillOf(this.#find(tx, taskId, sent)))
    const target = sent.target ?? (await stored())
    const input = toRunInput(message)
    const said = await screen({ input }, { target, sessionId: message.contextId, identity: options.identity })
    if (said.input === undefined || said.input === input) return sent
    return { ...sent, message: { ...message, parts: partsOf(said.input) } }
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

  /** Ends the tasks whose approvals have expired, or goes on with them. */
  #expire(): Soon<void> {
    return this.#options.settings.approvals?.expireTasks({
      store: this.#store,
      refuse: (tx, id, text) => this.#fail(tx, id, text),
      onRefused: id => {
        this.#tell(id)
        this.#tellStatus(id)
      },
      answer: async (taskId, answers) => {
        const message = {
          messageId: crypto.randomUUID(),
          role: 'user',
          parts: [{ data: { answers } }],
        } as const
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

  /** Throws `task_not_found` for a task that is another owner's or another tenant's. */
  #find(tx: Reader, id: string, { owner, tenant }: TaskViewer): StoredTask {
    const task = this.#work.find(tx, id, owner)
    if (task.tenant === tenant) return task
    throw notFound()
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
      watch: this.#watchOf(id),
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
      await live.tried()
      return (await this.get(id, viewer)).task
    }
    const follower = await this.follow(id, viewer, view.seq)
    if (follower === undefined) throw notFound()
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
    const { state } = (await this.#store.read(tx => this.#find(tx, id, viewer))).status
    if (state === 'canceled') return { task: (await this.get(id, viewer)).task, wasCanceled: true }
    if (isTerminalState(state)) throw notCancelable(state)
    return this.#work.held(id, async () => {
      await this.#work.end(id, {
        stop: live => live.cancel(),
        conclude: tx => this.#conclude(tx, id, statusNow('canceled')),
      })
      const { task } = await this.get(id, viewer)
      if (task.status.state !== 'canceled') throw notCancelable(task.status.state)
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
    this.#watches.get(id)?.changed.fire()
  }

  #launch(begun: Begun, message: TaskMessage, target: Target): LiveTask {
    const { id } = begun.task
    const live = new LiveTask(begun, message, target, {
      store: this.#store,
      settings: this.#options.settings,
      views: this.#views,
      watch: this.#watchOf(id),
      conclude: (tx, status, ...more) => this.#conclude(tx, id, status, ...more),
      onTask: () => {
        this.#tell(id)
        this.#tellStatus(id)
      },
    })
    this.#work.add(id, live, {
      ended: live.ended,
      onEnded: () => {
        live.settle()
        // The push deliverer waits on this watch. Nothing more will come.
        this.#watches.get(id)?.changed.fire()
        if (!live.isMessageOnly) this.#push?.deliverer.poke(id)
        this.#tellStatus(id)
        this.#letGo(id)
      },
    })
    return live
  }

  /** Wakes the followers of a task and sends its notifications. */
  #tell(id: string): void {
    this.#watches.get(id)?.changed.fire()
    this.#push?.deliverer.poke(id)
  }

  #tellStatus(id: string): void {
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

  /** Ends a task that nobody works on any more. */
  #fail(tx: Transaction, id: string, text: string): void {
    const { contextId } = tx.get<StoredTask>(TASKS, id)?.value ?? {}
    const ids = { messageId: crypto.randomUUID(), taskId: id, contextId }
    this.#conclude(tx, id, statusNow('failed', { ...ids, role: 'agent', parts: [{ text }] }))
  }

  /** Writes a task's last status of a turn; nothing where it has ended before. */
  #conclude(
    tx: Transaction,
    id: string,
    status: StoredTask['status'],
    entry?: TaskEntry,
    waiting?: Waiting,
  ): void {
    const task = tx.get<StoredTask>(TASKS, id)?.value
    // It was deleted by someone who thought that nobody worked on it: nothing of it may be left.
    if (task === undefined) tx.deleteLog(logOf(id))
    if (task === undefined || isTerminalState(task.status.state)) return
    const { contextId } = task
    const isEnd = isTerminalState(status.state)
    const seq = append(tx, id, entry ?? { type: 'status', taskId: id, contextId, status }, isEnd)
    const ended = { ...task, status, isAtWork: false }
    const { settings, retention } = this.#options
    const keepMs = keepMsOf({ ...skillOf(task), owner: task.owner }, settings, retention)
    putTask(tx, ended, isEnd ? tx.now + keepMs : undefined)
    tx.delete(AT_WORK, id)
    const { approvals } = this.#options.settings
    if (waiting === undefined) dropWaiting(tx, id)
    else putWaiting(tx, id, { ...waiting, isTask: true }, { thing: logOf(id) }, approvals)
    saveBody(tx, ended, seq, this.#views)
    // If this process ends now, another one sends the notifications.
    if (this.#push !== undefined) markDue(tx, id)
  }

  /** The owner of a task, or null if the task is gone. Without an owner the log does not contain whole ids. */
  async #ownerOf(id: string): Promise<Viewer> {
    try {
      return (await this.#store.read(tx => tx.get<StoredTask>(TASKS, id)))?.value.owner ?? null
    } catch {
      return null
    }
  }

  #watchOf(id: string): Watch {
    let watch = this.#watches.get(id)
    if (watch === undefined) {
      watch = createWatch(this.#options.settings.maxFollowers, {
        onCount: count => {
          if (count === 0) this.#letGo(id)
        },
        tellsAll: () => !this.#store.isShared || this.#work.get(id) !== undefined,
      })
      this.#watches.set(id, watch)
    }
    return watch
  }

  /** Drops the watch of a task that has no followers and no working agent. */
  #letGo(id: string): void {
    const watch = this.#watches.get(id)
    if (watch?.followers === 0 && this.#work.get(id) === undefined) this.#watches.delete(id)
  }
}

function notFound(): ServableError {
  return new ServableError('task_not_found', 'Task not found')
}

function isSettling(entry: TaskEntry): boolean {
  return entry.type === 'status' && isSettledState(entry.status.state)
}

function notCancelable(state: string): ServableError {
  return new ServableError('task_not_cancelable', `The task is ${state} and can no longer be cancelled`)
}
