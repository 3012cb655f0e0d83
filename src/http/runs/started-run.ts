/**
 * A run that was started for a client, and how its transport reads it.
 *
 * @module
 */

import type { RunEvent, RunResult } from '../../agents/contract.ts'
import { errorOf } from '../../agents/event.ts'
import { asLogged } from '../../base/errors.ts'
import type { Run } from '../../runs/run.ts'
import type { Follower, RunHost } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'

/** What became of a message for a run at work. */
export interface Steered {
  /** The run at work. */
  readonly into: string
  /** The run that the message starts if the other one ends first. Its record says which. */
  readonly next: string
  readonly messageId: string
  /** How many messages and runs are before it, and itself: from 1. */
  readonly position: number
}

/** An event of a run, and its position. */
export interface RunEntry {
  readonly id: number
  readonly event: RunEvent
}

/** A run that has been started, or found by its key. */
export class StartedRun {
  readonly id: string
  /** The run, if it is a plain one. */
  readonly run: Run | undefined
  /** Its record, if it is a stored one. */
  readonly record: RunRecord | undefined
  /** Whether it was started now; false if its key, or the same answers, had started it before. */
  readonly isNew: boolean
  /** Set if its message reaches a run at work, which this is if that is a stored run. */
  readonly steered: Steered | undefined
  readonly #host: RunHost
  readonly #owner: string | null

  constructor(
    run: Run | undefined,
    record: RunRecord | undefined,
    host: RunHost,
    owner: string | null,
    isNew = true,
    steered?: Steered,
  ) {
    this.steered = steered
    this.run = run
    this.record = record
    this.id = run?.id ?? record?.id ?? ''
    this.isNew = isNew
    this.#host = host
    this.#owner = owner
  }

  /** The run at work that got its message; itself if that one is not stored. */
  into(other: RunRecord | undefined, steered: Steered): StartedRun {
    return new StartedRun(undefined, other ?? this.record, this.#host, this.#owner, false, steered)
  }

  /** Its events, from the first to the last. For one reader. Leaving early counts as leaving the run. */
  events(): AsyncIterableIterator<RunEvent> {
    return this.run ?? eventsOf(this.entries())
  }

  /**
   * Its events with their positions, after one of them. Positions rise from 1, and may leave numbers out once a run has ended. A run that
   * is not stored begins at its first event. For one reader, as `events`.
   */
  entries(after = 0): AsyncIterableIterator<RunEntry, undefined> {
    return this.run === undefined
      ? new StoredEntries(this.#host.follow(this.id, this.#owner, after))
      : numbered(this.run)
  }

  /** Waits for its end and folds its events. `signal` fires when the caller has left. Rejects with the error of a failed run. */
  async result(signal: AbortSignal = new AbortController().signal): Promise<RunResult> {
    if (this.run !== undefined) return this.run.result()
    return resultOf(await this.#host.wait(this.id, this.#owner, signal))
  }
}

/** The events alone. */
function eventsOf(
  entries: AsyncIterableIterator<RunEntry, undefined>,
): AsyncIterableIterator<RunEvent, undefined> {
  return mapped(entries, ({ event }) => event)
}

/** The events of a run that is not stored, with numbers. */
function numbered(
  run: AsyncIterableIterator<RunEvent, undefined>,
): AsyncIterableIterator<RunEntry, undefined> {
  let last = 0
  return mapped(run, event => ({ id: ++last, event }))
}

/** The values of an iterator, changed. Leaving it leaves that one at once. */
function mapped<T, U>(
  source: AsyncIterableIterator<T, undefined>,
  change: (value: T) => U,
): AsyncIterableIterator<U, undefined> {
  const changed = ({ done, value }: IteratorResult<T, undefined>): IteratorResult<U, undefined> =>
    done ? { done: true, value: undefined } : { done: false, value: change(value as T) }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: async () => changed(await source.next()),
    async return() {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** The events of a stored run. Leaving takes effect at once, even while it waits for the next event. */
class StoredEntries implements AsyncIterableIterator<RunEntry, undefined> {
  readonly #follower: Promise<Follower>
  #batch: RunEntry[] = []
  #isOver = false

  constructor(follower: Promise<Follower>) {
    this.#follower = follower
    // The reader gets the error.
    follower.catch(() => {})
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RunEntry, undefined>> {
    if (this.#batch.length === 0 && !this.#isOver) await this.#readOn()
    const value = this.#isOver ? undefined : this.#batch.shift()
    return value === undefined ? { done: true, value } : { done: false, value }
  }

  async return(): Promise<IteratorResult<RunEntry, undefined>> {
    this.#isOver = true
    const follower = await this.#follower.catch(() => undefined)
    follower?.leave()
    return { done: true, value: undefined }
  }

  async #readOn(): Promise<void> {
    try {
      const follower = await this.#follower
      const batch = await follower.next()
      // The log holds only events that the run host wrote.
      if (batch !== undefined)
        this.#batch = batch.map(({ seq, data }) => ({ id: seq, event: JSON.parse(data) }))
      else this.#isOver = true
    } catch (error) {
      await this.return()
      throw error
    }
  }
}

/** The result of an ended run. Throws the error of a failed one. */
function resultOf({ result, error, status }: RunRecord): RunResult {
  if (result !== undefined) return result
  const { message, ...facts } = error ?? { code: 'agent_failed', message: `The run is ${status}` }
  throw asLogged(errorOf({ type: 'error', error: message, ...facts }))
}
