/**
 * The task host. It takes messages and runs agents on them. Clients read, follow and cancel the tasks through it. There are
 * two implementations, as for runs: over a store, and in Durable Objects.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, Kind, RunOptions } from '../../../agents/contract.ts'
import type { EndedRun, Follower, HostSettings, TaskLine, Viewer } from '../../../runs/stored/host.ts'
import type { Target } from '../../../runs/target.ts'
import type { Asking } from '../../../runs/waiting/asking.ts'
import type { Answering } from '../../../runs/waiting/waiting.ts'
import type { ListRequest, Message, Task, TaskPage, TaskStatus } from '../model.ts'
import type { PushSettings } from '../options.ts'
import type { PushConfig, PushConfigInput, PushRequest } from '../push/config.ts'
import type { MessageOptions } from './context.ts'

/** Settings of every task of a handler. */
export interface TaskSettings extends HostSettings {
  /** Most stored tasks of one owner. Past it the oldest ended task is deleted, or else the new one is refused. */
  readonly maxTasksPerOwner: number
  /** Most messages in a task's history. A message past it is refused with `unsupported_operation`. */
  readonly maxHistory: number
  /** Undefined if push notifications are off. */
  readonly push: PushSettings | undefined
  /** The line in which new tasks wait for a slot. Undefined without the plugin `queue`. */
  readonly line?: TaskLine | undefined
  /** Whether the runs of turns are listed, from their beginning. Not in objects. */
  readonly lists?: boolean | undefined
  /** Lists the run of each turn once it has ended, in objects. Undefined where runs of tasks are not listed. */
  readonly record?: ((run: EndedRun) => Promise<void>) | undefined
  /** Is called when a receiver gets no more notifications. */
  readonly onGivenUp: (task: { readonly id: string; readonly owner: Viewer }, why: string) => void
}

/** An owner and a tenant. A task is visible if it has both of them. */
export interface TaskViewer {
  readonly owner: Viewer
  readonly tenant?: string | undefined
  /** The servables whose tasks it may change, as `agent:NAME`. Undefined: all. */
  readonly only?: readonly string[] | undefined
}

/** A message on its way to an agent. */
export interface TaskMessage extends TaskViewer {
  /** The id of the task that the message starts or continues. */
  readonly taskId: string
  readonly message: Message
  /** Undefined if the message continues a task. The stored task then names its agent. */
  readonly target: Target | undefined
  /** What the request gives beside the message. Undefined for answers of somebody other than the owner. */
  readonly asked?: MessageOptions | undefined
  /** The client that the running task counts against. Default: the owner. */
  readonly client?: string | undefined
  /**
   * Whether the answer may wait for the agent's first event without a limit. The agent can then send a bare message after
   * any silence.
   */
  readonly mayWait: boolean
  /** Keys and user of the run. The host adds ids and metadata. */
  readonly options: RunOptions
  /** Secrets of the request that must not appear in a log. They stay in memory. */
  readonly secrets?: readonly string[] | undefined
  /** Where to send notifications of the task from now on. */
  readonly pushConfig?: PushConfigInput | undefined
  /** Facts about the sender that matter if the message has answers. Default: the owner, without a key. */
  readonly by?: Answering | undefined
  /** Whether there is no slot for it, so that it waits in the line. */
  readonly mustWait?: boolean | undefined
}

/** The result of a message: the task when its agent started, or the agent's message without a task. */
export type Delivered = { readonly view: TaskView } | { readonly message: Message }

/** A task up to an entry of its log. */
export interface TaskView {
  readonly task: Task
  /** The last entry that the task includes. Followers continue after it. */
  readonly seq: number
}

/** A task as an administrator sees it, without its messages and artifacts. */
export interface FoundTask extends Pick<Task, 'id' | 'contextId'> {
  /** The id of the skill: the agent's name. */
  readonly agent: string
  readonly tenant?: string | undefined
  readonly owner: string | null
  readonly status: Omit<TaskStatus, 'message'>
}

/** A task as lists have it. */
export interface ListedTask extends Pick<Task, 'id'> {
  /** Undefined: an agent. */
  readonly kind?: Kind | undefined
  /** The name of the servable. */
  readonly agent: string
  readonly tenant?: string | undefined
  readonly isAtWork: boolean
  /** How many messages the agent has received. */
  readonly turns: number
  /** The run of its last turn. Tasks of earlier versions do not have it. */
  readonly runId?: string | undefined
}

/** A page of listed tasks. */
export interface ListedTasks {
  readonly tasks: readonly ListedTask[]
  readonly nextPageToken: string
}

/** Where tasks live. Throws `task_not_found` for tasks that do not exist or belong to someone else. */
export interface TaskHost {
  /**
   * Gives a message to an agent. Throws `unsupported_operation` for a task that has ended or is at work, and
   * `invalid_params` for a context that is not the task's, and for answers that do not fit.
   */
  deliver(message: TaskMessage): Promise<Delivered>
  get(id: string, viewer: TaskViewer): Promise<TaskView>
  /** Returns the requests of a waiting task of a tenant, of any owner. Undefined if the task asks nothing. */
  asking(id: string, tenant: string | undefined): Promise<Asking | undefined>
  /** Reads the log after an entry, until the task has ended. Undefined if there is no such entry. Throws `too_many_followers`. */
  follow(id: string, viewer: TaskViewer, after: number): Promise<Follower | undefined>
  /** Waits until the task has ended or waits for its client. */
  settled(id: string, viewer: TaskViewer): Promise<Task>
  /**
   * Cancels a task and its run. Returns a task that was cancelled before as it is. Throws `task_not_cancelable` if the task
   * has ended in another way.
   */
  cancel(id: string, viewer: TaskViewer): Promise<{ readonly task: Task; readonly wasCanceled: boolean }>
  /** Returns the tasks that a reference in the log may mean, of any owner. For administrators. */
  find(ref: string): Promise<readonly FoundTask[]>
  list(viewer: TaskViewer, request: ListRequest): Promise<TaskPage>
  /** The same page of listed tasks, of one tenant or of all. */
  page(viewer: TaskViewer, request: ListRequest): Promise<ListedTasks>
  /** Deletes all data of a task. Throws `session_busy` for a task at work. */
  delete(id: string, viewer: TaskViewer): Promise<void>
  /**
   * Sets, gets, lists or deletes push notification configs of a task. Returns the configs that were asked for. Throws
   * `push_not_supported` if push notifications are off, and `address_refused`.
   */
  push(viewer: TaskViewer, request: PushRequest): Promise<readonly PushConfig[]>
  /** As `QueuedTasks.start`. */
  startQueued(id: string, runId: string): Promise<void>
  /** As `QueuedTasks.end`. */
  endQueued(id: string, runId: string, event: FinishEvent | ErrorEvent): Promise<void>
  /** Continues the work that an earlier process left behind. Never rejects. */
  resume?(): Promise<void>
  /** Ends the tasks of processes that have died, in stores where this is not automatic. Never rejects. */
  lookAfter?(): Promise<void>
  /** Called when the last server has closed. Never rejects. */
  close?(): Promise<void>
}
