/**
 * The counts of one agent, team or workflow. Counts of several processes can be merged.
 *
 * @module
 */

import type { FinishReason, Kind, Usage } from '../../agents/contract.ts'
import { FINISH_REASONS } from '../../agents/event.ts'
import { KINDS } from '../../agents/registry.ts'
import { Histogram, type HistogramJson } from './histogram.ts'
import { Sketch, type SketchJson } from './sketch.ts'

/** The name for unknown values, and for values above a limit. */
export const OTHER = 'other'

/** Most tools of a name with counts of their own. Others count as {@link OTHER}. */
const MAX_TOOLS = 100

/** The outcome of a run. */
export type CountedOutcome = FinishReason | 'error' | typeof OTHER

/** The outcomes that are counted separately. */
export const OUTCOMES: ReadonlySet<string> = new Set<CountedOutcome>([...FINISH_REASONS, 'error'])

/** The states of a tool call that needs approval. */
export const APPROVALS = ['asked', 'approved', 'denied'] as const

/** One of them. */
export type Approval = (typeof APPROVALS)[number]

/** The values to count of one ended run. */
export interface RunSample {
  readonly outcome: CountedOutcome
  readonly durationMs: number
  /** Milliseconds from the start to the first text. Undefined if there was no text. */
  readonly firstTextMs: number | undefined
  readonly usage: Usage | undefined
  /** Cost in USD. Undefined if it is not known. */
  readonly cost: number | undefined
  /** The names of the called tools, one for each call. */
  readonly tools: readonly string[] | undefined
  /** One for each call that needs approval, and one for each decision before the run continued. */
  readonly approvals?: readonly Approval[] | undefined
}

/** Stored stats. */
export interface StatsJson {
  readonly outcomes: Readonly<Record<string, number>>
  readonly prompt: number
  readonly completion: number
  readonly total: number
  /** Tokens of the runs that neither failed nor were cancelled. */
  readonly successTokens: number
  /** Cost in USD. Null if no run had a known cost. */
  readonly cost: number | null
  readonly tools: Readonly<Record<string, number>>
  /** Absent in counts of earlier versions. */
  readonly approvals?: Readonly<Record<string, number>>
  readonly sketch: SketchJson
  readonly durations: HistogramJson
  readonly firstTexts: HistogramJson
  readonly last: Usage | null
}

/** The counts of one name. */
export class Stats {
  readonly outcomes: Map<string, number> = new Map()
  prompt = 0
  completion = 0
  total = 0
  successTokens = 0
  cost: number | undefined
  readonly tools: Map<string, number> = new Map()
  readonly approvals: Map<string, number> = new Map()
  readonly sketch: Sketch = new Sketch()
  readonly durations: Histogram = new Histogram()
  readonly firstTexts: Histogram = new Histogram()
  /** The usage of the last run that reported one. */
  last: Usage | undefined

  /** Reads stored stats. */
  static from(json: StatsJson): Stats {
    const stats = new Stats()
    addAll(stats.outcomes, Object.entries(json.outcomes))
    addAll(stats.tools, Object.entries(json.tools))
    addAll(stats.approvals, Object.entries(json.approvals ?? {}))
    stats.prompt = json.prompt
    stats.completion = json.completion
    stats.total = json.total
    stats.successTokens = json.successTokens
    stats.cost = json.cost ?? undefined
    stats.sketch.merge(Sketch.from(json.sketch))
    stats.durations.merge(Histogram.from(json.durations))
    stats.firstTexts.merge(Histogram.from(json.firstTexts))
    stats.last = json.last ?? undefined
    return stats
  }

  /** Number of ended runs. */
  get runs(): number {
    return this.sketch.count
  }

  get errors(): number {
    return this.outcomes.get('error') ?? 0
  }

  get cancels(): number {
    return this.outcomes.get('cancelled') ?? 0
  }

  get toolCalls(): number {
    let sum = 0
    for (const count of this.tools.values()) sum += count
    return sum
  }

  /** Counts a run. At most {@link MAX_TOOLS} tools are counted separately. */
  record(sample: RunSample): void {
    const { outcome, durationMs, firstTextMs, usage, cost, tools = [], approvals = [] } = sample
    add(this.outcomes, outcome, 1)
    this.sketch.add(durationMs)
    this.durations.add(durationMs / 1000)
    if (firstTextMs !== undefined) this.firstTexts.add(firstTextMs / 1000)
    if (usage !== undefined) this.#use(usage, outcome)
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost
    for (const tool of tools) this.#addTool(tool, 1)
    for (const approval of approvals) add(this.approvals, approval, 1)
  }

  /** Adds other counts of the same name. */
  merge(other: Stats): void {
    addAll(this.outcomes, other.outcomes)
    addAll(this.approvals, other.approvals)
    for (const [tool, count] of other.tools) this.#addTool(tool, count)
    this.prompt += other.prompt
    this.completion += other.completion
    this.total += other.total
    this.successTokens += other.successTokens
    if (other.cost !== undefined) this.cost = (this.cost ?? 0) + other.cost
    this.sketch.merge(other.sketch)
    this.durations.merge(other.durations)
    this.firstTexts.merge(other.firstTexts)
    this.last = other.last ?? this.last
  }

  toJSON(): StatsJson {
    return {
      outcomes: Object.fromEntries(this.outcomes),
      prompt: this.prompt,
      completion: this.completion,
      total: this.total,
      successTokens: this.successTokens,
      cost: this.cost ?? null,
      tools: Object.fromEntries(this.tools),
      approvals: Object.fromEntries(this.approvals),
      sketch: this.sketch.toJSON(),
      durations: this.durations.toJSON(),
      firstTexts: this.firstTexts.toJSON(),
      last: this.last ?? null,
    }
  }

  #addTool(tool: string, count: number): void {
    const isKnown = this.tools.has(tool) || this.tools.size < MAX_TOOLS
    add(this.tools, isKnown ? tool : OTHER, count)
  }

  #use(usage: Usage, outcome: CountedOutcome): void {
    this.prompt += usage.promptTokens
    this.completion += usage.completionTokens
    this.total += usage.totalTokens
    if (isSuccess(outcome)) this.successTokens += usage.totalTokens
    this.last = usage
  }
}

function isSuccess(outcome: CountedOutcome): boolean {
  return outcome !== 'error' && outcome !== 'cancelled'
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

function addAll(counts: Map<string, number>, more: Iterable<readonly [string, number]>): void {
  for (const [name, count] of more) add(counts, name, count)
}

/** The counts of one name, and the number of its running runs. */
export interface Counted {
  readonly kind: Kind
  readonly name: string
  readonly stats: Stats
  readonly active: number
}

/** The counts of all names, sorted by kind and name. */
export interface MetricsSnapshot {
  readonly counted: readonly Counted[]
  readonly sockets: number
  readonly streams: number
}

/** Joins a kind and a name to a key. */
export function keyOf(kind: Kind, name: string): string {
  return `${kind}:${name}`
}

/** Splits such a key. */
export function fromKey(key: string): { kind: Kind; name: string } {
  const at = key.indexOf(':')
  return { kind: key.slice(0, at) as Kind, name: key.slice(at + 1) }
}

/** Sorts counts by kind and name. */
export function inOrder(counted: readonly Counted[]): Counted[] {
  return counted.toSorted(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
}
