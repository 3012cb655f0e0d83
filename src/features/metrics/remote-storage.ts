/**
 * Stores the metrics of many isolates. Each isolate sends its counts to one of several objects, which add them up.
 *
 * @module
 */

import type { HostedState } from '../../core/hosted.ts'
import { remote, type ServiceCalls } from '../../core/object-service.ts'
import { type Batch, sumUp } from './batches.ts'
import type { MetricsCore, MetricsStorage } from './core.ts'
import { LiveViewer } from './live.ts'
import { METRICS_SERVICE, type MetricsMethods } from './object.ts'

/** The parts of the state that the storage needs. */
type StateParts = Pick<HostedState, 'countOf' | 'reach' | 'waitUntil'>

/**
 * Milliseconds for which an isolate collects counts before it sends them. Each request costs money. An isolate that ends
 * loses the counts of that time.
 */
const COLLECT_MS = 5000

/** The shorter time while there are viewers, and in a Durable Object, which costs money while it waits. */
const HURRIED_MS = 100

/** Milliseconds after which a missing send is given up. Its request may be gone. */
const LOST_MS = 1000

/** Tries of a batch before it waits for the next send, and milliseconds between two tries. */
const TRIES = 3
const RETRY_MS = 200

/** Most batches that wait for another send. Above it the oldest are lost. */
const MAX_UNSENT = 1000

/** Milliseconds after which an unsent batch is given up. Objects remember received batches for twice as long. */
const GIVE_UP_MS = 30 * 60 * 1000

interface Unsent {
  readonly id: string
  readonly at: number
  readonly batch: Batch
}

const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Creates the storage of an isolate. It does nothing until something is counted. */
export function createRemoteStorage(
  core: MetricsCore,
  state: StateParts,
  onError: (error: unknown) => void,
): MetricsStorage {
  return new RemoteMetricsStorage(core, state, onError)
}

class RemoteMetricsStorage implements MetricsStorage {
  readonly #core: MetricsCore
  readonly #state: StateParts
  readonly #onError: (error: unknown) => void
  readonly #unsent: Unsent[] = []
  /** Created on first use, because a Worker cannot create random numbers while it starts. */
  #isolate: string | undefined
  #count = 0
  /** The time of the next send. */
  #dueAt = Number.NEGATIVE_INFINITY
  #watchers = 0

  constructor(core: MetricsCore, state: StateParts, onError: (error: unknown) => void) {
    this.#core = core
    this.#state = state
    this.#onError = onError
  }

  readonly isWatched = (): boolean => this.#watchers > 0

  /** Schedules a send. The context of the current request keeps it alive after the response. */
  changed(isHurried = false): void {
    const now = Date.now()
    const wait = isHurried || this.isWatched() ? HURRIED_MS : COLLECT_MS
    const isComing = this.#dueAt > now - LOST_MS && this.#dueAt <= now + wait
    if (isComing) return
    this.#dueAt = now + wait
    this.#state.waitUntil(
      sleep(wait).then(() => {
        this.#dueAt = Number.NEGATIVE_INFINITY
        return this.#send()
      }),
    )
  }

  async snapshot(): ReturnType<MetricsStorage['snapshot']> {
    await this.#send()
    const shares = await Promise.all(this.#objects().map(object => object.read()))
    return sumUp(
      shares.flatMap(({ stats }) => stats),
      shares.flatMap(({ gauges }) => gauges),
    )
  }

  async history(): ReturnType<MetricsStorage['history']> {
    await this.#send()
    return (await Promise.all(this.#objects().map(object => object.history()))).flat()
  }

  /** Watches all objects together. */
  readonly watch = async (): Promise<LiveViewer> => {
    const readers = await Promise.all(this.#objects().map(async object => (await object.watch()).getReader()))
    const viewer = new LiveViewer(() => {
      for (const reader of readers) void reader.cancel().then(undefined, () => {})
    })
    for (const reader of readers) void pump(reader, viewer)
    this.#watchers++
    return viewer
  }

  async #send(): Promise<void> {
    const batch = this.#core.take()
    this.#isolate ??= crypto.randomUUID()
    const now = Date.now()
    if (batch !== undefined) this.#unsent.push({ id: `${this.#isolate}:${++this.#count}`, at: now, batch })
    const unsent = this.#unsent.splice(0).filter(({ at }) => at > now - GIVE_UP_MS)
    await Promise.all(unsent.map(each => this.#deliver(each)))
    if (this.#unsent.length > MAX_UNSENT) this.#unsent.splice(0, this.#unsent.length - MAX_UNSENT)
  }

  /** Sends a batch. Its id ensures that it counts once, so it can be sent again after any failure. */
  async #deliver(unsent: Unsent): Promise<void> {
    const isolate = this.#isolate ?? ''
    const objects = this.#objects()
    const shard = Number.parseInt(isolate.slice(0, 8), 16) % objects.length
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      try {
        this.#watchers = await objects[shard]!.add(isolate, unsent.id, unsent.batch)
        return
      } catch (error) {
        if (attempt < TRIES) await sleep(RETRY_MS)
        else this.#onError(error)
      }
    }
    this.#unsent.push(unsent)
  }

  #objects(): ServiceCalls<MetricsMethods>[] {
    const { reach } = this.#state
    return Array.from({ length: this.#state.countOf('metrics') }, (_, shard) =>
      remote(reach('metrics', `metrics:${shard}`, METRICS_SERVICE)),
    )
  }
}

/** Passes the lines of a stream to a viewer. */
async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, viewer: LiveViewer): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let item = await reader.read(); !item.done; item = await reader.read()) {
      const lines = (rest + decoder.decode(item.value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') viewer.push(line)
    }
  } catch {
    // The object is gone. The viewer's stream then ends.
  }
  viewer.leave()
}
