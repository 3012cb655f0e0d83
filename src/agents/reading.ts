/**
 * How the run pipeline reads events: the reader awaits each item and makes the event itself. An iterator around another one would
 * cost two more promises per event.
 *
 * @module
 */

import type { FinishEvent, RunEvent } from './contract.ts'

/** The events of one run, read item by item. */
export abstract class Reading {
  /**
   * The reader calls it before it reads, and promises that the signal of the options fires when it leaves and when this fails. So
   * this needs no signal of its own.
   */
  abstract adopt(): void
  /** Returns the next item for {@link toEvent}, or a promise for it. Throws, or rejects, if the servable fails. */
  abstract pull(): unknown
  /** Returns the event of an item. It comes from the servable, unchecked. */
  abstract toEvent(item: unknown): unknown
  /** Reports the error of `pull` or `toEvent`. */
  abstract failed(error: unknown): void
  /** Ends the reading. Never throws. */
  abstract leave(): void
}

/** Reads the events of an iterator. */
export function readingOf(events: AsyncIterator<RunEvent>): Reading {
  return events instanceof Reading ? events : new Items(events)
}

/** Closes an iterator without waiting for it, and drops its errors. */
export function closeQuietly(events: AsyncIterator<unknown> | undefined): void {
  try {
    void Promise.resolve(events?.return?.()).then(undefined, () => {})
  } catch {
    // A `return` that throws has nothing left to close.
  }
}

/** The end of a servable that stops without a terminal event. */
const FINISHED: FinishEvent = { type: 'finish', finishReason: 'stop' }

/** Reads any iterator: its items are its events. */
class Items extends Reading {
  readonly #events: AsyncIterator<RunEvent>
  #isDone = false

  constructor(events: AsyncIterator<RunEvent>) {
    super()
    this.#events = events
  }

  adopt(): void {}

  pull(): unknown {
    return this.#events.next()
  }

  toEvent(item: unknown): unknown {
    const { done, value } = item as IteratorResult<RunEvent>
    this.#isDone = done === true
    return done ? FINISHED : value
  }

  failed(): void {}

  leave(): void {
    if (!this.#isDone) closeQuietly(this.#events)
  }
}
