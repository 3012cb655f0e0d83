import type { RunEvent } from '../../../agents/contract.ts'
import { deferred } from '../../../base/wake.ts'
import type { Message } from '../model.ts'
import { factsOf, toParts } from '../parts.ts'
import type { TaskEntry } from './task-body.ts'
import type { Delivered, TaskView } from './task-host.ts'
import type { StoredTask } from './task-record.ts'
import type { TaskTurn } from './turn.ts'

/** Microtasks for which a stream waits for an agent's first event. */
const DECIDE_TICKS = 64

/** What the decision needs. */
export interface OpeningOptions {
  readonly turn: TaskTurn
  /** Whether to wait for the agent's first event without a limit. */
  readonly mayWait: boolean
}

/**
 * Decides whether a message becomes a task. If the agent's first event is a `message`, that message is the answer and there
 * is no task. Otherwise there is a task. A client that wants its task at once does not wait for the agent: an agent that
 * waits for anything before its first event then always gets a task.
 */
export class Opening {
  readonly delivered: Promise<Delivered>
  /** Whether the agent has answered with a bare message. */
  isMessageOnly = false
  readonly #view: TaskView
  readonly #turn: TaskTurn
  readonly #decide: (delivered: Delivered) => void
  readonly #mayWait: boolean
  #isDecided = false

  constructor({ turns }: StoredTask, view: TaskView, { turn, mayWait }: OpeningOptions) {
    this.#view = view
    this.#turn = turn
    const { promise, resolve } = deferred<Delivered>()
    this.delivered = promise
    this.#decide = resolve
    this.#mayWait = mayWait
    // Only the first message of a task can have been no task at all.
    if (turns > 1) this.settle()
  }

  /** Returns the log entries of an event. Returns none after a bare message. */
  entriesOf(event: RunEvent): readonly TaskEntry[] {
    if (this.isMessageOnly) return []
    if (!this.#isDecided && event.type === 'message') {
      const { contextId } = this.#view.task
      const message: Message = {
        messageId: crypto.randomUUID(),
        role: 'agent',
        parts: toParts(event.parts),
        contextId,
        ...factsOf(event),
      }
      this.isMessageOnly = true
      this.#settleWith({ message })
      return []
    }
    this.settle()
    return this.#turn.entriesOf(event)
  }

  /** Call it when the agent waits for its session. */
  wait(): void {
    if (!this.#mayWait) this.settle()
  }

  /** Decides that the message becomes a task, unless that is decided already. */
  settle(): void {
    this.#settleWith({ view: this.#view })
  }

  /** Call it when the agent begins. An agent that answers without waiting sends its first event within a few microtasks. */
  async begin(): Promise<void> {
    if (this.#mayWait) return
    for (let tick = 0; tick < DECIDE_TICKS; tick++) await undefined
    this.settle()
  }

  #settleWith(delivered: Delivered): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#decide(delivered)
  }
}
