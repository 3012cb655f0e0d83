/**
 * The encoders that the wires share. The wires differ in names, parts and wrappers.
 *
 * @module
 */

import {
  type ArtifactUpdate,
  isSettledState,
  type Message,
  type Part,
  type StatusUpdate,
  type Task,
  type TaskArtifact,
  type TaskPage,
  type TaskState,
  type TaskStatus,
} from '../model.ts'
import { compact } from './record.ts'

/** A JSON object for an answer. */
export type Json = Record<string, unknown>

/** The names and forms in which a wire differs. */
export interface Dialect {
  readonly roles: Readonly<Record<Message['role'], string>>
  readonly states: Readonly<Record<TaskState, string>>
  readonly part: (part: Part) => Json
  /** Returns the rest of a message: its parts and the members that only this wire has. */
  readonly messageBody: (message: Message, parts: readonly Json[]) => Json
  /** Returns the member that marks the kind of an object. Empty on wires without such a mark. */
  readonly mark: (kind: 'task' | 'message' | 'status-update' | 'artifact-update') => Json
}

/** The encoders of the objects in answers. */
export interface ObjectEncoders {
  task(task: Task): Json
  message(message: Message): Json
  status(update: StatusUpdate): Json
  artifact(update: ArtifactUpdate): Json
}

/** Encodes tasks, messages and updates. Members without a value are left out. */
export function objectEncoders({ roles, states, part, messageBody, mark }: Dialect): ObjectEncoders {
  const message = (value: Message): Json => ({
    ...mark('message'),
    ...compact({
      messageId: value.messageId,
      role: roles[value.role],
      contextId: value.contextId,
      taskId: value.taskId,
      metadata: value.metadata,
      extensions: value.extensions,
    }),
    ...messageBody(value, value.parts.map(part)),
  })

  const taskStatus = ({ state, message: words, timestamp }: TaskStatus): Json =>
    compact({ state: states[state], message: words && message(words), timestamp })

  const taskArtifact = (value: TaskArtifact): Json => ({
    ...compact({
      artifactId: value.artifactId,
      name: value.name,
      description: value.description,
      metadata: value.metadata,
      extensions: value.extensions,
    }),
    parts: value.parts.map(part),
  })

  return {
    message,
    task: value => ({
      ...mark('task'),
      ...compact({
        id: value.id,
        contextId: value.contextId,
        status: taskStatus(value.status),
        artifacts: value.artifacts?.map(taskArtifact),
        history: value.history?.map(message),
        metadata: value.metadata,
      }),
    }),
    status: ({ taskId, contextId, status, metadata }) => ({
      ...mark('status-update'),
      ...compact({ taskId, contextId, status: taskStatus(status), metadata }),
    }),
    artifact: ({ taskId, contextId, artifact, append, lastChunk, metadata }) => ({
      ...mark('artifact-update'),
      ...compact({ taskId, contextId, artifact: taskArtifact(artifact), append, lastChunk, metadata }),
    }),
  }
}

/** Whether nothing follows this status unless the client acts: `final` of 0.2 and 0.3. */
export function isFinal({ status: { state } }: StatusUpdate): boolean {
  return isSettledState(state)
}

/** Encodes a page of tasks (specification, section 3.1.4). All four members are required, even an empty token. */
export function pageEncoder(task: (task: Task) => Json): (page: TaskPage) => Json {
  return ({ tasks, nextPageToken, pageSize, totalSize }) => ({
    tasks: tasks.map(task),
    nextPageToken,
    pageSize,
    totalSize,
  })
}
