/**
 * The events of a run behind a guard.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'
import { closeQuietly } from '../../agents/reading.ts'
import { isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { breathe, Pace } from '../../base/wake.ts'
import { errorOf } from './refusal.ts'

/** The filter of a guard for the events of one run. Its errors fail the run. */
export interface OutputStage {
  /** Returns the events to emit after this one was read. */
  take(event: RunEvent): readonly RunEvent[] | Promise<readonly RunEvent[]>
  /** Returns the remaining events to emit when the servable has failed, or has ended without a last event. */
  end(hasFailed: boolean): readonly RunEvent[] | Promise<readonly RunEvent[]>
  /** Returns the message to emit for a failure. */
  fail(message: string): string | Promise<string>
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Reads the events of a servable on demand. If a guard holds events, it reads on, up to `maxEvents`. */
export class GuardedEvents implements AsyncIterator<RunEvent> {
  readonly #begin: () => AsyncIterator<RunEvent>
  #events: AsyncIterator<RunEvent> | undefined
  readonly #stage: OutputStage
  readonly #maxEvents: number
  readonly #pace = new Pace()
  #ready: readonly RunEvent[] = []
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
      const event = this.#ready[this.#next++]
      if (event !== undefined) return { done: false, value: event }
      if (this.#failure !== undefined) throw this.#failure.thrown
      if (this.#isDone) return END
      // Held events are counted only here, and a servable may never wait by itself.
      if (this.#pace.isDue) await breathe()
      this.#ready = await this.#read()
      this.#next = 0
    }
  }

  return(): Promise<IteratorResult<RunEvent>> {
    this.#isDone = true
    this.#ready = []
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

  /** The servable has failed: emits the events up to then, and then the failure. */
  async #failed(thrown: unknown): Promise<readonly RunEvent[]> {
    try {
      const message = messageOf(thrown)
      const text = await this.#stage.fail(message)
      this.#failure = { thrown: text === message ? thrown : failureOf(thrown, text) }
      return await this.#stage.end(true)
    } catch (failure) {
      throw errorOf('output', failure)
    }
  }
}

/** The failure with another message, and without its cause, which may contain the replaced text. */
function failureOf(thrown: unknown, message: string): ServableError {
  return new ServableError(isServableError(thrown) ? thrown.code : 'agent_failed', message)
}
