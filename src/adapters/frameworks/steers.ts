/**
 * Messages for a run at work whose framework lets its messages be changed before each call of the model.
 *
 * @module
 */

import type { RunEvent, RunInput } from '../../agents/contract.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { steeredEvent } from '../../agents/work/waits.ts'

/** A message that the run has taken, and how many messages the model was told before it. */
interface TakenMessage {
  readonly at: number
  readonly message: unknown
}

/** The messages that one run takes. What it does not take starts the next run. */
export class Steers {
  readonly #inbox: RunContext['inbox']
  readonly #toMessage: (input: RunInput) => unknown
  readonly #taken: TakenMessage[] = []
  readonly #news: RunEvent[] = []

  constructor({ inbox }: Pick<RunContext, 'inbox'>, toMessage: (input: RunInput) => unknown) {
    this.#inbox = inbox
    this.#toMessage = toMessage
  }

  /** Whether messages may come. */
  get isOpen(): boolean {
    return this.#inbox !== undefined
  }

  /** Takes what has come, and returns the messages for the next call of the model. */
  async take(messages: readonly unknown[]): Promise<readonly unknown[]> {
    const told = this.into(messages)
    const news = (await this.#inbox?.take()) ?? []
    for (const each of news) {
      this.#taken.push({ at: told.length, message: this.#toMessage(each.input) })
      told.push(this.#taken.at(-1)?.message)
      this.#news.push(steeredEvent(each))
    }
    return told
  }

  /** Puts what was taken back in its place. Some frameworks keep it there, others forget it after a call. */
  into(messages: readonly unknown[]): unknown[] {
    const told = [...messages]
    for (const { at, message } of this.#taken) if (!told.includes(message)) told.splice(at, 0, message)
    return told
  }

  /** What the readers of the run do not know yet. */
  *events(): Generator<RunEvent> {
    yield* this.#news.splice(0)
  }
}
