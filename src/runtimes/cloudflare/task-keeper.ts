/**
 * The task of a Durable Object: its agent runs in the object, and all that is kept of it is in the object's database.
 *
 * @module
 */

import { createLocalTaskHost } from '../../a2a/local-task-host.ts'
import type { Message, Task } from '../../a2a/model.ts'
import type { PushConfig, PushRequest, Sent } from '../../a2a/push/config.ts'
import { nextDue } from '../../a2a/push/kept.ts'
import type { Delivered, FoundTask, TaskHost, TaskView } from '../../a2a/task-host.ts'
import { type StoredTask, TASKS } from '../../a2a/task-record.ts'
import type { RunOptions } from '../../agents/contract.ts'
import { ServableError } from '../../errors.ts'
import type { Viewer } from '../../runs/host.ts'
import type { Target } from '../../runs/target.ts'
import type { Service } from '../../service.ts'
import { Alarm } from './alarm.ts'
import { indexOf, Kept } from './kept.ts'
import type { ObjectState } from './platform.ts'
import { type Answer, type Answerer, answering, streamOf, unwrap } from './rpc.ts'
import type { ObjectStore } from './sql.ts'
import { RETRY_MS, resolveHere, settingsHere, WATCH_MS } from './upkeep.ts'

/** A message as it crosses from the Worker. Its keys stay in memory on both sides. */
export interface DeliverMessage {
  readonly taskId: string
  readonly message: Message
  /** The agent of a new task; undefined where the message continues one. */
  readonly agent: string | undefined
  readonly owner: Viewer
  /** Whose place the task takes. */
  readonly client: string
  readonly mayWait: boolean
  readonly options: RunOptions
  readonly secrets?: readonly string[] | undefined
  readonly pushConfig?: Sent | undefined
}

/** Keeps the task of one object. */
export class TaskKeeper {
  readonly #alarm: Alarm
  readonly #store: ObjectStore
  readonly #host: TaskHost
  readonly #agentOf: (name: string) => Target
  /** The status that the index has heard of last. */
  #told: string | undefined
  readonly #kept: Kept<StoredTask>
  readonly #answer: Answerer

  constructor(state: ObjectState, store: ObjectStore, service: Service) {
    this.#alarm = new Alarm(state.storage)
    this.#store = store
    this.#answer = answering(() => service.settings.log)
    this.#kept = new Kept(store, {
      collection: TASKS,
      missing: () => new ServableError('task_not_found', 'Task not found'),
      unlist: ({ id, value }) => indexOf(value.owner).removeTask(id),
    })
    this.#agentOf = name => resolveHere(service.a2aAgents, 'agent', name)
    this.#host = createLocalTaskHost({
      store,
      settings: settingsHere(service.tasks, service.settings),
      retention: {},
      agentOf: this.#agentOf,
      onStatus: () => state.waitUntil(this.settle()),
      upkeep: {
        keepAlive: work => state.waitUntil(work),
        schedule: at => state.waitUntil(this.#alarm.setBy(at)),
      },
    })
  }

  deliver({ agent, ...message }: DeliverMessage): Promise<Answer<Delivered>> {
    return this.#answer(async () => {
      const isNew = agent !== undefined
      // A message that continues a task finds one, or nothing is written.
      if (!isNew) await this.#kept.id()
      const target = isNew ? this.#agentOf(agent) : undefined
      const { taskId: id, owner, client } = message
      const index = indexOf(owner)
      let isTaken = false
      await this.#kept.inTurn(async () => {
        isTaken = await unwrap(index.admitTask({ id, owner, client, isNew }))
      })
      let hasTask = false
      try {
        await this.#alarm.setBy(Date.now() + WATCH_MS)
        const delivered = await this.#host.deliver({ ...message, target })
        hasTask = 'view' in delivered
        return delivered
      } finally {
        // It was refused, or is a bare message: nobody will tell of its end.
        if (isTaken && !hasTask) await index.restTask(id)
      }
    })
  }

  get(viewer: Viewer): Promise<Answer<TaskView>> {
    return this.#answer(async () => {
      const view = await this.#host.get(await this.#kept.id(), viewer)
      // An eviction may have ended the task: its index is told before anyone is.
      if (this.#isUntold()) await this.settle()
      return view
    })
  }

  find(id: string): Promise<Answer<readonly FoundTask[]>> {
    return this.#answer(async () => {
      await this.#kept.expire()
      return this.#kept.document() === undefined ? [] : this.#host.find(id)
    })
  }

  settled(viewer: Viewer): Promise<Answer<Task>> {
    return this.#answer(async () => {
      const task = await this.#host.settled(await this.#kept.id(), viewer)
      await this.settle()
      return task
    })
  }

  push(viewer: Viewer, request: PushRequest): Promise<Answer<readonly PushConfig[]>> {
    return this.#answer(async () => this.#host.push(viewer, { ...request, taskId: await this.#kept.id() }))
  }

  follow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>> {
    return this.#answer(async () => streamOf(await this.#host.follow(await this.#kept.id(), viewer, after)))
  }

  cancel(viewer: Viewer): Promise<Answer<{ task: Task; wasCanceled: boolean }>> {
    return this.#answer(async () => {
      const canceled = await this.#host.cancel(await this.#kept.id(), viewer)
      await this.settle()
      return canceled
    })
  }

  /** Looks after the task: tells the index where it stands, one telling after the other. */
  settle(): Promise<void> {
    return this.#kept.inTurn(() => this.#tell())
  }

  async #tell(): Promise<void> {
    const document = this.#kept.document()
    if (document === undefined) return
    const { value: task, expiresAt } = document
    try {
      if (this.#isUntold()) await indexOf(task.owner).updateTask(task, expiresAt)
      this.#told = toldOf(task)
      if (expiresAt !== undefined) await this.#setAlarm(expiresAt)
      else if (task.isAtWork) await this.#alarm.setBy(Date.now() + WATCH_MS)
    } catch {
      await this.#alarm.setBy(Date.now() + RETRY_MS)
    }
  }

  #isUntold(): boolean {
    const task = this.#kept.document()?.value
    return task !== undefined && this.#told !== toldOf(task)
  }

  /** The host ends a task whose agent an eviction interrupted before it answers anything about it. */
  async alarm(): Promise<void> {
    await this.#kept.expire()
    const document = this.#kept.document()
    if (document === undefined) return
    await this.#host.get(document.id, document.value.owner)
    await this.#host.resume?.()
    await this.settle()
  }

  /** At that moment, or when a receiver is due, whichever is sooner. */
  async #setAlarm(at: number): Promise<void> {
    const due = this.#store.transact(tx => nextDue(tx)) ?? at
    await this.#alarm.setTo(Math.min(at, due))
  }
}

function toldOf({ status }: StoredTask): string {
  return `${status.timestamp} ${status.state}`
}
