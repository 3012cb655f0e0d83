/**
 * The live feed: what happens, as it happens, for those who watch. Numbers, names and outcomes, and nothing of what
 * is said.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { createWake, type Wake } from '../wake.ts'
import { type SseSource, sseMessage } from '../web/sse.ts'

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

/** Gives events to all who watch. */
export class LiveFeed {
  readonly #viewers = new Set<Viewer>()
  readonly #maxViewers: number

  constructor(maxViewers: number) {
    this.#maxViewers = maxViewers
  }

  /** How many watch. */
  get viewers(): number {
    return this.#viewers.size
  }

  /** Tells an event, as JSON. */
  publish(json: string): void {
    for (const viewer of this.#viewers) viewer.push(json)
  }

  /** One more viewer. Throws `rate_limited` past the bound. */
  watch(): Viewer {
    if (this.#viewers.size >= this.#maxViewers) {
      throw new ServableError('rate_limited', `There are ${this.#maxViewers} viewers of the metrics already`)
    }
    const viewer = new Viewer(() => this.#viewers.delete(viewer))
    this.#viewers.add(viewer)
    return viewer
  }
}

/** One who watches. */
export class Viewer {
  readonly #left: () => void
  readonly #wake: Wake = createWake()
  #queue: string[] = []
  #dropped = 0
  #isOpen = true

  constructor(left: () => void) {
    this.#left = left
  }

  push(json: string): void {
    if (this.#queue.length >= MAX_QUEUE) {
      this.#queue.shift()
      this.#dropped++
    }
    this.#queue.push(json)
    this.#wake.fire()
  }

  /** What has happened since the last call, and how much of it was dropped; undefined once it has left. */
  async next(): Promise<{ readonly events: readonly string[]; readonly dropped: number } | undefined> {
    while (this.#isOpen && this.#queue.length === 0) await this.#wake.wait()
    if (!this.#isOpen) return undefined
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

/** What a viewer is told where some of it was dropped. */
export function droppedEvent(count: number): string {
  return JSON.stringify({ type: 'dropped', timestamp: new Date().toISOString(), data: { count } })
}

/** The events of a viewer as SSE, numbered from 1. */
export function sseOfViewer(viewer: Pick<Viewer, 'next' | 'leave'>): SseSource {
  let id = 0
  return {
    cancel: () => viewer.leave(),
    async next() {
      const batch = await viewer.next()
      if (batch === undefined) return undefined
      const events = batch.dropped > 0 ? [droppedEvent(batch.dropped), ...batch.events] : batch.events
      return events.map(json => sseMessage(++id, json)).join('')
    },
  }
}
