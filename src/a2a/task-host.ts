/**
 * The task host: takes messages, runs agents on them, and lets the tasks that come of it be read, followed and
 * cancelled. Two implementations, as with runs: over a store at hand, and in Durable Objects.
 *
 * @module
 */

import type { RunOptions } from '../agents/contract.ts'
import type { Follower, HostSettings, Viewer } from '../runs/host.ts'
import type { Target } from '../runs/target.ts'
import type { ListRequest, Message, Task, TaskPage, TaskStatus } from './model.ts'
import type { PushConfig, PushRequest, Sent } from './push/config.ts'
import type { PushSettings } from './push/options.ts'

/** What holds for every task of a handler. */
export interface TaskSettings extends HostSettings {
  /** Most tasks of one owner that are kept; past it the oldest ended one leaves, or the new one is refused. */
  readonly maxTasksPerOwner: number
  /** Most messages of a task's history; a message past it is refused with `unsupported_operation`. */
  readonly maxHistory: number
  /** Undefined where nobody is told. */
  readonly push: PushSettings | undefined
  /** Told of a receiver that is given up. */
  readonly onGivenUp: (task: { readonly id: string; readonly owner: Viewer }, why: string) => void
}

/** A message on its way to an agent. */
export interface TaskMessage {
  /** The task that it starts or continues. */
  readonly taskId: string
  readonly message: Message
  /** Undefined where the message continues a task: the task knows its agent. */
  readonly target: Target | undefined
  readonly owner: Viewer
  /** Whose place the task takes while its agent is at work; its owner's where nobody is named. */
  readonly client?: string | undefined
  /** The answer waits for the agent anyway, so that it may be a bare message after any silence. */
  readonly mayWait: boolean
  /** Keys and user of the run; the host adds ids and metadata. */
  readonly options: RunOptions
  /** What the request held that must stand in no log. It is in memory only. */
  readonly secrets?: readonly string[] | undefined
  /** Who is to be told of the task from here on. */
  readonly pushConfig?: Sent | undefined
}

/** What has come of a message: a task as it was when its agent set to work, or the agent's message and no task. */
export type Delivered = { readonly view: TaskView } | { readonly message: Message }

/** A task as of an entry of its log. */
export interface TaskView {
  readonly task: Task
  /** The last entry that the task includes; following goes on after it. */
  readonly seq: number
}

/** A task as an administrator finds it: what it has said is its client's. */
export interface FoundTask extends Pick<Task, 'id' | 'contextId'> {
  /** The agent's name. */
  readonly agent: string
  readonly owner: string | null
  readonly status: Omit<TaskStatus, 'message'>
}

/** Where tasks live. Tasks that are not there, or not the viewer's, are `task_not_found`. */
export interface TaskHost {
  /**
   * Gives a message to an agent. Throws `unsupported_operation` for a task that has ended or is at work, and
   * `invalid_params` for a context that is not the task's, and for answers that do not fit.
   */
  deliver(message: TaskMessage): Promise<Delivered>
  get(id: string, viewer: Viewer): Promise<TaskView>
  /** Reads the log from after an entry on, until the task has ended for good. Throws `too_many_followers`. */
  follow(id: string, viewer: Viewer, after: number): Promise<Follower>
  /** Waits until the task has ended or waits for its client. */
  settled(id: string, viewer: Viewer): Promise<Task>
  /**
   * Cancels a task and what runs for it. One that has been cancelled before is given back as it is; throws
   * `task_not_cancelable` for one that has ended otherwise.
   */
  cancel(id: string, viewer: Viewer): Promise<{ readonly task: Task; readonly wasCanceled: boolean }>
  /** Those that a reference out of the log may stand for, whoever's they are: for an administrator. */
  find(ref: string): Promise<readonly FoundTask[]>
  list(owner: Viewer, request: ListRequest): Promise<TaskPage>
  /**
   * Sets, gets, lists or deletes push notification configs of a task; gives those that were asked for. Throws
   * `push_not_supported` where that is off, and `address_refused`.
   */
  push(viewer: Viewer, request: PushRequest): Promise<readonly PushConfig[]>
  /** Goes on with what an earlier process has left behind. Never rejects. */
  resume?(): Promise<void>
  /** Ends what others have left at work, where that is not done by itself. Never rejects. */
  lookAfter?(): Promise<void>
}
