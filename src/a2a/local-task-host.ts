/**
 * The task host over a store that is at hand: for a server, or for a single task.
 *
 * @module
 */

import type { RunOptions } from '../agents/contract.ts'
import { isTerminal } from '../agents/event.ts'
import { ServableError } from '../errors.ts'
import { notStored } from '../runs/failures.ts'
import type { Follower, Viewer } from '../runs/host.ts'
import { LogFollower } from '../runs/log-follower.ts'
import { type LogWriting, writeLog } from '../runs/log-writer.ts'
import { idsOf } from '../runs/record.ts'
import { createRecovery, type Recovery } from '../runs/recovery.ts'
import { keepMsOf } from '../runs/retention.ts'
import { type Run, startRun } from '../runs/run.ts'
import type { Target } from '../runs/target.ts'
import { createWatch, type Watch } from '../runs/watch.ts'
import { nameWorker } from '../runs/worker-name.ts'
import type { LocalParts, Retention } from '../state/state.ts'
import { PATIENCE_MS, type Reader, type Store, type Transaction } from '../state/store.ts'
import { append, type Beginning, type Begun, openTask, resumeTask } from './begin-task.ts'
import { listTasks, PageFiller } from './list-tasks.ts'
import { logOf } from './log-name.ts'
import {
  isSettledState,
  isTerminalState,
  type ListRequest,
  type Message,
  type Task,
  type TaskPage,
} from './model.ts'
import { Opening } from './opening.ts'
import { toRunInput } from './parts.ts'
import type { PushConfig, PushRequest } from './push/config.ts'
import type { DelivererOptions } from './push/deliverer.ts'
import { markDue } from './push/kept.ts'
import { createPush, type Push } from './push/push.ts'
import type { TaskEntry } from './task-body.ts'
import type { Delivered, FoundTask, TaskHost, TaskMessage, TaskSettings, TaskView } from './task-host.ts'
import {
  AT_WORK,
  forgetTask,
  putTask,
  type StoredTask,
  saveBody,
  statusNow,
  TASKS,
  toFound,
  viewOf,
} from './task-record.ts'
import { TaskViews } from './task-views.ts'
import { Turn } from './turn.ts'

/** What the local task host needs. */
export interface LocalTaskHostOptions {
  readonly store: Store
  readonly settings: TaskSettings
  readonly retention: Retention
  /** Keeps the store open while a task is at work. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** The agent of a name, to go on with a task of its. Throws `agent_not_found`. */
  readonly agentOf: (name: string) => Target
  /** Told when a task's status has changed. */
  readonly onStatus?: (task: StoredTask) => void
  /** Where it is not this process that looks after time and its own life. */
  readonly upkeep?: Pick<DelivererOptions, 'keepAlive' | 'schedule'>
}

/** Makes the host. Tasks whose agent a dead process left at work are failed at the first call. */
export function createLocalTaskHost(options: LocalTaskHostOptions): TaskHost {
  return new LocalTaskHost(options)
}

/** Entries of logs that are read for one list before its page ends. What is held of a task is not read again. */
const MAX_LIST_ENTRIES = 10_000

/** A task at work here. */
interface AtWork {
  readonly run: Run
  readonly writing: LogWriting
  /** It is known that there will be a task, and no bare message. */
  isTask: boolean
}

class LocalTaskHost implements TaskHost {
  readonly #options: LocalTaskHostOptions
  readonly #store: Store
  /** Every look at the store comes after one of this, so that dead processes' tasks have ended before anything is read. */
  readonly #recovery: Recovery
  readonly #atWork = new Map<string, AtWork>()
  /** Those who follow a task, whether its agent is at work or waits. */
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
          const atWork = this.#atWork.get(id)
          return atWork && { changed: this.#watchOf(id).changed, isTask: atWork.isTask }
        },
        onGivenUp: async (id, why) => settings.onGivenUp({ id, owner: await this.#ownerOf(id) }, why),
        upkeep,
      })
    const worker = nameWorker(store)
    this.#recovery = createRecovery(store, {
      worker,
      collection: AT_WORK,
      workerOf: (tx, id) => {
        const task = tx.get<StoredTask>(TASKS, id)?.value
        return task?.isAtWork ? task.instance : undefined
      },
      end: (tx, id) => this.#conclude(tx, id, statusNow('failed')),
    })
    const { change } = this.#push ?? {}
    this.#beginning = { settings, worker, recovery: this.#recovery, views: this.#views, setPush: change }
  }

  async deliver(message: TaskMessage): Promise<Delivered> {
    const { target, pushConfig } = message
    if (pushConfig !== undefined) await this.#pushOrThrow().sender.check(pushConfig.url)
    await this.#recovery.look(message.taskId)
    // The view is as it is before the agent's first word: a stream begins there and misses nothing.
    const begun = await this.#store.write(tx =>
      target === undefined
        ? resumeTask(tx, this.#find(tx, message.taskId, message.owner), message, this.#beginning)
        : openTask(tx, message, target, this.#beginning),
    )
    return this.#work(begun, message, target ?? this.#options.agentOf(begun.task.agent))
  }

  async push(viewer: Viewer, request: PushRequest): Promise<readonly PushConfig[]> {
    const push = this.#pushOrThrow()
    if (request.act === 'set') await push.sender.check(request.config.url)
    const { taskId } = request
    await this.#recovery.look(taskId)
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
    // Receivers are told of what others have left behind as well.
    await this.lookAfter()
    this.#push?.deliverer.sweep()
  }

  lookAfter(): Promise<void> {
    const stop = (id: string) => this.#atWork.get(id)?.run.cancel()
    return this.#recovery.lookAfter({ ids: [...this.#atWork.keys()], logOf, stop })
  }

  #pushOrThrow(): Push {
    if (this.#push !== undefined) return this.#push
    throw new ServableError('push_not_supported', 'Push notifications are off here')
  }

  async get(id: string, viewer: Viewer): Promise<TaskView> {
    await this.#recovery.look(id)
    return this.#store.read(tx => viewOf(this.#find(tx, id, viewer), this.#views.read(tx, id)))
  }

  async follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    await this.#recovery.look(id)
    await this.#store.read(tx => this.#find(tx, id, viewer))
    return new LogFollower({
      store: this.#store,
      log: logOf(id),
      after,
      watch: this.#watchOf(id),
      isKept: tx => tx.get(TASKS, id) !== undefined,
      look: () => this.#recovery.look(),
    })
  }

  async settled(id: string, viewer: Viewer): Promise<Task> {
    // Whoever waits for it gets it, however little room there is.
    const letGo = this.#store.hold?.(logOf(id))
    try {
      return await this.#settled(id, viewer)
    } finally {
      letGo?.()
    }
  }

  async #settled(id: string, viewer: Viewer): Promise<Task> {
    const view = await this.get(id, viewer)
    if (isSettledState(view.task.status.state)) return view.task
    const work = this.#atWork.get(id)
    if (work !== undefined) {
      await work.writing.tried()
      return (await this.get(id, viewer)).task
    }
    const follower = await this.follow(id, viewer, view.seq)
    try {
      for (let batch = await follower.next(); batch !== undefined; batch = await follower.next()) {
        if (batch.some(({ data }) => isSettling(JSON.parse(data) as TaskEntry))) break
      }
    } finally {
      follower.leave()
    }
    return (await this.get(id, viewer)).task
  }

  async cancel(id: string, viewer: Viewer): Promise<{ task: Task; wasCanceled: boolean }> {
    await this.#recovery.look(id)
    const { state } = (await this.#store.read(tx => this.#find(tx, id, viewer))).status
    if (state === 'canceled') return { task: (await this.get(id, viewer)).task, wasCanceled: true }
    if (isTerminalState(state)) throw notCancelable(state)
    const letGo = this.#store.hold?.(logOf(id))
    try {
      const atWork = this.#atWork.get(id)
      atWork?.run.cancel()
      if (atWork !== undefined) await atWork.writing.tried({ withinMs: PATIENCE_MS })
      else await this.#store.write(tx => this.#conclude(tx, id, statusNow('canceled')))
      const { task } = await this.get(id, viewer)
      if (task.status.state !== 'canceled') throw notCancelable(task.status.state)
      return { task, wasCanceled: false }
    } finally {
      letGo?.()
    }
  }

  async find(ref: string): Promise<readonly FoundTask[]> {
    const ids = await this.#store.read(tx => idsOf(tx, TASKS, ref))
    for (const id of ids) await this.#recovery.look(id)
    return this.#store.read(tx => {
      const tasks = ids.map(id => this.#lookUp(tx, id))
      return tasks.flatMap(task => (task === undefined ? [] : [toFound(task)]))
    })
  }

  async list(owner: Viewer, request: ListRequest): Promise<TaskPage> {
    await this.#recovery.look()
    return this.#store.read(tx => {
      const page = listTasks(tx, owner, request)
      const filler = new PageFiller(page, request)
      const before = this.#views.entriesRead
      for (const task of page.tasks) {
        if (this.#views.entriesRead - before > MAX_LIST_ENTRIES && filler.end()) break
        if (!filler.add(task, viewOf(task, this.#views.read(tx, task.id)).task)) break
      }
      return filler.done()
    })
  }

  #work(
    { task, view }: Begun,
    { message, options, mayWait, secrets = [] }: TaskMessage,
    target: Target,
  ): Promise<Delivered> {
    const { id } = task
    const settings = this.#settingsOf(id)
    const turn = new Turn(task)
    const opening = new Opening(task, view, { turn, mayWait: mayWait || mayAnswerWithMessage(target) })
    const run = startRun(
      target,
      toRunInput(message),
      { ...options, ...ofTask(task, message, options) },
      settings,
      { secrets: () => secrets },
    )
    const keepUp = this.#views.keepUp(id, this.#store)
    const writing = writeLog(run, {
      store: this.#store,
      log: logOf(id),
      watch: this.#watchOf(id),
      maxBytes: settings.maxBytes,
      maxLength: settings.maxLength,
      working: settings.working,
      gatherMs: settings.gatherMs,
      onStuck: thrown => settings.onFailure?.(notStored(run.id, target, { options, secrets, thrown })),
      encode: event => {
        if (isTerminal(event)) return []
        const entries = opening.entriesOf(event)
        keepUp(entries.length)
        return entries.map(entry => JSON.stringify(entry))
      },
      finish: (tx, event) => {
        if (opening.isMessageOnly) return forgetTask(tx, id)
        const { status, entries } = turn.end(event)
        for (const entry of entries.slice(0, -1)) append(tx, id, entry)
        this.#conclude(tx, id, status, entries.at(-1))
      },
    })
    const atWork = { run, writing, isTask: false }
    this.#atWork.set(id, atWork)
    const letGo = this.#options.keepOpen?.()
    void writing.ended.then(() => {
      // The next turn may have begun in the commit in which this one has ended.
      if (this.#atWork.get(id) === atWork) this.#atWork.delete(id)
      letGo?.()
      // Whoever tells receivers of it waits for no more.
      this.#watches.get(id)?.changed.fire()
      opening.settle()
      this.#tellStatus(id)
      this.#letGo(id)
    })
    return opening.delivered.then(delivered => {
      if ('view' in delivered) {
        atWork.isTask = true
        this.#watches.get(id)?.changed.fire()
        this.#push?.deliverer.poke(id)
        this.#tellStatus(id)
      }
      return delivered
    })
  }

  /** The log finds the task of a run that fails. */
  #settingsOf(taskId: string): TaskSettings {
    const { settings } = this.#options
    const { onFailure } = settings
    if (onFailure === undefined) return settings
    return { ...settings, onFailure: failure => onFailure({ ...failure, taskId }) }
  }

  #tellStatus(id: string): void {
    const { onStatus } = this.#options
    if (onStatus !== undefined) void this.#readStatus(id).then(task => task && onStatus(task))
  }

  async #readStatus(id: string): Promise<StoredTask | undefined> {
    try {
      return await this.#store.read(tx => this.#lookUp(tx, id))
    } catch {
      // Whoever asks for the task next is told.
      return undefined
    }
  }

  /** Writes a task's last status of a turn; nothing where it has ended before. */
  #conclude(tx: Transaction, id: string, status: StoredTask['status'], entry?: TaskEntry): void {
    const task = tx.get<StoredTask>(TASKS, id)?.value
    if (task === undefined || isTerminalState(task.status.state)) return
    const { contextId } = task
    const isEnd = isTerminalState(status.state)
    const seq = append(tx, id, entry ?? { type: 'status', taskId: id, contextId, status }, isEnd)
    const ended = { ...task, status, isAtWork: false }
    const keepMs = keepMsOf(this.#options.settings, this.#options.retention)
    putTask(tx, ended, isEnd ? Date.now() + keepMs : undefined)
    tx.delete(AT_WORK, id)
    saveBody(tx, ended, seq, this.#views)
    // Should this process end now, another one tells receivers.
    if (this.#push !== undefined) markDue(tx, id)
    // Once it is written.
    queueMicrotask(() => {
      this.#watches.get(id)?.changed.fire()
      this.#push?.deliverer.poke(id)
    })
  }

  #find(tx: Reader, id: string, viewer: Viewer): StoredTask {
    const task = this.#lookUp(tx, id)
    if (task !== undefined && (task.owner === null || task.owner === viewer)) return task
    throw new ServableError('task_not_found', 'Task not found')
  }

  /** A task as it is by now: gone when its time has come. */
  #lookUp(tx: Reader, id: string): StoredTask | undefined {
    const { value, expiresAt = Number.POSITIVE_INFINITY } = tx.get<StoredTask>(TASKS, id) ?? {}
    return expiresAt <= Date.now() ? undefined : value
  }

  /** Null too for a task that is gone: then nobody's id is told whole. */
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
        tellsAll: () => !this.#store.isShared || this.#atWork.has(id),
      })
      this.#watches.set(id, watch)
    }
    return watch
  }

  /** A task that nobody works on and nobody follows needs no watch. */
  #letGo(id: string): void {
    const watch = this.#watches.get(id)
    if (watch?.followers === 0 && !this.#atWork.has(id)) this.#watches.delete(id)
  }
}

/** What the run of a task knows: its conversation, and A2A's own ids. */
function ofTask({ id, contextId }: StoredTask, message: Message, { metadata }: RunOptions): RunOptions {
  const ids = { taskId: id, contextId, messageId: message.messageId, message }
  return { sessionId: contextId, metadata: { ...metadata, ...ids } }
}

/** An agent that says so may answer with a bare message after any silence. */
function mayAnswerWithMessage({ servable }: Target): boolean {
  return servable.capabilities?.includes('message') ?? false
}

function isSettling(entry: TaskEntry): boolean {
  return entry.type === 'status' && isSettledState(entry.status.state)
}

function notCancelable(state: string): ServableError {
  return new ServableError('task_not_cancelable', `The task is ${state} and can no longer be cancelled`)
}
