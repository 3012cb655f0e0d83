/**
 * Counts runs and passes the counts to a storage.
 *
 * @module
 */

import type { Kind, Usage } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { BegunRun, Observer, RunObserver } from '../../runs/observer.ts'
import { costOf, type Pricing } from '../../runs/pricing.ts'
import type { Target } from '../../runs/target.ts'
import { type Batch, sumUp } from './batches.ts'
import { History, HistoryStep, type StepJson } from './history.ts'
import { type LiveEvent, LiveFeed, type Watcher } from './live.ts'
import { type CountTaker, RunCounter, type Subject, wellFormed } from './run-counter.ts'
import { keyOf, type MetricsSnapshot, OTHER, type RunSample, Stats } from './stats.ts'

/** The limits of a core, and its own prices. */
export interface MetricsSettings {
  readonly pricing: Pricing
  readonly maxNames: number
  /** Whether the last hour is kept. */
  readonly history?: boolean | undefined
}

/** Most viewers of the live stream. */
const MAX_VIEWERS = 100

/** Keeps counts outside this process's memory. */
export interface MetricsStorage {
  /**
   * Called when something was counted. {@link MetricsCore.take} returns the counts. With `isHurried` the storage sends them soon,
   * because the object of the run costs money while it waits.
   */
  changed(isHurried?: boolean): void
  snapshot(): Promise<MetricsSnapshot>
  /** The steps of the last hour. Several may have the same time. */
  history(): Promise<readonly StepJson[]>
  /** Watches the events of all isolates. Undefined if the feed of this process has all events. */
  readonly watch?: () => Promise<Watcher>
  /** Writes the pending counts. */
  readonly flush?: () => void | Promise<void>
  /** Whether viewers of other isolates watch. */
  readonly isWatched?: () => boolean
}

/** Returns the model of any object, if it has a valid one. */
function modelOf({ model }: Target['servable']): Subject['model'] {
  const isModel = typeof model?.provider === 'string' && typeof model.id === 'string'
  return isModel ? model : undefined
}

/** Most events of a batch. */
const MAX_EVENTS = 200

/** Most served runs that are remembered, so that events of the bus do not count them twice. */
const MAX_SERVED = 10_000

/** Counts the runs of a service. */
export class MetricsCore implements Observer, CountTaker {
  readonly live: LiveFeed
  /** Functions of the event sockets' servers. Each returns its number of sockets. */
  readonly socketCounts: Set<() => number> = new Set()
  readonly #settings: MetricsSettings
  readonly #active = new Map<string, number>()
  readonly #served = new Set<string>()
  #stats = new Map<string, Stats>()
  #history: History | undefined
  #names = new Set<string>()
  #events: string[] = []
  #dropped = 0
  #watching = 0
  #streams = 0
  #isHurried = false
  #storage: MetricsStorage | undefined
  /** How many agents are attached, so that their event buses are counted. */
  #attached = 0

  constructor(settings: MetricsSettings) {
    this.#settings = settings
    this.live = new LiveFeed()
    if (settings.history) this.#history = new History()
  }

  /** Connects a storage. An exporter that serves several handlers uses the storage of the first one. */
  connect(make: (core: MetricsCore) => MetricsStorage): void {
    this.#storage ??= make(this)
  }

  /** Writes the counts now, if the storage writes them itself. */
  readonly flush = async (): Promise<void> => this.#storage?.flush?.()

  start(
    {
      kind,
      name,
      servable,
      runId,
      answers,
    }: Pick<BegunRun, 'kind' | 'name' | 'servable' | 'runId' | 'answers'>,
    pricing?: Pricing,
  ): RunCounter {
    if (this.#attached > 0) this.#noteServed(kind, (servable as { name?: string }).name ?? name, runId)
    const run = this.begin({ kind, name, model: modelOf(servable), pricing })
    if (answers !== undefined) run.answered(answers)
    return run
  }

  /** Returns the observer of a handler with prices. They apply to models for which the core has no price. */
  pricedBy(pricing: Pricing | undefined): Required<Observer> {
    return { start: run => this.start(run, pricing), openStream: this.openStream }
  }

  /**
   * The same observer for runs in a Durable Object. The object costs money while something in it waits, so the ends of runs are
   * sent soon.
   */
  hurried(pricing: Pricing | undefined): Required<Observer> {
    return {
      openStream: this.openStream,
      start: begun => {
        const run = this.start(begun, pricing)
        const end: RunObserver['end'] = (event, durationMs) => {
          this.#isHurried = true
          try {
            run.end(event, durationMs)
          } finally {
            this.#isHurried = false
          }
        }
        return { event: event => run.event(event), end }
      },
    }
  }

  /** Counts the beginning of a run. */
  begin(subject: Subject): RunCounter {
    const bounded = this.#bounded(subject)
    const key = keyOf(bounded.kind, bounded.name)
    this.#active.set(key, (this.#active.get(key) ?? 0) + 1)
    if (this.#isWatched) this.#publish('run.start', bounded, {})
    return new RunCounter(bounded, this)
  }

  tool(subject: Subject, toolName: string): void {
    if (this.#isWatched) this.#publish('tool.call', subject, { toolName })
  }

  ended(subject: Subject, sample: RunSample, code: string | undefined): void {
    const key = keyOf(subject.kind, subject.name)
    this.#active.set(key, (this.#active.get(key) ?? 1) - 1)
    let stats = this.#stats.get(key)
    if (stats === undefined) {
      stats = new Stats()
      this.#stats.set(key, stats)
    }
    stats.record(sample)
    this.#history?.record(sample, Date.now())
    if (this.#isWatched) this.#tellEnd(subject, sample, code)
    this.#storage?.changed(this.#isHurried)
  }

  costOf({ model, pricing }: Pick<Subject, 'model' | 'pricing'>, usage: Usage): number | undefined {
    const own = this.#settings.pricing
    return costOf(usage, model, pricing === undefined ? [own] : [own, pricing])
  }

  /** Counts an attached agent. From the first one on, served runs are remembered. Returns a function that detaches it. */
  attach(): () => void {
    this.#attached++
    return () => this.#attached--
  }

  /** Whether the run was served by a handler and is counted already. */
  isServed(kind: Kind, name: string, runId: string): boolean {
    return this.#served.has(`${keyOf(kind, name)}:${runId}`)
  }

  /** Counts an open stream. Call the returned function when the stream ends. */
  readonly openStream = (): (() => void) => {
    this.#streams++
    return () => void this.#streams--
  }

  /** Returns the counts since the last call. Undefined if there are none. */
  take(): Batch | undefined {
    if (this.#stats.size === 0 && this.#events.length === 0) return undefined
    const stats = Array.from(this.#stats, ([key, each]) => [key, each.toJSON()] as const)
    const events = this.#events
    const dropped = this.#dropped
    const { maxNames } = this.#settings
    const history = this.#history?.steps().map(step => step.toJSON())
    if (history !== undefined) this.#history = new History()
    this.#stats = new Map()
    this.#events = []
    this.#dropped = 0
    return { stats, events, dropped, maxNames, ...(history && { history }), ...this.gauges() }
  }

  /** Returns the current gauges of this core. */
  gauges(): Pick<Batch, 'active' | 'sockets' | 'streams'> {
    let sockets = 0
    for (const count of this.socketCounts) sockets += count()
    return {
      active: [...this.#active].filter(([, count]) => count > 0),
      sockets,
      streams: this.#streams,
    }
  }

  /** Returns all counts from the storage. */
  async snapshot(): Promise<MetricsSnapshot> {
    if (this.#storage !== undefined) return this.#storage.snapshot()
    const kept = Array.from(this.#stats, ([key, stats]) => [key, stats.toJSON()] as const)
    return sumUp(kept, [this.gauges()])
  }

  /** Returns the steps of the last hour from the storage. Undefined if they are not kept. */
  async history(): Promise<readonly HistoryStep[] | undefined> {
    if (this.#history === undefined) return undefined
    if (this.#storage === undefined) return this.#history.steps()
    return (await this.#storage.history()).map(HistoryStep.from)
  }

  /** Throws `rate_limited` if there are as many viewers as allowed. */
  checkRoom(): void {
    if (this.#watching < MAX_VIEWERS) return
    throw new ServableError('rate_limited', `The metrics already have ${MAX_VIEWERS} viewers`)
  }

  /** Watches the live events. Throws `rate_limited` if there are as many viewers as allowed. */
  async watch(): Promise<Watcher> {
    this.checkRoom()
    this.#watching++
    try {
      const viewer = await (this.#storage?.watch?.() ?? this.live.watch())
      return {
        next: () => viewer.next(),
        leave: () => {
          this.#watching--
          viewer.leave()
        },
      }
    } catch (error) {
      this.#watching--
      throw error
    }
  }

  get #isWatched(): boolean {
    return this.live.viewers > 0 || this.#storage?.isWatched?.() === true
  }

  /** Limits the names. Code that makes agents at run time could otherwise create any number of them. */
  #bounded({ name, ...given }: Subject): Subject {
    const subject = { ...given, name: wellFormed(name) }
    if (this.#names.has(subject.name)) return subject
    if (this.#names.size >= this.#settings.maxNames) return { ...subject, name: OTHER }
    this.#names.add(subject.name)
    return subject
  }

  #noteServed(kind: Kind, name: string, runId: string): void {
    this.#served.add(`${keyOf(kind, name)}:${runId}`)
    if (this.#served.size <= MAX_SERVED) return
    const [oldest] = this.#served
    if (oldest !== undefined) this.#served.delete(oldest)
  }

  #tellEnd(subject: Subject, { outcome, durationMs, usage, cost }: RunSample, code = 'unknown'): void {
    if (outcome === 'error') return this.#publish('run.error', subject, { code, durationMs })
    const { promptTokens = 0, completionTokens = 0, totalTokens = 0 } = usage ?? {}
    const numbers = { durationMs, promptTokens, completionTokens, totalTokens }
    this.#publish('run.complete', subject, { outcome, ...numbers, ...(cost !== undefined && { cost }) })
  }

  #publish(type: LiveEvent['type'], { kind, name }: Subject, data: LiveEvent['data']): void {
    const timestamp = new Date().toISOString()
    const event: LiveEvent = { type, agentName: name, timestamp, data: { kind, ...data } }
    const json = JSON.stringify(event)
    this.live.publish(json)
    if (this.#storage?.isWatched?.() !== true) return
    if (this.#events.push(json) > MAX_EVENTS) {
      this.#events.shift()
      this.#dropped++
    }
    this.#storage.changed()
  }
}
