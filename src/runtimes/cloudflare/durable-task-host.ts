/**
 * The task host of a Worker: every task is in a Durable Object of its own, and this talks to them.
 *
 * @module
 */

import type { StoredPage } from '../../a2a/list-tasks.ts'
import type { ListRequest, Task, TaskPage } from '../../a2a/model.ts'
import type { PushConfig, PushRequest } from '../../a2a/push/config.ts'
import type { Delivered, TaskHost, TaskMessage, TaskView } from '../../a2a/task-host.ts'
import type { Follower, Viewer } from '../../runs/host.ts'
import { partitionOf } from '../../runs/record.ts'
import type { Bindings, RunStub } from './bindings.ts'
import { followerOf, unwrap } from './rpc.ts'

/** Most tasks of a page. */
const MAX_PAGE = 100

/** Makes the host. */
export function createDurableTaskHost(bindings: Bindings): TaskHost {
  return new DurableTaskHost(bindings)
}

class DurableTaskHost implements TaskHost {
  readonly #bindings: Bindings

  constructor(bindings: Bindings) {
    this.#bindings = bindings
  }

  deliver({ target, options, ...message }: TaskMessage): Promise<Delivered> {
    const crossing = { ...message, agent: target?.name, options: { ...options, signal: undefined } }
    return unwrap(this.#object(message.taskId).taskDeliver(crossing))
  }

  get(id: string, viewer: Viewer): Promise<TaskView> {
    return unwrap(this.#object(id).taskGet(viewer))
  }

  settled(id: string, viewer: Viewer): Promise<Task> {
    return unwrap(this.#object(id).taskSettled(viewer))
  }

  async follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    return followerOf(await unwrap(this.#object(id).taskFollow(viewer, after)))
  }

  cancel(id: string, viewer: Viewer): Promise<{ task: Task; wasCanceled: boolean }> {
    return unwrap(this.#object(id).taskCancel(viewer))
  }

  push(viewer: Viewer, request: PushRequest): Promise<readonly PushConfig[]> {
    return unwrap(this.#object(request.taskId).taskPush(viewer, request))
  }

  /** The index knows which tasks there are; what they have said and made is in their own objects. */
  async list(owner: Viewer, request: ListRequest): Promise<TaskPage> {
    const { state, pageSize } = request
    // Those that ended without their index knowing are found among those that it thinks are at work.
    if (state !== 'working') {
      const working = { state: 'working', pageSize: MAX_PAGE, includeArtifacts: false } as const
      await this.#views(owner, { ...working, contextId: request.contextId })
    }
    const { views, page } = await this.#views(owner, request)
    const tasks = views.filter(task => state === undefined || task.status.state === state)
    return { tasks, pageSize, nextPageToken: page.nextPageToken, totalSize: page.totalSize }
  }

  async #views(owner: Viewer, request: ListRequest): Promise<{ views: Task[]; page: StoredPage }> {
    const index = this.#bindings.index.getByName(partitionOf(owner))
    const page = await unwrap(index.listTasks(owner, request))
    const views = await Promise.all(page.tasks.map(({ id }) => this.get(id, owner).catch(() => undefined)))
    return { page, views: views.flatMap(view => (view ? [view.task] : [])) }
  }

  #object(taskId: string): RunStub {
    return this.#bindings.runs.getByName(`task:${taskId}`)
  }
}
