/**
 * The live feed: what happens, as it happens, for those who watch. Numbers, names and outcomes, and nothing of what
 * is said.
 *
 * @module
 */

import { createWake, type Wake } from '../wake.ts'
import { type PulledSource, sseMessage } from '../web/sse.ts'

/** One thing that happened. */
export interface LiveEvent {
  readonly type: 'run.start' | 'run.complete' | 'run.error' | 'tool.call'
  /** The name of the agent, team or workflow; `data.kind` says which. */
  readonly agentName: string
  /** ISO 8601, in UTC. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, string | number>>
}

/** Events that wait for one viewer; past it the oldest are dropped. */
const MAX_QUEUE = 256

/** Milliseconds after which a viewer that loses events is let go where it has read nothing. */
const UNREAD_MS = 60_000

/** Gives events to all who watch. */
export class LiveFeed {
  readonly #viewers = new Set<Viewer>()

  /** How many watch. */
  get viewers(): number {
    return this.#viewers.size
  }

  /** Tells an event, as JSON. */
  publish(json: string): void {
    for (const viewer of this.#viewers) viewer.push(json)
  }

  /** More has happened than is told. */
  drop(count: number): void {
    for (const viewer of this.#viewers) viewer.drop(count)
  }

  /** One more viewer. */
  watch(): Viewer {
    const viewer = new Viewer(() => this.#viewers.delete(viewer))
    this.#viewers.add(viewer)
    return viewer
  }
}

/** What a viewer is to be told of. */
export interface Happenings {
  readonly events: readonly string[]
  /** How many more were dropped. */
  readonly dropped: number
}

/** Reads what happens. */
export interface Watcher {
  /** What has happened since the last call; undefined once it has left. */
  next(): Promise<Happenings | undefined>
  leave(): void
}

/** One who watches. */
export class Viewer implements Watcher {
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
      // Its stream is not read any more, and nobody has said so.
      if (performance.now() - this.#readAt > UNREAD_MS) return this.leave()
    }
    this.#queue.push(json)
    this.#wake.fire()
  }

  drop(count: number): void {
    this.#dropped += count
    this.#wake.fire()
  }

  async next(): Promise<Happenings | undefined> {
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

/** What a viewer is told, as JSON; first how much of it was dropped, if some was. */
export function toldOf({ events, dropped }: Happenings): readonly string[] {
  if (dropped === 0) return events
  const first = { type: 'dropped', timestamp: new Date().toISOString(), data: { count: dropped } }
  return [JSON.stringify(first), ...events]
}

/** What happens as SSE, numbered from 1. It is watched once the stream is read: one that never is costs nothing. */
export function sseOfViewer(watch: () => Promise<Watcher>): PulledSource {
  let id = 0
  let watcher: Promise<Watcher> | undefined
  const leave = (each: Watcher | undefined) => each?.leave()
  return {
    cancel() {
      void watcher?.then(leave, () => {})
    },
    async next() {
      try {
        watcher ??= watch()
        const happenings = await (await watcher).next()
        return (
          happenings &&
          toldOf(happenings)
            .map(json => sseMessage(++id, json))
            .join('')
        )
      } catch {
        // As many watch by now as may, or what is watched cannot be reached.
        return undefined
      }
    },
  }
}
