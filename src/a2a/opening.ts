import type { RunEvent } from '../agents/contract.ts'
import type { Message } from './model.ts'
import { toParts } from './parts.ts'
import type { Delivered, TaskView } from './task-host.ts'
import type { StoredTask, TaskEntry } from './task-record.ts'
import type { Turn } from './turn.ts'

/** How it is decided. */
export interface OpeningOptions {
  readonly turn: Turn
  /** Waits for the agent's first word however long that takes. */
  readonly mayWait: boolean
}

/**
 * Decides what comes of a message: an agent whose first word is a `message` answers with that and no task, all else is
 * a task. Where the client is to hear of its task at once, an agent must say that word at once: what it does after its
 * turn of the event loop is a task.
 */
export class Opening {
  readonly delivered: Promise<Delivered>
  /** The agent has answered with a bare message. */
  isMessageOnly = false
  readonly #view: TaskView
  readonly #turn: Turn
  readonly #decide: (delivered: Delivered) => void
  #isDecided = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ turns }: StoredTask, view: TaskView, { turn, mayWait }: OpeningOptions) {
    this.#view = view
    this.#turn = turn
    const { promise, resolve } = Promise.withResolvers<Delivered>()
    this.delivered = promise
    this.#decide = resolve
    // Only the first message of a task can have been no task at all.
    if (turns > 1) this.settle()
    else if (!mayWait) this.#timer = setTimeout(() => this.settle(), 0)
  }

  /** The entries of an event; none after a bare message. */
  entriesOf(event: RunEvent): readonly TaskEntry[] {
    if (this.isMessageOnly) return []
    if (!this.#isDecided && event.type === 'message') {
      const { contextId } = this.#view.task
      const message: Message = {
        messageId: crypto.randomUUID(),
        role: 'agent',
        parts: toParts(event.parts),
        contextId,
      }
      this.isMessageOnly = true
      this.#settleWith({ message })
      return []
    }
    this.settle()
    return this.#turn.entriesOf(event)
  }

  /** What comes of it is a task. */
  settle(): void {
    this.#settleWith({ view: this.#view })
  }

  #settleWith(delivered: Delivered): void {
    if (this.#isDecided) return
    this.#isDecided = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#decide(delivered)
  }
}
