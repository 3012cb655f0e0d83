/**
 * Counts runs, and gives what was counted to whoever keeps it.
 *
 * @module
 */

import type { Kind, Usage } from '../agents/contract.ts'
import { ServableError } from '../errors.ts'
import type { BegunRun, Observer, RunObserver } from '../runs/observer.ts'
import { costOf, type Pricing } from '../runs/pricing.ts'
import type { Target } from '../runs/target.ts'
import { type Batch, sumUp } from './batches.ts'
import { type LiveEvent, LiveFeed, type Watcher } from './live.ts'
import { type CountTaker, RunCounter, type Subject, wellFormed } from './run-counter.ts'
import { keyOf, type Snapshot } from './snapshot.ts'
import { OTHER, type RunSample, Stats } from './stats.ts'

/** The bounds of a core, and its own prices. */
export interface CoreSettings {
  readonly pricing: Pricing
  readonly maxNames: number
  readonly maxTools: number
  readonly maxViewers: number
}

/** Keeps what was counted elsewhere than in this process's memory. */
export interface MetricsKeeper {
  /** Something was counted: {@link MetricsCore.take} gives it. `isHurried`: whoever counted it is not to wait for that. */
  changed(isHurried?: boolean): void
  snapshot(): Promise<Snapshot>
  /** Follows what happens everywhere; undefined where this process's feed is all there is. */
  readonly watch?: () => Promise<Watcher>
  /** Writes what waits to be written. */
  readonly flush?: () => void | Promise<void>
  /** Whether somebody watches elsewhere. */
  readonly isWatched?: () => boolean
}

/** The model of other code's object, where it is one. */
function modelOf({ model }: Target['servable']): Subject['model'] {
  const isModel = typeof model?.provider === 'string' && typeof model.id === 'string'
  return isModel ? model : undefined
}

/** Events of a batch. */
const MAX_EVENTS = 200

/** Runs that were served, so that the bus is not heard on them as well. */
const MAX_SERVED = 10_000

/** See the module's head. */
export class MetricsCore implements Observer, CountTaker {
  readonly live: LiveFeed
  /** Told by the servers of event sockets how many sockets they have. */
  readonly socketCounts: Set<() => number> = new Set()
  readonly #settings: CoreSettings
  readonly #active = new Map<string, number>()
  readonly #served = new Set<string>()
  #stats = new Map<string, Stats>()
  #names = new Set<string>()
  #events: string[] = []
  #dropped = 0
  #watching = 0
  #streams = 0
  #isHurried = false
  #keeper: MetricsKeeper | undefined
  /** Agents whose bus is heard. */
  #attached = 0

  constructor(settings: CoreSettings) {
    this.#settings = settings
    this.live = new LiveFeed()
  }

  /** Gives what is counted to a keeper from now on. One that serves several handlers has the first one's. */
  connect(make: (core: MetricsCore) => MetricsKeeper): void {
    this.#keeper ??= make(this)
  }

  /** Has what was counted written now, where that is done here. */
  readonly flush = async (): Promise<void> => this.#keeper?.flush?.()

  start(
    { kind, name, servable, runId, answers }: Omit<BegunRun, 'traceparent'>,
    pricing?: Pricing,
  ): RunCounter {
    if (this.#attached > 0) this.#noteServed(kind, (servable as { name?: string }).name ?? name, runId)
    const run = this.begin({ kind, name, model: modelOf(servable), pricing })
    if (answers !== undefined) run.answered(answers)
    return run
  }

  /** Counts the runs of a handler that has prices: they hold where the core has none of a model. */
  pricedBy(pricing: Pricing | undefined): Required<Observer> {
    return { start: run => this.start(run, pricing), openStream: this.openStream }
  }

  /** The same, for runs whose place is paid for as long as something in it waits: their ends are handed over at once. */
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

  /** A run begins. */
  begin(subject: Subject): RunCounter {
    const bounded = this.#bounded(subject)
    const key = keyOf(bounded.kind, bounded.name)
    this.#active.set(key, (this.#active.get(key) ?? 0) + 1)
    if (this.#isWatched) this.#tell('run.start', bounded, {})
    return new RunCounter(bounded, this)
  }

  tool(subject: Subject, toolName: string): void {
    if (this.#isWatched) this.#tell('tool.call', subject, { toolName })
  }

  ended(subject: Subject, sample: RunSample, code: string | undefined): void {
    const key = keyOf(subject.kind, subject.name)
    this.#active.set(key, (this.#active.get(key) ?? 1) - 1)
    let stats = this.#stats.get(key)
    if (stats === undefined) {
      stats = new Stats()
      this.#stats.set(key, stats)
    }
    stats.record(sample, this.#settings.maxTools)
    if (this.#isWatched) this.#tellEnd(subject, sample, code)
    this.#keeper?.changed(this.#isHurried)
  }

  costOf({ model, pricing }: Subject, usage: Usage): number | undefined {
    const own = this.#settings.pricing
    return costOf(usage, model, pricing === undefined ? [own] : [own, pricing])
  }

  /** The bus of an agent is heard: from now on runs that are served are told apart. */
  attach(): () => void {
    this.#attached++
    return () => this.#attached--
  }

  /** Whether the run was served, and is counted already. */
  isServed(kind: Kind, name: string, runId: string): boolean {
    return this.#served.has(`${keyOf(kind, name)}:${runId}`)
  }

  /** A stream is open until the returned function is called. */
  readonly openStream = (): (() => void) => {
    this.#streams++
    return () => void this.#streams--
  }

  /** What was counted since the last call; undefined where that is nothing. */
  take(): Batch | undefined {
    if (this.#stats.size === 0 && this.#events.length === 0) return undefined
    const stats = Array.from(this.#stats, ([key, each]) => [key, each.toJSON()] as const)
    const events = this.#events
    const dropped = this.#dropped
    const { maxNames, maxTools } = this.#settings
    this.#stats = new Map()
    this.#events = []
    this.#dropped = 0
    return { stats, events, dropped, maxNames, maxTools, ...this.gauges() }
  }

  /** What is open here. */
  gauges(): Pick<Batch, 'active' | 'sockets' | 'streams'> {
    let sockets = 0
    for (const count of this.socketCounts) sockets += count()
    return {
      active: [...this.#active].filter(([, count]) => count > 0),
      sockets,
      streams: this.#streams,
    }
  }

  /** All that was counted, wherever it is kept. */
  async snapshot(): Promise<Snapshot> {
    if (this.#keeper !== undefined) return this.#keeper.snapshot()
    const kept = Array.from(this.#stats, ([key, stats]) => [key, stats.toJSON()] as const)
    return sumUp(kept, [this.gauges()])
  }

  /** Throws `rate_limited` where as many watch here as may. */
  checkRoom(): void {
    const { maxViewers } = this.#settings
    if (this.#watching < maxViewers) return
    throw new ServableError('rate_limited', `The metrics already have ${maxViewers} viewers`)
  }

  /** One who watches what happens. Throws `rate_limited`. */
  async watch(): Promise<Watcher> {
    this.checkRoom()
    this.#watching++
    try {
      const viewer = await (this.#keeper?.watch?.() ?? this.live.watch())
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
    return this.live.viewers > 0 || this.#keeper?.isWatched?.() === true
  }

  /** Names are bounded, since what makes agents while it runs could make names without end. */
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
    if (outcome === 'error') return this.#tell('run.error', subject, { code, durationMs })
    const { promptTokens = 0, completionTokens = 0, totalTokens = 0 } = usage ?? {}
    const numbers = { durationMs, promptTokens, completionTokens, totalTokens }
    this.#tell('run.complete', subject, { outcome, ...numbers, ...(cost !== undefined && { cost }) })
  }

  #tell(type: LiveEvent['type'], { kind, name }: Subject, data: LiveEvent['data']): void {
    const timestamp = new Date().toISOString()
    const event: LiveEvent = { type, agentName: name, timestamp, data: { kind, ...data } }
    const json = JSON.stringify(event)
    this.live.publish(json)
    if (this.#keeper?.isWatched?.() !== true) return
    if (this.#events.push(json) > MAX_EVENTS) {
      this.#events.shift()
      this.#dropped++
    }
    this.#keeper.changed()
  }
}
