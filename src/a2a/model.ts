/**
 * Tasks, messages and updates as this room thinks of them. The shapes follow A2A 1.0; every generation of the wire
 * translates to and from them.
 *
 * @module
 */

import type { Sent } from './push/config.ts'

/** Where a task stands. */
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

/** Values by name, for whoever understands them. */
export type Metadata = Readonly<Record<string, unknown>>

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

/** What a task has made. */
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

/** What a stream tells: first a task or exactly one message, then how the task changes. */
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

/** A task has made something, or more of it. */
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

/** Whether no more is to be expected of a task in this state until its client acts. */
export function isSettledState(state: TaskState): boolean {
  return isTerminalState(state) || isInterruptedState(state)
}

/** A message to an agent. */
export interface SendRequest {
  readonly message: Message
  readonly configuration: {
    readonly acceptedOutputModes?: readonly string[] | undefined
    /** Most messages of the answer's history; undefined: all. */
    readonly historyLength?: number | undefined
    /** Answer once the task exists instead of when it has ended or waits. */
    readonly returnImmediately: boolean
    /** Who is to be told of the task. */
    readonly pushConfig?: Sent | undefined
  }
  readonly metadata?: Metadata | undefined
  readonly tenant?: string | undefined
}

/** Asks for a task. */
export interface GetRequest {
  readonly id: string
  readonly historyLength?: number | undefined
}

/** Asks for a task by id and nothing else: to cancel it, to subscribe to it. */
export interface TaskRequest {
  readonly id: string
}

/** Asks for a list of tasks, newest status first. */
export interface ListRequest {
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  /** 1 to 100. */
  readonly pageSize: number
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  /** Only tasks whose status is of this moment or later; milliseconds since 1970. */
  readonly updatedAfter?: number | undefined
  readonly includeArtifacts: boolean
}

/** A page of tasks. It may be short or empty and yet have a next one. */
export interface TaskPage {
  readonly tasks: readonly Task[]
  /** Empty at the end, and only there. */
  readonly nextPageToken: string
  readonly pageSize: number
  /** How many tasks match, over all pages, of the first 1,000 that are looked at. */
  readonly totalSize: number
}
