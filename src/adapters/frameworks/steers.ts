/**
 * Messages for a run at work whose framework lets its messages be changed before each call of the model.
 *
 * @module
 */

import type { RunEvent, RunInput } from '../../agents/contract.ts'
import { steeredEvent } from '../../agents/turn.ts'
import type { RunContext } from '../../agents/work/perform.ts'

/** A message that the run has taken, and how many messages the model was told before it. */
interface TakenMessage {
  readonly at: number
  readonly message: unknown
}

/** The messages that one run takes. What it does not take starts the next run. */
export class Steers {
  readonly #inbox: RunContext['inbox']
  readonly #toMessage: (input: RunInput) => unknown
  readonly #news: RunEvent[] = []
  /** JSON, as far as the messages are. A run that waits keeps it, if its framework forgets them. */
  readonly taken: TakenMessage[]

  /** `before` is what the run had taken before it waited. */
  constructor(
    { inbox }: Pick<RunContext, 'inbox'>,
    toMessage: (input: RunInput) => unknown,
    before: unknown = [],
  ) {
    this.#inbox = inbox
    this.#toMessage = toMessage
    this.taken = [...(before as readonly TakenMessage[])]
  }

  /** Whether messages may come. */
  get isOpen(): boolean {
    return this.#inbox !== undefined
  }

  /** Takes what has come, and returns the messages for the next call of the model. */
  async take(messages: readonly unknown[]): Promise<readonly unknown[]> {
    const told = this.into(messages)
    for (const message of await this.news()) {
      this.taken.push({ at: told.length, message })
      told.push(message)
    }
    return told
  }

  /** Takes what has come, for a framework that keeps it in its place. */
  async news(): Promise<readonly unknown[]> {
    const news = (await this.#inbox?.take()) ?? []
    this.#news.push(...news.map(steeredEvent))
    return news.map(({ input }) => this.#toMessage(input))
  }

  /** Puts what was taken back in its place. Some frameworks keep it there, others forget it after a call. */
  into(messages: readonly unknown[]): unknown[] {
    const told = [...messages]
    for (const { at, message } of this.taken) if (!told.includes(message)) told.splice(at, 0, message)
    return told
  }

  /** What the readers of the run do not know yet. */
  *events(): Generator<RunEvent> {
    yield* this.#news.splice(0)
  }
}
