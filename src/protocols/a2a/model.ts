/**
 * The model of tasks, messages and updates in this room. The shapes follow A2A 1.0. The wire of each generation translates
 * to and from them.
 *
 * @module
 */

import type { Metadata } from '../../agents/run-types.ts'
import type { PushConfigInput } from './push/config.ts'

/** The state of a task. */
export type TaskState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'auth-required'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'

/** A piece of a message or artifact: exactly one of `text`, `raw` (base64), `url` and `data` (any JSON). */
export interface Part {
  readonly text?: string | undefined
  readonly raw?: string | undefined
  readonly url?: string | undefined
  readonly data?: unknown
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
  readonly metadata?: Metadata | undefined
}

/** One unit of communication between client and agent. */
export interface Message {
  readonly messageId: string
  readonly role: 'user' | 'agent'
  readonly parts: readonly Part[]
  readonly contextId?: string | undefined
  readonly taskId?: string | undefined
  readonly metadata?: Metadata | undefined
  readonly extensions?: readonly string[] | undefined
  readonly referenceTaskIds?: readonly string[] | undefined
}

/** The status of a task. */
export interface TaskStatus {
  readonly state: TaskState
  readonly message?: Message | undefined
  /** ISO 8601, in UTC. */
  readonly timestamp: string
}

/** An output of a task. */
export interface TaskArtifact {
  readonly artifactId: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly parts: readonly Part[]
  readonly metadata?: Metadata | undefined
  readonly extensions?: readonly string[] | undefined
}

/** A task. */
export interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly artifacts?: readonly TaskArtifact[] | undefined
  readonly history?: readonly Message[] | undefined
  readonly metadata?: Metadata | undefined
}

/** An update on a stream. The first is a task or a single message. The next ones are changes of the task. */
export type TaskUpdate =
  | { readonly type: 'task'; readonly task: Task }
  | { readonly type: 'message'; readonly message: Message }
  | StatusUpdate
  | ArtifactUpdate

/** A task's status has changed. */
export interface StatusUpdate {
  readonly type: 'status'
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly metadata?: Metadata | undefined
}

/** A task has a new artifact, or more content for one. */
export interface ArtifactUpdate {
  readonly type: 'artifact'
  readonly taskId: string
  readonly contextId: string
  readonly artifact: TaskArtifact
  readonly append: boolean
  readonly lastChunk: boolean
  readonly metadata?: Metadata | undefined
}

/** Whether a task in this state has ended for good. */
export function isTerminalState(state: TaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected'
}

/** Whether a task in this state waits for its client. */
export function isInterruptedState(state: TaskState): boolean {
  return state === 'input-required' || state === 'auth-required'
}

/** Whether a task in this state has ended or waits for its client. */
export function isSettledState(state: TaskState): boolean {
  return isTerminalState(state) || isInterruptedState(state)
}

/** A request to send a message to an agent. */
export interface SendRequest {
  readonly message: Message
  readonly configuration: {
    readonly acceptedOutputModes?: readonly string[] | undefined
    /** Most messages of the history in the answer. Undefined: all. */
    readonly historyLength?: number | undefined
    /**
     * Whether to answer as soon as the task exists. Otherwise the answer waits until the task has ended or waits for its client.
     */
    readonly returnImmediately: boolean
    /** Where to send push notifications of the task. */
    readonly pushConfig?: PushConfigInput | undefined
  }
  readonly metadata?: Metadata | undefined
}

/** A request for a task. */
export interface GetRequest {
  readonly id: string
  readonly historyLength?: number | undefined
}

/** A request that needs only the id of a task: to cancel it or to subscribe to it. */
export interface TaskRequest {
  readonly id: string
}

/** A request for a list of tasks, newest status first. */
export interface ListRequest {
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  /** 1 to 100. */
  readonly pageSize: number
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  /** Only tasks whose status changed at this time or later, in milliseconds since 1970. */
  readonly updatedAfter?: number | undefined
  readonly includeArtifacts: boolean
  /** Whether the service has tenants. If so, the total excludes tasks of tenants unless the request names one. */
  readonly hasTenants?: boolean | undefined
  /** Whether to list tasks of all tenants, in order to delete them. */
  readonly isOfAll?: boolean | undefined
}

/** A page of tasks. A page may be short or empty although more pages follow. */
export interface TaskPage {
  readonly tasks: readonly Task[]
  /** The token of the next page. Empty on the last page only. */
  readonly nextPageToken: string
  readonly pageSize: number
  /** How many tasks match, over all pages. Only the first 1,000 tasks are counted. */
  readonly totalSize: number
}
