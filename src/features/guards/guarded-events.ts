/**
 * The events of a run, as a guard lets them out.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'
import { closeQuietly } from '../../agents/reading.ts'
import { isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { breathe, Pace } from '../../base/wake.ts'
import { errorOf } from './refusal.ts'

/** What a guard makes of the events of one run. Whatever it throws fails the run. */
export interface OutputStage {
  /** What is to be told now that this was said. */
  take(event: RunEvent): readonly RunEvent[] | Promise<readonly RunEvent[]>
  /** What is still to be told, where the servable says no more: it has failed, or has ended without saying so. */
  end(hasFailed: boolean): readonly RunEvent[] | Promise<readonly RunEvent[]>
  /** What is told of a failure. */
  fail(message: string): string | Promise<string>
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Reads the events of a servable as they are asked for. A guard that holds them reads on, up to `maxEvents`. */
export class GuardedEvents implements AsyncIterator<RunEvent> {
  readonly #begin: () => AsyncIterator<RunEvent>
  #events: AsyncIterator<RunEvent> | undefined
  readonly #stage: OutputStage
  readonly #maxEvents: number
  readonly #pace = new Pace()
  #told: readonly RunEvent[] = []
  #next = 0
  #isDone = false
  #failure: { readonly thrown: unknown } | undefined

  constructor(begin: () => AsyncIterator<RunEvent>, stage: OutputStage, maxEvents: number) {
    this.#begin = begin
    this.#stage = stage
    this.#maxEvents = maxEvents
  }

  async next(): Promise<IteratorResult<RunEvent>> {
    for (;;) {
      const event = this.#told[this.#next++]
      if (event !== undefined) return { done: false, value: event }
      if (this.#failure !== undefined) throw this.#failure.thrown
      if (this.#isDone) return END
      // Nobody else counts what is held, and a servable may never wait by itself.
      if (this.#pace.isDue) await breathe()
      this.#told = await this.#read()
      this.#next = 0
    }
  }

  return(): Promise<IteratorResult<RunEvent>> {
    this.#isDone = true
    this.#told = []
    closeQuietly(this.#events)
    return Promise.resolve(END)
  }

  async #read(): Promise<readonly RunEvent[]> {
    const startedAt = this.#pace.begin()
    if (this.#pace.count > this.#maxEvents) {
      throw new ServableError('run_too_large', `The run has more than ${this.#maxEvents} events`)
    }
    let item: IteratorResult<RunEvent>
    try {
      this.#events ??= this.#begin()
      const pulled = this.#events.next()
      this.#pace.end(startedAt)
      item = await pulled
    } catch (thrown) {
      return this.#failed(thrown)
    }
    this.#isDone = item.done === true
    try {
      return await (item.done ? this.#stage.end(false) : this.#stage.take(item.value))
    } catch (thrown) {
      throw errorOf('output', thrown)
    }
  }

  /** The servable has failed: what it said until then is told, and then that. */
  async #failed(thrown: unknown): Promise<readonly RunEvent[]> {
    try {
      const message = messageOf(thrown)
      const told = await this.#stage.fail(message)
      this.#failure = { thrown: told === message ? thrown : failureOf(thrown, told) }
      return await this.#stage.end(true)
    } catch (failure) {
      throw errorOf('output', failure)
    }
  }
}

/** The failure with another text, and without a cause: that may say the same as the text that is replaced. */
function failureOf(thrown: unknown, message: string): ServableError {
  return new ServableError(isServableError(thrown) ? thrown.code : 'agent_failed', message)
}
