/**
 * The Durable Object of one stored run, or of one A2A task: which, its name says.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import type { Task } from '../../a2a/model.ts'
import type { PushConfig, PushRequest } from '../../a2a/push/config.ts'
import type { Delivered, FoundTask, TaskView } from '../../a2a/task-host.ts'
import { AT_WORK, TASKS } from '../../a2a/task-record.ts'
import type { Viewer } from '../../runs/host.ts'
import { type FoundRun, RUNNING, RUNS, type RunRecord } from '../../runs/record.ts'
import type { Service } from '../../service.ts'
import type { ObjectClass, ObjectState } from './platform.ts'
import type { Answer } from './rpc.ts'
import { RunKeeper, type StartMessage } from './run-keeper.ts'
import { type ObjectStore, objectStore } from './sql.ts'
import { type DeliverMessage, TaskKeeper } from './task-keeper.ts'

/** Makes the class, which serves what `service` gives. */
export function runObjectClass(service: () => Service): ObjectClass {
  return class ServableRun extends DurableObject {
    readonly #store: ObjectStore
    readonly #run: RunKeeper
    readonly #task: TaskKeeper

    constructor(state: ObjectState, env: unknown) {
      // The base class is typed by the runtime's own types where a user has them.
      super(state as never, env as never)
      // What is at work in this object ends with its memory; the record says so to whoever asks next.
      const store = objectStore(state.storage, { passing: [RUNNING, AT_WORK] })
      this.#store = store
      this.#run = new RunKeeper(state, store, service())
      this.#task = new TaskKeeper(state, store, service())
    }

    start(message: StartMessage): Promise<Answer<RunRecord>> {
      return this.#run.start(message)
    }

    get(viewer: Viewer): Promise<Answer<RunRecord>> {
      return this.#run.get(viewer)
    }

    wait(viewer: Viewer): Promise<Answer<RunRecord>> {
      return this.#run.wait(viewer)
    }

    follow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>> {
      return this.#run.follow(viewer, after)
    }

    cancel(viewer: Viewer): Promise<Answer<RunRecord>> {
      return this.#run.cancel(viewer)
    }

    find(id: string): Promise<Answer<readonly FoundRun[]>> {
      return this.#run.find(id)
    }

    taskFind(id: string): Promise<Answer<readonly FoundTask[]>> {
      return this.#task.find(id)
    }

    taskDeliver(message: DeliverMessage): Promise<Answer<Delivered>> {
      return this.#task.deliver(message)
    }

    taskGet(viewer: Viewer): Promise<Answer<TaskView>> {
      return this.#task.get(viewer)
    }

    taskSettled(viewer: Viewer): Promise<Answer<Task>> {
      return this.#task.settled(viewer)
    }

    taskFollow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>> {
      return this.#task.follow(viewer, after)
    }

    taskPush(viewer: Viewer, request: PushRequest): Promise<Answer<readonly PushConfig[]>> {
      return this.#task.push(viewer, request)
    }

    taskCancel(viewer: Viewer): Promise<Answer<{ task: Task; wasCanceled: boolean }>> {
      return this.#task.cancel(viewer)
    }

    override async alarm(): Promise<void> {
      await this.#run.alarm()
      await this.#task.alarm()
      if (!this.#store.isEmpty() && isBare(this.#store)) await this.#store.clear()
    }
  }
}

/** A bare message leaves tables and no task. */
function isBare(store: ObjectStore): boolean {
  return store.transact(tx => tx.count(RUNS) + tx.count(TASKS)) === 0
}
