/**
 * How the run pipeline reads events: what a servable gives is awaited as it comes, and made an event by the reader. An
 * iterator around another one would cost two more promises an event.
 *
 * @module
 */

import type { FinishEvent, RunEvent } from './contract.ts'

/** What one reader reads, item by item. */
export abstract class Reading {
  /**
   * The reader says, before it reads, that the signal of the options fires however it leaves, and when this fails: there is
   * no need for another one.
   */
  abstract adopt(): void
  /** What comes next, now or later: an item for {@link toEvent}. Throws, or rejects, where the servable fails. */
  abstract pull(): unknown
  /** The event that an item stands for. It is the servable's own: nothing is known of its shape. */
  abstract toEvent(item: unknown): unknown
  /** To be told what `pull` or `toEvent` failed with. */
  abstract failed(error: unknown): void
  /** The reader reads no more. Never throws. */
  abstract leave(): void
}

/** Reads the events of an iterator. */
export function readingOf(events: AsyncIterator<RunEvent>): Reading {
  return events instanceof Reading ? events : new Items(events)
}

/** Lets an iterator clean up; nobody waits for it, and what it throws now has no reader. */
export function closeQuietly(events: AsyncIterator<unknown> | undefined): void {
  try {
    void Promise.resolve(events?.return?.()).then(undefined, () => {})
  } catch {
    // A `return` that throws has nothing left to close.
  }
}

/** A servable that simply stops has finished. */
const FINISHED: FinishEvent = { type: 'finish', finishReason: 'stop' }

/** The items of any iterator are its events. */
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
