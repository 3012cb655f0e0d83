/**
 * The live feed of events for viewers. It contains numbers, names and outcomes, but no content of runs.
 *
 * @module
 */

import { createWake, type Wake } from '../../base/wake.ts'
import { type PulledSource, sseMessage } from '../../web/sse.ts'

/** A live event. */
export interface LiveEvent {
  readonly type: 'run.start' | 'run.complete' | 'run.error' | 'tool.call'
  /** The name of the agent, team or workflow. `data.kind` is its kind. */
  readonly agentName: string
  /** ISO 8601, in UTC. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, string | number>>
}

/** Most events that wait for one viewer. Above it the oldest are dropped. */
const MAX_QUEUE = 256

/** Milliseconds without a read after which a viewer that loses events is disconnected. */
const UNREAD_MS = 60_000

/** Distributes events to all viewers. */
export class LiveFeed {
  readonly #viewers = new Set<LiveViewer>()

  /** The number of viewers. */
  get viewers(): number {
    return this.#viewers.size
  }

  /** Sends an event, as JSON. */
  publish(json: string): void {
    for (const viewer of this.#viewers) viewer.push(json)
  }

  /** Reports that so many events were dropped to the viewers. */
  drop(count: number): void {
    for (const viewer of this.#viewers) viewer.drop(count)
  }

  /** Adds a viewer. */
  watch(): LiveViewer {
    const viewer = new LiveViewer(() => this.#viewers.delete(viewer))
    this.#viewers.add(viewer)
    return viewer
  }
}

/** New events for a viewer. */
export interface LiveBatch {
  readonly events: readonly string[]
  /** Number of dropped events. */
  readonly dropped: number
}

/** Reads live events. */
export interface Watcher {
  /** Returns the events since the last call. Undefined once the watcher has left. */
  next(): Promise<LiveBatch | undefined>
  leave(): void
}

/** A viewer with its queue of events. */
export class LiveViewer implements Watcher {
  readonly #left: () => void
  readonly #wake: Wake = createWake()
  #queue: string[] = []
  #dropped = 0
  #isOpen = true
  #readAt = performance.now()

  constructor(left: () => void) {
    this.#left = left
  }

  push(json: string): void {
    if (this.#queue.length >= MAX_QUEUE) {
      this.#queue.shift()
      this.#dropped++
      // The stream is no longer read, although nobody has cancelled it.
      if (performance.now() - this.#readAt > UNREAD_MS) return this.leave()
    }
    this.#queue.push(json)
    this.#wake.fire()
  }

  drop(count: number): void {
    this.#dropped += count
    this.#wake.fire()
  }

  async next(): Promise<LiveBatch | undefined> {
    while (this.#isOpen && this.#queue.length === 0 && this.#dropped === 0) await this.#wake.wait()
    if (!this.#isOpen) return undefined
    this.#readAt = performance.now()
    const batch = { events: this.#queue, dropped: this.#dropped }
    this.#queue = []
    this.#dropped = 0
    return batch
  }

  leave(): void {
    this.#isOpen = false
    this.#left()
    this.#wake.fire()
  }
}

/** Returns the messages for a viewer, as JSON. If events were dropped, the first message has their number. */
export function messagesOf({ events, dropped }: LiveBatch): readonly string[] {
  if (dropped === 0) return events
  const first = { type: 'dropped', timestamp: new Date().toISOString(), data: { count: dropped } }
  return [JSON.stringify(first), ...events]
}

/** The live events as SSE, numbered from 1. Watching begins with the first read of the stream. */
export function sseOfViewer(watch: () => Promise<Watcher>): PulledSource {
  let id = 0
  let watcher: Promise<Watcher> | undefined
  const leave = (each: Watcher | undefined) => each?.leave()
  return {
    cancel() {
      void watcher?.then(leave, () => {})
    },
    /** Rejects if there are too many viewers, or the events cannot be reached. The stream ends then. */
    async next() {
      watcher ??= watch()
      const happenings = await (await watcher).next()
      return (
        happenings &&
        messagesOf(happenings)
          .map(json => sseMessage(++id, json))
          .join('')
      )
    },
  }
}
