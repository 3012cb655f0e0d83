/**
 * Writes metrics for scrapers: the text format 0.0.4 of Prometheus, and OpenMetrics 1.0.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { BOUNDS, type Histogram } from './histogram.ts'
import { averageOf } from './json.ts'
import type { Counted, MetricsSnapshot, Stats } from './stats.ts'

/** A text format. */
export type TextFormat = 'prometheus' | 'openmetrics'

type Type = 'counter' | 'gauge' | 'histogram'

/** The series of docs/run/metrics.md, by the part of their names after `service_agent_`. */
const SERIES: readonly [name: string, type: Type, help: string, value: (stats: Stats) => number][] = [
  ['runs_total', 'counter', 'Runs that have ended.', stats => stats.runs],
  ['errors_total', 'counter', 'Runs that failed.', stats => stats.errors],
  ['duration_ms_avg', 'gauge', 'Mean duration of a run in milliseconds.', averageOf],
  [
    'duration_ms_p95',
    'gauge',
    '95th percentile of the duration in milliseconds, within 1 %.',
    stats => stats.sketch.quantile(0.95),
  ],
  ['tokens_total', 'counter', 'Tokens that were used.', stats => stats.total],
  ['cost_usd_total', 'counter', 'Cost in USD, as far as it is known.', stats => stats.cost ?? 0],
  ['tool_calls_total', 'counter', 'Calls of tools.', stats => stats.toolCalls],
]

/** Series with one more label. */
const LABELLED: readonly [
  name: string,
  help: string,
  label: string,
  counts: (stats: Stats) => Iterable<readonly [string, number]>,
][] = [
  ['runs_by_outcome_total', 'Runs by how they ended.', 'outcome', stats => stats.outcomes],
  [
    'tokens_by_kind_total',
    'Tokens by kind.',
    'kind',
    ({ prompt, completion }) => [
      ['prompt', prompt],
      ['completion', completion],
    ],
  ],
  ['tool_calls_by_tool_total', 'Calls by tool.', 'tool', stats => stats.tools],
  [
    'approvals_total',
    'Tool calls that had to be approved, and those that were approved or denied.',
    'state',
    stats => stats.approvals,
  ],
]

const HISTOGRAMS: readonly [name: string, help: string, histogram: (stats: Stats) => Histogram][] = [
  ['run_duration_seconds', 'Duration of runs.', stats => stats.durations],
  [
    'time_to_first_token_seconds',
    'Time from the start of a run to its first text.',
    stats => stats.firstTexts,
  ],
]

/** The content type of each format. */
export const CONTENT_TYPES: Readonly<Record<TextFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Writes a snapshot as text. */
export function toPrometheus(snapshot: MetricsSnapshot, format: TextFormat): string {
  const text = new Text(format)
  for (const kind of KINDS) {
    const counted = snapshot.counted.filter(each => each.kind === kind)
    // The series of agents are always written, so that a scraper finds them from the start.
    if (counted.length > 0 || kind === 'agent') writeKind(text, kind, counted)
  }
  text.head('service_open_sockets', 'gauge', 'Sockets that are open.')
  text.sample('service_open_sockets', '', snapshot.sockets)
  text.head('service_open_streams', 'gauge', 'Streams of events that are open.')
  text.sample('service_open_streams', '', snapshot.streams)
  return text.end()
}

function writeKind(text: Text, kind: Kind, counted: readonly Counted[]): void {
  const prefix = `service_${kind}_`
  const labelled = counted.map(each => ({ ...each, label: `${kind}="${escapeLabel(each.name)}"` }))
  for (const [name, type, help, value] of SERIES) {
    text.head(prefix + name, type, help)
    for (const { label, stats } of labelled) text.sample(prefix + name, label, value(stats))
  }
  for (const [name, help, by, counts] of LABELLED) {
    text.head(prefix + name, 'counter', help)
    for (const { label, stats } of labelled) {
      for (const [value, count] of counts(stats)) {
        text.sample(prefix + name, `${label},${by}="${escapeLabel(value)}"`, count)
      }
    }
  }
  for (const [name, help, histogram] of HISTOGRAMS) {
    text.head(prefix + name, 'histogram', help)
    for (const { label, stats } of labelled) text.histogram(prefix + name, label, histogram(stats))
  }
  text.head(`${prefix}runs_active`, 'gauge', 'Runs at work.')
  for (const { label, active } of labelled) text.sample(`${prefix}runs_active`, label, active)
}

/** Collects the lines of a text. */
class Text {
  readonly #format: TextFormat
  #text = ''

  constructor(format: TextFormat) {
    this.#format = format
  }

  /** In OpenMetrics, a counter's name has no `_total`, but its samples do. */
  head(name: string, type: Type, help: string): void {
    const isCounter = this.#format === 'openmetrics' && type === 'counter'
    const family = isCounter ? name.replace(/_total$/, '') : name
    this.#text += `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n`
  }

  sample(name: string, labels: string, value: number): void {
    this.#text += labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`
  }

  histogram(name: string, labels: string, { counts, sum }: Histogram): void {
    let count = 0
    for (const [index, bound] of BOUNDS.entries()) {
      count += counts[index] ?? 0
      this.sample(`${name}_bucket`, `${labels},le="${bound}"`, count)
    }
    count += counts[BOUNDS.length] ?? 0
    this.sample(`${name}_bucket`, `${labels},le="+Inf"`, count)
    this.sample(`${name}_sum`, labels, sum)
    this.sample(`${name}_count`, labels, count)
  }

  end(): string {
    return this.#format === 'openmetrics' ? `${this.#text}# EOF\n` : this.#text
  }
}

/** Escapes a label's value: backslash, quote and line feed. */
export function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`))
}
