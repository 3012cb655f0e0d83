/** The clients' own count, and its comparison with the server's metrics. */

import { KINDS, type Kind, type Order } from './orders.ts'

interface Count {
  runs: number
  errors: number
  cancels: number
  tools: number
  prompt: number
  completion: number
}

/** Counts what went wrong, and keeps the first case of each kind in full. */
export class Ledger {
  readonly #counts = new Map<Kind, Count>(
    KINDS.map(kind => [kind, { runs: 0, errors: 0, cancels: 0, tools: 0, prompt: 0, completion: 0 }]),
  )
  readonly faults: Map<string, { count: number; first: string }> = new Map()
  /** Checked events. */
  events = 0
  /** Streams and sockets that were cut. */
  cuts = 0
  scrapes = 0
  /** Hostile requests that got an answer. */
  hostile = 0
  #highest = new Map<string, number>()

  /** Counts a run that has ended as its order said. A run that waits was cancelled. */
  note(kind: Kind, { fate, pieces }: Order): void {
    const count = this.#counts.get(kind)!
    count.runs++
    if (fate === 'fail') count.errors++
    else if (fate === 'wait') count.cancels++
    else {
      count.prompt += 2
      count.completion += pieces
    }
    if (fate === 'tool') count.tools++
  }

  fault(what: string, detail: string): void {
    const known = this.faults.get(what)
    if (known === undefined) this.faults.set(what, { count: 1, first: detail.slice(0, 1000) })
    else known.count++
  }

  runsOf(kind: Kind): number {
    return this.#counts.get(kind)!.runs
  }

  /** Checks that no counter falls or is ahead of the requests. */
  scraped(text: string): void {
    this.scrapes++
    for (const [series, value] of samplesOf(text)) {
      if (!/_(total|count|bucket)/.test(series)) continue
      const before = this.#highest.get(series) ?? 0
      if (value < before) this.fault('a counter fell', `${series}: ${before}, then ${value}`)
      this.#highest.set(series, Math.max(before, value))
    }
  }

  /** The metrics that differ from the clients' count. */
  differences(text: string): string[] {
    const samples = samplesOf(text)
    const wrong = (series: string, expected: number, isNear = false) => {
      const value = samples.get(series) ?? 0
      const isSame = isNear ? Math.abs(value - expected) < 1e-6 * Math.max(1, expected) : value === expected
      return isSame ? [] : [`${series} is ${value}, the client counted ${expected}`]
    }
    // A cancelled run may not have said anything yet.
    const firsts = [...this.#counts].flatMap(([kind, { runs, cancels }]) => {
      const series = `service_agent_time_to_first_token_seconds_count{agent="${kind}"}`
      const value = samples.get(series) ?? 0
      return value <= runs && value >= runs - cancels ? [] : [`${series} is ${value} of ${runs} runs`]
    })
    const gauges = ['service_open_sockets', 'service_open_streams'].flatMap(name => wrong(name, 0))
    const ofAgents = [...this.#counts].flatMap(([kind, count]) =>
      expectedOf(kind, count).flatMap(([series, value, isNear]) => wrong(series, value, isNear)),
    )
    return [...ofAgents, ...firsts, ...gauges]
  }
}

function expectedOf(kind: Kind, count: Count): [series: string, value: number, isNear?: boolean][] {
  const { runs, errors, cancels, tools, prompt, completion } = count
  const name = (series: string, more = '') => `service_agent_${series}{agent="${kind}"${more}}`
  const outcome = (which: string) => name('runs_by_outcome_total', `,outcome="${which}"`)
  return [
    [name('runs_total'), runs],
    [name('errors_total'), errors],
    [name('tokens_total'), prompt + completion],
    [name('tool_calls_total'), tools],
    [name('cost_usd_total'), (prompt * 3 + completion * 15) / 1e6, true],
    [outcome('stop'), runs - errors - cancels],
    [outcome('error'), errors],
    [outcome('cancelled'), cancels],
    [name('tokens_by_kind_total', ',kind="prompt"'), prompt],
    [name('tokens_by_kind_total', ',kind="completion"'), completion],
    [name('tool_calls_by_tool_total', ',tool="look"'), tools],
    [name('run_duration_seconds_count'), runs],
    [name('runs_active'), 0],
  ]
}

function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map(line => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}
