/**
 * One turn of an agent in a task. It translates the run's events into entries of the task's log.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, FinishReason, InputRequest, RunEvent } from '../agents/contract.ts'
import { askingParts } from './answers.ts'
import type { Message, Part, TaskState, TaskStatus } from './model.ts'
import { toParts } from './parts.ts'
import type { TaskEntry } from './task-body.ts'
import { type StoredTask, statusNow } from './task-record.ts'

/** The state of the task after each finish reason of a run. */
const STATES: Readonly<Record<FinishReason, TaskState>> = {
  stop: 'completed',
  length: 'completed',
  tool_calls: 'completed',
  content_filter: 'completed',
  input_required: 'input-required',
  auth_required: 'auth-required',
  rejected: 'rejected',
  cancelled: 'canceled',
}

/** The end of a turn: the status of the task, and the log entries of the end. The status comes last. */
export interface TurnEnd {
  readonly status: TaskStatus
  readonly entries: readonly TaskEntry[]
}

/** Translates the events of one run. It knows nothing of stores and streams. */
export class Turn {
  readonly #task: StoredTask
  /** The id of this turn's answer artifact. It is new in each turn, because ids are unique in a task. */
  readonly #answerId: string
  #text = ''
  #hasAnswer = false

  constructor(task: StoredTask) {
    this.#task = task
    this.#answerId = task.turns === 1 ? 'response' : `response-${task.turns}`
  }

  /** Returns the log entries of an event. Events without an equivalent in A2A are left out. */
  entriesOf(event: RunEvent): readonly TaskEntry[] {
    switch (event.type) {
      case 'text':
        return [this.#answer(event.text)]
      case 'artifact': {
        const { artifactId, name, parts, append = false, lastChunk = !append } = event
        const artifact = { artifactId, parts: toParts(parts), ...(name !== undefined && { name }) }
        return [{ ...this.#ids(), type: 'artifact', artifact, append, lastChunk }]
      }
      case 'step': {
        const { type: _, ...step } = event
        return [{ ...this.#ids(), type: 'status', status: statusNow('working'), metadata: { step } }]
      }
      case 'message': {
        const message = this.#message(toParts(event.parts))
        return [
          { type: 'history', message },
          { ...this.#ids(), type: 'status', status: statusNow('working', message) },
        ]
      }
      case 'thinking':
      case 'tool_call_start':
      case 'tool_call_delta':
      case 'tool_call_ready':
      case 'tool_call_end':
      case 'model_call':
      case 'resumed':
      case 'finish':
      case 'error':
        return []
    }
  }

  /** What the end of the run does to the task, and what it asks. */
  end(event: FinishEvent | ErrorEvent, requests: readonly InputRequest[] = []): TurnEnd {
    const entries: TaskEntry[] = []
    if (event.type === 'finish' && event.structured != null) {
      const artifact = {
        artifactId: `${this.#answerId}-data`,
        name: 'structured',
        parts: [{ data: event.structured }],
      }
      entries.push({ ...this.#ids(), type: 'artifact', artifact, append: false, lastChunk: true })
    }
    const state = event.type === 'error' ? 'failed' : STATES[event.finishReason]
    const says = event.type === 'error' ? event.error : this.#question(state)
    const parts = requests.length > 0 ? askingParts(requests) : says ? [{ text: says }] : undefined
    const message = parts && this.#message(parts)
    if (message !== undefined) entries.push({ type: 'history', message })
    const status = statusNow(state, message, this.#task.status)
    const usage = event.type === 'finish' && event.usage ? { metadata: { usage: event.usage } } : {}
    entries.push({ ...this.#ids(), type: 'status', status, ...usage })
    return { status, entries }
  }

  /**
   * The agent's text for the status message. The status contains it if the client has to act or the task failed or was
   * rejected.
   */
  #question(state: TaskState): string | undefined {
    return state === 'completed' || state === 'canceled' ? undefined : this.#text
  }

  #answer(text: string): TaskEntry {
    const append = this.#hasAnswer
    this.#hasAnswer = true
    this.#text += text
    const artifact = { artifactId: this.#answerId, name: 'response', parts: [{ text }] }
    return { ...this.#ids(), type: 'artifact', artifact, append, lastChunk: false }
  }

  #message(parts: readonly Part[]): Message {
    return { messageId: crypto.randomUUID(), role: 'agent', parts, ...this.#ids() }
  }

  #ids(): { taskId: string; contextId: string } {
    return { taskId: this.#task.id, contextId: this.#task.contextId }
  }
}
