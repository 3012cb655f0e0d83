/**
 * The task host of a Worker: every task is in a Durable Object of its own, and this talks to them.
 *
 * @module
 */

import { PageFiller } from '../../a2a/list-tasks.ts'
import type { ListRequest, Task, TaskPage } from '../../a2a/model.ts'
import type { PushConfig, PushRequest } from '../../a2a/push/config.ts'
import type { Delivered, FoundTask, TaskHost, TaskMessage, TaskView } from '../../a2a/task-host.ts'
import { type StoredTask, TASKS } from '../../a2a/task-record.ts'
import type { Follower, Viewer } from '../../runs/host.ts'
import { partitionOf } from '../../runs/record.ts'
import { type Bindings, type RunStub, referredTo } from './bindings.ts'
import { followerOf, unwrap } from './rpc.ts'

/** Most tasks of a page. */
const MAX_PAGE = 100

/** Tasks of a page that are read at a time: each may be large, and an isolate has 128 MB. */
const AT_ONCE = 10

/** Makes the host. */
export function createDurableTaskHost(bindings: Bindings): TaskHost {
  return new DurableTaskHost(bindings)
}

class DurableTaskHost implements TaskHost {
  readonly #bindings: Bindings

  constructor(bindings: Bindings) {
    this.#bindings = bindings
  }

  deliver({ target, options, client, ...message }: TaskMessage): Promise<Delivered> {
    const crossing = {
      ...message,
      client: client ?? partitionOf(message.owner),
      agent: target?.name,
      options: { ...options, signal: undefined },
    }
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

  async find(ref: string): Promise<readonly FoundTask[]> {
    const ids = await referredTo(this.#bindings, TASKS, ref)
    return (await Promise.all(ids.map(id => unwrap(this.#object(id).taskFind(id))))).flat()
  }

  /** The index knows which tasks there are; what they have said and made is in their own objects. */
  async list(owner: Viewer, request: ListRequest): Promise<TaskPage> {
    const { state } = request
    // Those that ended without their index knowing are found among those that it thinks are at work.
    if (state !== 'working') {
      const working = { state: 'working', pageSize: MAX_PAGE, includeArtifacts: false } as const
      await this.#page(owner, { ...working, historyLength: 0, contextId: request.contextId })
    }
    const page = await this.#page(owner, request)
    return { ...page, tasks: page.tasks.filter(task => state === undefined || task.status.state === state) }
  }

  async #page(owner: Viewer, request: ListRequest): Promise<TaskPage> {
    const index = this.#bindings.index.getByName(partitionOf(owner))
    const page = await unwrap(index.listTasks(owner, request))
    const filler = new PageFiller(page, request)
    const add = (stored: StoredTask, view: TaskView | undefined) =>
      view === undefined || filler.add(stored, view.task)
    for (let from = 0; from < page.tasks.length; from += AT_ONCE) {
      const some = page.tasks.slice(from, from + AT_ONCE)
      const views = await Promise.all(some.map(({ id }) => this.get(id, owner).catch(() => undefined)))
      if (!some.every((stored, at) => add(stored, views[at]))) break
    }
    return filler.done()
  }

  #object(taskId: string): RunStub {
    return this.#bindings.runs.getByName(`task:${taskId}`)
  }
}
