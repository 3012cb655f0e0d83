/**
 * The last hour in steps of 30 s: a ring of fixed size. Steps of several processes can be merged.
 *
 * @module
 */

import type { Reader, Transaction } from '../../stores/store.ts'
import { Sketch, type SketchJson } from './sketch.ts'
import type { RunSample } from './stats.ts'

/** Milliseconds of a step. */
export const STEP_MS = 30_000

/** Number of steps: an hour. */
export const STEPS = 120

/** A stored step. */
export interface StepJson {
  /** The begin of the step: milliseconds since 1970, a multiple of {@link STEP_MS}. */
  readonly at: number
  readonly counts: readonly [runs: number, errors: number, cancels: number, tokens: number]
  /** USD. Null if no run had a known cost. */
  readonly cost: number | null
  readonly durations: SketchJson
  readonly firstTexts: SketchJson
}

/** The counts of one step. A run counts in the step in which it ended. */
export class HistoryStep {
  readonly at: number
  errors = 0
  cancels = 0
  tokens = 0
  cost: number | undefined
  readonly durations: Sketch = new Sketch()
  readonly firstTexts: Sketch = new Sketch()

  constructor(at: number) {
    this.at = at
  }

  static from({
    at,
    counts: [, errors, cancels, tokens],
    cost,
    durations,
    firstTexts,
  }: StepJson): HistoryStep {
    const step = new HistoryStep(at)
    step.errors = errors
    step.cancels = cancels
    step.tokens = tokens
    step.cost = cost ?? undefined
    step.durations.merge(Sketch.from(durations))
    step.firstTexts.merge(Sketch.from(firstTexts))
    return step
  }

  get runs(): number {
    return this.durations.count
  }

  record({ outcome, durationMs, firstTextMs, usage, cost }: RunSample): void {
    if (outcome === 'error') this.errors++
    if (outcome === 'cancelled') this.cancels++
    this.tokens += usage?.totalTokens ?? 0
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost
    this.durations.add(durationMs)
    if (firstTextMs !== undefined) this.firstTexts.add(firstTextMs)
  }

  merge(other: HistoryStep): void {
    this.errors += other.errors
    this.cancels += other.cancels
    this.tokens += other.tokens
    if (other.cost !== undefined) this.cost = (this.cost ?? 0) + other.cost
    this.durations.merge(other.durations)
    this.firstTexts.merge(other.firstTexts)
  }

  toJSON(): StepJson {
    const { at, runs, errors, cancels, tokens, cost = null } = this
    const counts = [runs, errors, cancels, tokens] as const
    return { at, counts, cost, durations: this.durations.toJSON(), firstTexts: this.firstTexts.toJSON() }
  }
}

/** The steps of the last hour, by their slot in the ring. */
export class History {
  readonly #ring = new Map<number, HistoryStep>()

  /** Counts a run that ends now. */
  record(sample: RunSample, now: number): void {
    this.#at(now)?.record(sample)
  }

  /** Adds a step. A step older than the one in its slot is dropped. */
  merge(step: HistoryStep): void {
    this.#at(step.at)?.merge(step)
  }

  /** All steps, in no order. */
  steps(): readonly HistoryStep[] {
    return [...this.#ring.values()]
  }

  /** The step of a time. Undefined if its slot has a later one. */
  #at(time: number): HistoryStep | undefined {
    const at = time - (time % STEP_MS)
    const before = this.#ring.get(slotOf(at))
    if (before !== undefined && before.at >= at) return before.at === at ? before : undefined
    const step = new HistoryStep(at)
    this.#ring.set(slotOf(at), step)
    return step
  }
}

/** The slot of a step in the ring. Steps one hour apart share a slot. */
function slotOf(at: number): number {
  return (at / STEP_MS) % STEPS
}

/** The collection of steps. */
const HISTORY = 'metrics-history'

/** Adds steps to the stored ones, in one document each. */
export function addSteps(tx: Transaction, steps: readonly StepJson[] = []): void {
  for (const json of steps) {
    const id = String(slotOf(json.at))
    const before = tx.get<StepJson>(HISTORY, id)?.value
    if (before !== undefined && before.at > json.at) continue
    const step = HistoryStep.from(json)
    if (before?.at === json.at) step.merge(HistoryStep.from(before))
    tx.put(HISTORY, { id, partition: '', at: 0, tags: {}, value: step.toJSON() })
  }
}

/** All stored steps. */
export function readSteps(tx: Reader): readonly StepJson[] {
  return tx.list<StepJson>(HISTORY, { partition: '', limit: STEPS }).map(({ value }) => value)
}

/** One step in responses. */
export interface MetricsStep {
  /** The begin of the step: ISO 8601, in UTC. */
  readonly at: string
  /** Runs that have ended in it, in any way. */
  readonly runs: number
  readonly errors: number
  readonly cancels: number
  readonly tokens: number
  /** USD. Absent if no run had a known price. */
  readonly cost?: number
  /** Quantiles of durations in milliseconds, with a relative error of 1 %. 0 if no run has ended. */
  readonly p50DurationMs: number
  readonly p95DurationMs: number
  readonly p99DurationMs: number
  /** Quantiles of the time to the first text, in milliseconds. 0 if there was none. */
  readonly p50FirstTextMs: number
  readonly p95FirstTextMs: number
}

/** The last hour. */
export interface MetricsHistory {
  /** Milliseconds of a step: 30,000. */
  readonly stepMs: number
  /** 120 steps, oldest first. The last one is not over yet. */
  readonly steps: readonly MetricsStep[]
}

/** The hour up to `now`, with a step for each 30 s even if nothing was counted. */
export function toHistoryJson(steps: Iterable<HistoryStep>, now: number): MetricsHistory {
  const history = new History()
  for (const step of steps) history.merge(step)
  const byTime = new Map(history.steps().map(step => [step.at, step]))
  const last = now - (now % STEP_MS)
  const times = Array.from({ length: STEPS }, (_, index) => last - (STEPS - 1 - index) * STEP_MS)
  return { stepMs: STEP_MS, steps: times.map(at => toMetricsStep(byTime.get(at) ?? new HistoryStep(at))) }
}

function toMetricsStep(step: HistoryStep): MetricsStep {
  const { at, runs, errors, cancels, tokens, cost, durations, firstTexts } = step
  return {
    at: new Date(at).toISOString(),
    ...{ runs, errors, cancels, tokens },
    ...(cost !== undefined && { cost }),
    p50DurationMs: durations.quantile(0.5),
    p95DurationMs: durations.quantile(0.95),
    p99DurationMs: durations.quantile(0.99),
    p50FirstTextMs: firstTexts.quantile(0.5),
    p95FirstTextMs: firstTexts.quantile(0.95),
  }
}
