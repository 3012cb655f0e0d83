/**
 * The object service of one task. The agent runs in the object, and the object's storage has all data of the task.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunOptions } from '../../../agents/contract.ts'
import type { ObjectContext, ObjectService } from '../../../core/hosted.ts'
import { resolveInObject } from '../../../core/in-object.ts'
import { KeptInObject, WATCH_MS } from '../../../core/kept-in-object.ts'
import { callIn } from '../../../core/object-service.ts'
import type { Catalog } from '../../../http/catalog.ts'
import { isTooMany } from '../../../runs/admission.ts'
import { stillAtWork } from '../../../runs/feedback.ts'
import { JOURNAL, REQUESTS, requestIn } from '../../../runs/stored/journal.ts'
import { streamOf } from '../../../runs/stored/log-stream.ts'
import { partitionOf } from '../../../runs/stored/record.ts'
import type { Target } from '../../../runs/target.ts'
import type { Asking } from '../../../runs/waiting/asking.ts'
import { type Answering, WAITING } from '../../../runs/waiting/waiting.ts'
import type { Skill } from '../cards/skills.ts'
import { isSettledState, type Message, type Task } from '../model.ts'
import type { PushConfig, PushConfigInput, PushRequest } from '../push/config.ts'
import { nextDue, PUSH } from '../push/kept.ts'
import { mayQueue } from './admit-message.ts'
import { atWork } from './begin-task.ts'
import type { MessageOptions } from './context.ts'
import { createLocalTaskHost } from './local-task-host.ts'
import { BODIES } from './task-body.ts'
import type { Delivered, FoundTask, TaskHost, TaskSettings, TaskView, TaskViewer } from './task-host.ts'
import { taskIndexAt } from './task-index.ts'
import { AT_WORK, forgetTask, type StoredTask, skillOf, TASKS, taskNotFound } from './task-record.ts'

/** A message as the Worker sends it to the object. Keys stay in memory on both sides. */
export interface DeliverMessage extends TaskViewer {
  readonly taskId: string
  readonly message: Message
  /** The servable that works on a new task. Undefined if the message continues a task. */
  readonly skill: Skill | undefined
  readonly asked?: MessageOptions | undefined
  /** The client that the running task counts against. */
  readonly client: string
  readonly mayWait: boolean
  readonly options: RunOptions
  readonly secrets?: readonly string[] | undefined
  readonly pushConfig?: PushConfigInput | undefined
  readonly by?: Answering | undefined
}

/** The methods of a task's object. */
export interface TaskMethods {
  deliver(message: DeliverMessage): Promise<Delivered>
  get(viewer: TaskViewer): Promise<TaskView>
  asking(id: string, tenant: string | undefined): Promise<Asking | undefined>
  settled(viewer: TaskViewer): Promise<Task>
  cancel(viewer: TaskViewer): Promise<{ readonly task: Task; readonly wasCanceled: boolean }>
  /** Returns the task of the object, of any owner, or an empty list. */
  find(id: string): Promise<readonly FoundTask[]>
  follow(viewer: TaskViewer, after: number): Promise<ReadableStream<Uint8Array> | undefined>
  push(viewer: TaskViewer, request: PushRequest): Promise<readonly PushConfig[]>
  startQueued(runId: string): Promise<void>
  endQueued(runId: string, event: FinishEvent | ErrorEvent): Promise<void>
  delete(viewer: TaskViewer): Promise<void>
}

/** Milliseconds that an object may take to report an end. */
const LATE_MS = 60_000

/** What the methods of one object's task share. */
interface TaskParts {
  readonly context: ObjectContext
  readonly settings: TaskSettings
  readonly index: ReturnType<typeof taskIndexAt>
  readonly targetOf: (skill: Skill) => Target
  readonly kept: KeptInObject<StoredTask>
  readonly host: TaskHost
}

/** Makes the object service of one task. `settings` are those for an object, `agents` the agents that A2A offers. */
export function createTaskObject(
  context: ObjectContext,
  { settings, agents }: { readonly settings: TaskSettings; readonly agents: Pick<Catalog, 'resolve'> },
): ObjectService {
  const { store } = context
  const index = taskIndexAt(context.reach)
  const targetOf = ({ kind, name }: Skill) => resolveInObject(agents, kind, name)

  /** Reports the requests of the task to the inbox, if the task asks something or may have asked before. */
  async function reportAsking(task: StoredTask): Promise<void> {
    const { id, turns, status, owner } = task
    const { approvals } = settings
    if (approvals === undefined) return
    const hasAsked = turns > 1 || status.state === 'failed' || status.state === 'canceled'
    const asking = store.read(tx => approvals.asking(tx, id))
    if (asking !== undefined) {
      await approvals.enlist(asking)
      if (asking.expiresAt !== undefined) await context.wakeBy(asking.expiresAt)
    } else if (hasAsked) {
      const run = { id, ...skillOf(task), owner }
      await approvals.enlist({ run, requests: [], open: [], createdAt: 0 })
    }
  }

  const kept: KeptInObject<StoredTask> = new KeptInObject(context, {
    collection: TASKS,
    missing: taskNotFound,
    statusOf: ({ status }) => `${status.timestamp} ${status.state}`,
    isAtWork: ({ isAtWork }) => isAtWork,
    async report({ value, expiresAt }) {
      await index.update(partitionOf(value.owner), value, expiresAt)
      await reportAsking(value)
    },
    async unlist({ id, value }) {
      await index.remove(partitionOf(value.owner), id)
      await reportAsking(value)
    },
    // If an eviction interrupted the agent, the host ends the task before it answers any request about it.
    async look({ id, value }) {
      await host.get(id, value)
      await host.resume?.()
    },
    forget: (tx, { id }) => forgetTask(tx, id),
    // The alarm fires at that time, or earlier if a notification is due.
    nextAt: at => Math.min(at, store.read(nextDue) ?? at),
  })
  const host: TaskHost = createLocalTaskHost({
    store,
    settings,
    retention: {},
    targetOf,
    onStatus: ({ isAtWork, isQueued }) => {
      const settled = kept.settle()
      context.waitUntil(isAtWork || isQueued ? settled : settled.then(() => settings.onFree?.()))
    },
    upkeep: {
      keepAlive: work => context.waitUntil(work),
      schedule: at => context.waitUntil(context.wakeBy(at)),
    },
  })
  const methods = taskMethods({ context, settings, index, targetOf, kept, host })
  return {
    collections: [TASKS, BODIES, PUSH, WAITING, REQUESTS, JOURNAL],
    // The agent ends with the memory of this object. The next request for the task then ends the task.
    inMemory: [AT_WORK],
    ask: (method, args) => callIn(methods, method, args),
    alarm: () => kept.alarm(),
  }
}

function taskMethods({
  context,
  context: { store },
  settings,
  index,
  targetOf,
  kept,
  host,
}: TaskParts): TaskMethods {
  const { maxTasksPerOwner, maxRunning, maxRunningPerOwner, timeoutMs } = settings
  const bounds = { maxTasksPerOwner, maxRunning, maxRunningPerOwner, endsInMs: timeoutMs + LATE_MS }
  return {
    async deliver({ skill, ...message }) {
      const isNew = skill !== undefined
      // If the message continues a task that does not exist, nothing is written.
      if (!isNew) await kept.id()
      const target = isNew ? targetOf(skill) : undefined
      const { taskId: id, owner, client } = message
      const stored = kept.document()?.value
      if (stored?.isQueued && stored.owner === owner) throw atWork()
      const list = partitionOf(owner)
      let isTaken = false
      let mustWait = false
      await kept.inTurn(async () => {
        try {
          isTaken = await index.admit(list, { id, owner, client, isNew }, bounds)
        } catch (error) {
          // What may not wait is refused by the line.
          mustWait = isNew && mayQueue(settings, message) && isTooMany(error)
          if (!mustWait) throw error
        }
      })
      let isAtWork = false
      try {
        await context.wakeBy(Date.now() + WATCH_MS)
        const delivered = await host.deliver({ ...message, target, mustWait })
        isAtWork = 'view' in delivered && isWorking(delivered.view.task)
        return delivered
      } finally {
        // The message was refused, got a bare message, or left the task waiting. So no later report would free the slot.
        if (isTaken && !isAtWork) await index.rest(list, id)
      }
    },
    async get(viewer) {
      const view = await host.get(await kept.id(), viewer)
      // An eviction may have ended the task. The index has to know this before any client does.
      if (kept.isUnreported()) await kept.settle()
      return view
    },
    async asking(id, tenant) {
      await kept.expire()
      return kept.document() && host.asking(id, tenant)
    },
    async find(id) {
      await kept.expire()
      return kept.document() === undefined ? [] : host.find(id)
    },
    async settled(viewer) {
      const task = await host.settled(await kept.id(), viewer)
      await kept.settle()
      return task
    },
    async startQueued(runId) {
      const task = kept.document()?.value
      if (task === undefined) return
      const { id, owner } = task
      const list = partitionOf(owner)
      const { client = list } = store.read(tx => requestIn(tx, runId)) ?? {}
      const isTaken = await index.admit(list, { id, owner, client, isNew: false }, bounds)
      try {
        await context.wakeBy(Date.now() + WATCH_MS)
        await host.startQueued(id, runId)
      } finally {
        if (isTaken && !kept.document()?.value.isAtWork) await index.rest(list, id)
      }
    },
    async endQueued(runId, event) {
      const id = kept.document()?.id
      if (id !== undefined) await host.endQueued(id, runId, event)
      await kept.settle()
    },
    push: async (viewer, request) => host.push(viewer, { ...request, taskId: await kept.id() }),
    async follow(viewer, after) {
      const follower = await host.follow(await kept.id(), viewer, after)
      return follower && streamOf(follower)
    },
    async cancel(viewer) {
      const canceled = await host.cancel(await kept.id(), viewer)
      await kept.settle()
      return canceled
    },
    delete: viewer =>
      kept.delete(async ({ id }) => {
        await host.get(id, viewer)
        if (kept.document()?.value.isAtWork) throw stillAtWork()
      }),
  }
}

function isWorking({ status: { state } }: Task): boolean {
  return !isSettledState(state) && state !== 'submitted'
}
