/**
 * The Durable Object that keeps a share of the metrics: isolates hand it what they counted.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { addBatch, type Batch, readStats } from '../../metrics/batches.ts'
import { LiveFeed, toldOf, type Viewer } from '../../metrics/live.ts'
import type { StatsJson } from '../../metrics/stats.ts'
import { noteBatch } from './batch-places.ts'
import type { ObjectClass, ObjectState } from './platform.ts'
import { type ObjectStore, objectStore } from './sql.ts'

/** What is open in an isolate. */
export type Gauges = Pick<Batch, 'active' | 'sockets' | 'streams'>

/** All that an object keeps. */
export interface Share {
  readonly stats: readonly (readonly [key: string, stats: StatsJson])[]
  readonly gauges: readonly Gauges[]
}

/** Milliseconds after which an isolate that says nothing is thought to be gone. */
const GONE_MS = 10 * 60 * 1000

/** Makes the class. */
export function metricsObjectClass(): ObjectClass {
  return class ServableMetrics extends DurableObject {
    readonly #store: ObjectStore
    readonly #live = new LiveFeed()
    readonly #gauges = new Map<
      string,
      { readonly at: number; readonly place: number; readonly gauges: Gauges }
    >()

    constructor(state: ObjectState, env: unknown) {
      // The base class is typed by the runtime's own types where a user has them.
      super(state as never, env as never)
      this.#store = objectStore(state.storage)
    }

    /** Adds a batch once, however often it is sent; says how many watch. */
    async add(isolate: string, id: string, batch: Batch): Promise<number> {
      const { events, dropped, active, sockets, streams } = batch
      const place = placeOf(id)
      const isNew = this.#store.transact(tx => {
        const isFirst = noteBatch(tx, isolate, place)
        if (isFirst) addBatch(tx, batch)
        return isFirst
      })
      if (isNew) {
        this.#setGauges(isolate, place, { active, sockets, streams })
        if (dropped > 0) this.#live.drop(dropped)
        for (const event of events) this.#live.publish(event)
      }
      return this.#live.viewers
    }

    async read(): Promise<Share> {
      return {
        stats: this.#store.isEmpty() ? [] : this.#store.transact(tx => readStats(tx)),
        gauges: Array.from(this.#gauges.values(), ({ gauges }) => gauges),
      }
    }

    /** A batch that comes late says nothing of now. */
    #setGauges(isolate: string, place: number, gauges: Gauges): void {
      const now = Date.now()
      for (const [other, { at }] of this.#gauges) if (at < now - GONE_MS) this.#gauges.delete(other)
      if ((this.#gauges.get(isolate)?.place ?? 0) < place)
        this.#gauges.set(isolate, { at: now, place, gauges })
    }

    /** What happens, a line of JSON each. */
    async watch(): Promise<ReadableStream<Uint8Array>> {
      return linesOf(this.#live.watch())
    }
  }
}

/** The place of a batch among those of its isolate. */
function placeOf(id: string): number {
  return Number(id.slice(id.lastIndexOf(':') + 1))
}

/** Milliseconds between empty lines: by writing alone is it met that the other side has left. */
const LINE_MS = 5000

function linesOf(viewer: Viewer): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  const leave = () => {
    if (timer !== undefined) clearInterval(timer)
    viewer.leave()
  }
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      timer = setInterval(() => controller.enqueue(encoder.encode('\n')), LINE_MS)
    },
    async pull(controller) {
      const batch = await viewer.next()
      if (batch === undefined) return
      controller.enqueue(
        encoder.encode(
          toldOf(batch)
            .map(event => `${event}\n`)
            .join(''),
        ),
      )
    },
    cancel: leave,
  })
}
