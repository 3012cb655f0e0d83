/**
 * The object that stores a share of the metrics. Isolates send their counts to it.
 *
 * @module
 */

import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { callIn } from '../../core/object-service.ts'
import { takeExpired } from '../../stores/alarm.ts'
import { addBatch, type Batch, NOTED, noteBatch, readStats } from './batches.ts'
import { readSteps, type StepJson } from './history.ts'
import { LiveFeed, type LiveViewer, messagesOf } from './live.ts'
import type { StatsJson } from './stats.ts'

/** The name of the plugin and of its object service. */
export const METRICS_SERVICE = 'metrics'

/** The current gauges of an isolate. */
export type Gauges = Pick<Batch, 'active' | 'sockets' | 'streams'>

/** All data of an object. */
export interface Share {
  readonly stats: readonly (readonly [key: string, stats: StatsJson])[]
  readonly gauges: readonly Gauges[]
}

/** Milliseconds without a batch after which an isolate counts as gone. */
const GONE_MS = 10 * 60 * 1000

/** The methods of a metrics object. */
export interface MetricsMethods {
  /** Adds a batch. A batch that is sent again is not added twice. Returns the number of viewers. */
  add(isolate: string, id: string, batch: Batch): number
  read(): Share
  /** The steps of the last hour. */
  history(): readonly StepJson[]
  /** Streams the live events, with one line of JSON for each. */
  watch(): ReadableStream<Uint8Array>
}

/** Creates the service of one object. */
export function createMetricsObject({ store }: Pick<ObjectContext, 'store'>): ObjectService {
  const live = new LiveFeed()
  const open = new Map<string, { readonly at: number; readonly number: number; readonly gauges: Gauges }>()

  /** Sets the gauges of an isolate. Gauges of a late batch are outdated and are ignored. */
  const setGauges = (isolate: string, number: number, gauges: Gauges) => {
    const now = Date.now()
    for (const [other, { at }] of open) if (at < now - GONE_MS) open.delete(other)
    if ((open.get(isolate)?.number ?? 0) < number) open.set(isolate, { at: now, number, gauges })
  }
  const methods: MetricsMethods = {
    add(isolate, id, batch) {
      const { events, dropped, active, sockets, streams } = batch
      const number = numberOf(id)
      const isNew = store.write(tx => {
        const isFirst = noteBatch(tx, isolate, number)
        // An alarm of the object is billed as a row, so none is set for it.
        if (isFirst) takeExpired(tx, NOTED)
        if (isFirst) addBatch(tx, batch)
        return isFirst
      })
      if (isNew) {
        setGauges(isolate, number, { active, sockets, streams })
        if (dropped > 0) live.drop(dropped)
        for (const event of events) live.publish(event)
      }
      return live.viewers
    },
    read: () => ({
      stats: store.read(readStats),
      gauges: Array.from(open.values(), ({ gauges }) => gauges),
    }),
    history: () => store.read(readSteps),
    watch: () => linesOf(live.watch()),
  }
  return { ask: (method, args) => callIn(methods, method, args) }
}

/** The number of a batch within its isolate. */
function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf(':') + 1))
}

/** Milliseconds between empty lines. Only a write shows that the other side has left. */
const LINE_MS = 5000

function linesOf(viewer: LiveViewer): ReadableStream<Uint8Array> {
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
          messagesOf(batch)
            .map(event => `${event}\n`)
            .join(''),
        ),
      )
    },
    cancel: leave,
  })
}
