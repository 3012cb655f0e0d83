/**
 * The task host on Workers. Each task is in an object of its own, and this host calls the objects.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../../agents/contract.ts'
import { isServableError } from '../../../base/errors.ts'
import type { HostedState, Reach } from '../../../core/hosted.ts'
import { remote, type ServiceCalls } from '../../../core/object-service.ts'
import type { Calls } from '../../../core/transaction-calls.ts'
import type { Follower } from '../../../runs/stored/host.ts'
import { followerOf } from '../../../runs/stored/log-stream.ts'
import { isWholeId, partitionOf } from '../../../runs/stored/record.ts'
import type { Asking } from '../../../runs/waiting/asking.ts'
import type { ListRequest, Task, TaskPage } from '../model.ts'
import type { PushConfig, PushRequest } from '../push/config.ts'
import { cursorIn, PageFiller, type StoredPage } from './list-tasks.ts'
import type { TaskMethods } from './object.ts'
import type { Delivered, FoundTask, TaskHost, TaskMessage, TaskView, TaskViewer } from './task-host.ts'
import { TASK_SERVICE, type TaskIndex, taskIndexAt } from './task-index.ts'
import type { StoredTask } from './task-record.ts'

/** Most tasks of a page. */
const MAX_PAGE = 100

/** Tasks of a page that are read at the same time. Each may be large, and an isolate has 128 MB. */
const AT_ONCE = 10

/** Makes the host. */
export function createRemoteTaskHost({ reach }: Pick<HostedState, 'reach'>): TaskHost {
  return new RemoteTaskHost(reach)
}

class RemoteTaskHost implements TaskHost {
  readonly #reach: Reach
  readonly #index: Calls<TaskIndex>

  constructor(reach: Reach) {
    this.#reach = reach
    this.#index = taskIndexAt(reach)
  }

  deliver({ target, options, client, ...message }: TaskMessage): Promise<Delivered> {
    const crossing = {
      ...message,
      client: client ?? partitionOf(message.owner),
      skill: target && { kind: target.kind, name: target.name },
      options: { ...options, signal: undefined },
    }
    return this.#task(message.taskId).deliver(crossing)
  }

  get(id: string, viewer: TaskViewer): Promise<TaskView> {
    return this.#task(id).get(viewer)
  }

  asking(id: string, tenant: string | undefined): Promise<Asking | undefined> {
    return this.#task(id).asking(id, tenant)
  }

  settled(id: string, viewer: TaskViewer): Promise<Task> {
    return this.#task(id).settled(viewer)
  }

  async follow(id: string, viewer: TaskViewer, after: number): Promise<Follower | undefined> {
    const stream = await this.#task(id).follow(viewer, after)
    return stream && followerOf(stream)
  }

  cancel(id: string, viewer: TaskViewer): Promise<{ task: Task; wasCanceled: boolean }> {
    return this.#task(id).cancel(viewer)
  }

  push(viewer: TaskViewer, request: PushRequest): Promise<readonly PushConfig[]> {
    return this.#task(request.taskId).push(viewer, request)
  }

  startQueued(id: string, runId: string): Promise<void> {
    return this.#task(id).startQueued(runId)
  }

  endQueued(id: string, runId: string, event: FinishEvent | ErrorEvent): Promise<void> {
    return this.#task(id).endQueued(runId, event)
  }

  async find(ref: string): Promise<readonly FoundTask[]> {
    const ids = isWholeId(ref) ? [ref] : await this.#index.idsOf(partitionOf(null), ref)
    return (await Promise.all(ids.map(id => this.#task(id).find(id)))).flat()
  }

  /** The index lists the tasks. Their messages and artifacts come from their own objects. */
  async list(viewer: TaskViewer, request: ListRequest): Promise<TaskPage> {
    const { state } = request
    // An invalid token is refused before any call of an object.
    cursorIn(request)
    // A task may have ended before the index learned of it. The index still lists such a task as working.
    if (state !== 'working') {
      const working = { state: 'working', pageSize: MAX_PAGE, includeArtifacts: false } as const
      await this.#page(viewer, { ...working, historyLength: 0, contextId: request.contextId })
    }
    const page = await this.#page(viewer, request)
    return { ...page, tasks: page.tasks.filter(task => state === undefined || task.status.state === state) }
  }

  async #page(viewer: TaskViewer, request: ListRequest): Promise<TaskPage> {
    const page = await this.page(viewer, request)
    const filler = new PageFiller(page, request)
    const add = (stored: StoredTask, view: TaskView | undefined) =>
      view === undefined || filler.add(stored, view.task)
    for (let from = 0; from < page.tasks.length; from += AT_ONCE) {
      const some = page.tasks.slice(from, from + AT_ONCE)
      const views = await Promise.all(some.map(({ id }) => this.get(id, viewer).catch(() => undefined)))
      if (!some.every((stored, at) => add(stored, views[at]))) break
    }
    return filler.done()
  }

  page(viewer: TaskViewer, request: ListRequest): Promise<StoredPage> {
    return this.#index.list(partitionOf(viewer.owner), viewer, request)
  }

  async delete(id: string, viewer: TaskViewer): Promise<void> {
    try {
      await this.#task(id).delete(viewer)
    } catch (error) {
      // A task that no longer exists must leave the list.
      if (isServableError(error) && error.code === 'task_not_found') {
        await this.#index.remove(partitionOf(viewer.owner), id)
      }
      throw error
    }
  }

  #task(id: string): ServiceCalls<TaskMethods> {
    return remote(this.#reach('run', `task:${id}`, TASK_SERVICE))
  }
}
