/**
 * One turn of an agent in a task. It translates the run's events into entries of the task's log.
 *
 * @module
 */

import type {
  ErrorEvent,
  FinishEvent,
  FinishReason,
  InputRequest,
  RunEvent,
} from '../../../agents/contract.ts'
import type { A2AFacts } from '../../../agents/run-types.ts'
import type { Message, Part, TaskState, TaskStatus } from '../model.ts'
import { factsOf, partsOf, toParts } from '../parts.ts'
import { askingParts } from './answers.ts'
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
export interface TaskTurnEnd {
  readonly status: TaskStatus
  readonly entries: readonly TaskEntry[]
}

/** Translates the events of one run. It knows nothing of stores and streams. */
export class TaskTurn {
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
        const { artifactId, name, description, parts, append = false, lastChunk = !append } = event
        const label = {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
        }
        const artifact = { artifactId, parts: toParts(parts), ...label, ...factsOf(event) }
        return [{ ...this.#ids(), type: 'artifact', artifact, append, lastChunk }]
      }
      case 'step': {
        const { type: _, text, ...step } = event
        const message = text ? this.#message([{ text }]) : undefined
        return [{ ...this.#ids(), type: 'status', status: statusNow('working', message), metadata: { step } }]
      }
      case 'message': {
        const message = this.#message(toParts(event.parts), factsOf(event))
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
      case 'steered':
      case 'checkpoint':
      case 'graph_message':
      case 'finish':
      case 'error':
        return []
    }
  }

  /** Returns the status and the log entries of the end of the run. `requests` are those that the run ended with. */
  end(event: FinishEvent | ErrorEvent, requests: readonly InputRequest[] = []): TaskTurnEnd {
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
    // Clients that keep only whole artifacts wait for `lastChunk`. A cut-off answer is not whole.
    if (this.#hasAnswer && state !== 'failed' && state !== 'canceled') entries.push(this.#piece('', true))
    const parts = this.#lastWords(event, state, requests)
    const message = parts && this.#message(parts)
    if (message !== undefined) entries.push({ type: 'history', message })
    const status = statusNow(state, message, this.#task.status)
    const usage = event.type === 'finish' && event.usage ? { metadata: { usage: event.usage } } : {}
    entries.push({ ...this.#ids(), type: 'status', status, ...usage })
    return { status, entries }
  }

  /**
   * The parts of the last status message: the agent's own message. Without one, they are the agent's text if the client has to
   * act or the task was rejected.
   */
  #lastWords(
    event: FinishEvent | ErrorEvent,
    state: TaskState,
    requests: readonly InputRequest[],
  ): readonly Part[] | undefined {
    if (event.type === 'error') return [{ text: event.error }]
    const own = event.message === undefined ? undefined : partsOf(event.message)
    if (requests.length > 0) return askingParts(requests, own)
    if (own !== undefined && own.length > 0) return own
    if (state === 'completed' || state === 'canceled') return undefined
    // Such a task must say what it needs (section 7.6.1).
    const text = this.#text || (state === 'auth-required' ? 'The agent needs authorization to go on' : '')
    return text === '' ? undefined : [{ text }]
  }

  #answer(text: string): TaskEntry {
    const entry = this.#piece(text, false)
    this.#hasAnswer = true
    this.#text += text
    return entry
  }

  #piece(text: string, lastChunk: boolean): TaskEntry {
    const artifact = { artifactId: this.#answerId, name: 'response', parts: [{ text }] }
    return { ...this.#ids(), type: 'artifact', artifact, append: this.#hasAnswer, lastChunk }
  }

  #message(parts: readonly Part[], facts: A2AFacts = {}): Message {
    return { messageId: crypto.randomUUID(), role: 'agent', parts, ...this.#ids(), ...facts }
  }

  #ids(): { taskId: string; contextId: string } {
    return { taskId: this.#task.id, contextId: this.#task.contextId }
  }
}
