/** The clients' own count, and its comparison with the server's metrics. */

import { isAsking, KINDS, type Kind, MAX_PIECES, type Order, TICK_MS } from './orders.ts'
import type { Hooks } from './receivers.ts'

interface Count {
  runs: number
  errors: number
  cancels: number
  waits: number
  tools: number
  approved: number
  prompt: number
  completion: number
}

/** Milliseconds before a kill in which a process may have counted what it had not written yet, and after which clients still tell of it. */
const UNWRITTEN_MS = 3000
const TOLD_MS = 1000

/** A run that a client has seen end. */
interface Noted {
  readonly at: number
  readonly kind: Kind
  readonly order: Order
}

const newCounts = () =>
  new Map<Kind, Count>(
    KINDS.map(kind => [
      kind,
      { runs: 0, errors: 0, cancels: 0, waits: 0, tools: 0, approved: 0, prompt: 0, completion: 0 },
    ]),
  )

/** Counts what went wrong, and keeps the first case of each kind in full. */
export class Ledger {
  readonly #counts = newCounts()
  /** Most that a killed process may have counted and not written. */
  readonly #lost = newCounts()
  /** Runs that may have been counted, though their clients saw no end. */
  readonly #doubted = new Map<Kind, number>()
  #recent: Noted[] = []
  #killedAt = Number.NEGATIVE_INFINITY
  #killable: readonly Kind[] = []
  readonly faults: Map<string, { count: number; first: string }> = new Map()
  /** Checked events. */
  events = 0
  /** Streams and sockets that were cut. */
  cuts = 0
  /** All requests, without those of sockets, and those whose connection was reset. */
  requests = 0
  resets = 0
  scrapes = 0
  /** Hostile requests that got an answer. */
  hostile = 0
  /** Runs that waited for a place, and budgets that were used up. */
  queued = 0
  budgets = 0
  /** The event of each stored run that webhooks have to tell. */
  readonly #tellings = new Map<string, string>()
  /** The tick of each run of the schedule. */
  readonly #ticks = new Map<string, number>()
  #highest = new Map<string, number>()

  /**
   * Counts a run that has ended as its order said. A run that waits was cancelled. One may be uncounted that went on in another
   * process, or was cancelled before it said anything: it may have waited for a place.
   */
  note(kind: Kind, order: Order, mayBeUncounted = false): void {
    add(this.#counts.get(kind)!, order)
    const at = performance.now()
    if (mayBeUncounted || (at < this.#killedAt + TOLD_MS && this.#killable.includes(kind)))
      add(this.#lost.get(kind)!, order)
    if (this.#recent.length > 0 && this.#recent[0]!.at < at - 2 * UNWRITTEN_MS) {
      this.#recent = this.#recent.filter(noted => noted.at > at - UNWRITTEN_MS)
    }
    this.#recent.push({ at, kind, order })
  }

  /** A process is about to be killed: it may not have written all that it counted of these kinds. */
  killed(kinds: readonly Kind[] = KINDS): void {
    this.#killedAt = performance.now()
    this.#killable = kinds
    for (const { at, kind, order } of this.#recent.splice(0)) {
      if (kinds.includes(kind) && at > this.#killedAt - UNWRITTEN_MS) add(this.#lost.get(kind)!, order)
    }
  }

  /** Runs that a kill has cut off: they may have been counted, in any way. */
  doubt(kind: Kind, runs: number): void {
    this.#doubted.set(kind, (this.#doubted.get(kind) ?? 0) + runs)
  }

  /** How far the metrics may be from the clients' count. */
  get uncertain(): { readonly lost: number; readonly doubted: number } {
    const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, one) => all + one, 0)
    const lost = sum([...this.#lost.values()].map(({ runs }) => runs))
    return { lost, doubted: sum(this.#doubted.values()) }
  }

  fault(what: string, detail: string): void {
    const known = this.faults.get(what)
    if (known !== undefined) {
      known.count++
      return
    }
    this.faults.set(what, { count: 1, first: detail.slice(0, 1000) })
    console.error(`${what}: ${detail.slice(0, 1000)}`)
  }

  /** Webhooks have to tell this of a stored run, and nothing else. */
  tell(runId: string, event: string): void {
    this.#tellings.set(runId, event)
  }

  get tellings(): number {
    return this.#tellings.size
  }

  /** A run of the schedule says its tick. */
  tick(runId: string, at: string): void {
    this.#ticks.set(runId, Date.parse(at))
  }

  isTick(runId: string): boolean {
    return this.#ticks.has(runId)
  }

  get ticks(): number {
    return this.#ticks.size
  }

  /** Ticks that started no run, or two. */
  misticked(): string[] {
    const ticks = [...this.#ticks.values()].sort((one, other) => one - other)
    const wrong = ticks.flatMap((at, index) => {
      const gap = index === 0 ? TICK_MS : at - ticks[index - 1]!
      return gap === TICK_MS ? [] : [`${new Date(at).toISOString()} comes ${gap} ms after the tick before`]
    })
    if (ticks.length === 0) return ['the schedule has started no run']
    return wrong.length === 0 ? [] : [`${wrong.length} wrong ticks: ${wrong.slice(0, 5).join('; ')}`]
  }

  /** What webhooks have not told, have told of other events, or have told as two. */
  untold(hooks: Hooks): string[] {
    const wrong = [...this.#tellings].flatMap(([id, event]) => {
      const told = [...(hooks.told.get(id)?.values() ?? [])]
      return told.length === 1 && told[0] === event
        ? []
        : [`${id}: ${told.join(', ') || 'nothing'}, not ${event}`]
    })
    return wrong.length === 0
      ? []
      : [`webhooks told wrongly of ${wrong.length} runs: ${wrong.slice(0, 5).join('; ')}`]
  }

  /** How the budget of a kind differs from the clients' count. What a killed process held stays held. */
  misspent(kind: Kind, { spentTokens, spentUsd, heldTokens }: Spent): string[] {
    const [count, lost] = [this.#counts.get(kind)!, this.#lost.get(kind)!]
    const doubted = this.#doubted.get(kind) ?? 0
    const tokens = count.prompt + count.completion
    const [less, more] = [lost.prompt + lost.completion, doubted * (MAX_PIECES + 2)]
    const usd = costOf(count)
    const isRight =
      spentTokens >= tokens - less &&
      spentTokens <= tokens + more &&
      (less + more > 0 || Math.abs(spentUsd - usd) < 1e-9 * Math.max(1, usd)) &&
      (heldTokens === 0 || this.#killedAt > 0)
    const told = `${spentTokens} tokens and ${spentUsd} USD, and holds ${heldTokens}`
    return isRight
      ? []
      : [`the budget of ${kind} has ${told}; the clients counted ${tokens} (-${less}, +${more}) and ${usd}`]
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
    const wrong = (series: string, { expected, less = 0, more = 0, isNear = false }: Expected) => {
      const value = samples.get(series) ?? 0
      const error = isNear ? 1e-6 * Math.max(1, expected) : 0
      const isRight = value >= expected - less - error && value <= expected + more + error
      const spread = less + more === 0 ? '' : ` (-${less}, +${more})`
      return isRight ? [] : [`${series} is ${value}, the client counted ${expected}${spread}`]
    }
    // A cancelled run may not have said anything yet.
    const firsts = [...this.#counts].flatMap(([kind, { runs, cancels }]) => {
      const series = `service_agent_time_to_first_token_seconds_count{agent="${kind}"}`
      const less = cancels + this.#lost.get(kind)!.runs
      return wrong(series, { expected: runs, less, more: this.#doubted.get(kind) ?? 0 })
    })
    const gauges = ['service_open_sockets', 'service_open_streams'].flatMap(name =>
      wrong(name, { expected: 0 }),
    )
    const ofAgents = [...this.#counts].flatMap(([kind, count]) => {
      const lost = expectedOf(kind, this.#lost.get(kind)!)
      const doubted = this.#doubted.get(kind) ?? 0
      return expectedOf(kind, count).flatMap(([series, expected, most, isNear = false], at) =>
        wrong(series, { expected, less: lost[at]![1], more: doubted * most, isNear }),
      )
    })
    return [...ofAgents, ...firsts, ...gauges]
  }
}

/** The value of a series, and by how much it may be off. */
interface Expected {
  readonly expected: number
  readonly less?: number
  readonly more?: number
  readonly isNear?: boolean
}

/** Where a budget stands. */
export interface Spent {
  readonly spentTokens: number
  readonly spentUsd: number
  readonly heldTokens: number
}

const costOf = ({ prompt, completion }: Count) => (prompt * 3 + completion * 15) / 1e6

function add(count: Count, { fate, pieces }: Order): void {
  count.runs++
  if (isAsking(fate)) {
    // The run that waits, and the one that goes on.
    count.runs++
    count.waits++
    if (fate === 'approve') count.approved++
  }
  if (fate === 'fail') count.errors++
  else if (fate === 'wait') count.cancels++
  else {
    count.prompt += 2
    count.completion += pieces
  }
  if (fate === 'tool') count.tools++
}

/** Each series with its value, and the most that one more run adds. */
function expectedOf(
  kind: Kind,
  count: Count,
): [series: string, value: number, most: number, isNear?: boolean][] {
  const { runs, errors, cancels, waits, tools, approved, prompt, completion } = count
  const name = (series: string, more = '') => `service_agent_${series}{agent="${kind}"${more}}`
  const outcome = (which: string) => name('runs_by_outcome_total', `,outcome="${which}"`)
  return [
    [name('runs_total'), runs, 1],
    [name('errors_total'), errors, 1],
    [name('tokens_total'), prompt + completion, MAX_PIECES + 2],
    [name('tool_calls_total'), tools + waits, 1],
    [name('cost_usd_total'), costOf(count), ((MAX_PIECES + 2) * 15) / 1e6, true],
    [outcome('stop'), runs - errors - cancels - waits, 1],
    [outcome('input_required'), waits, 1],
    [name('approvals_total', ',state="asked"'), waits, 1],
    [name('approvals_total', ',state="approved"'), approved, 1],
    [name('approvals_total', ',state="denied"'), waits - approved, 1],
    [outcome('error'), errors, 1],
    [outcome('cancelled'), cancels, 1],
    [name('tokens_by_kind_total', ',kind="prompt"'), prompt, 2],
    [name('tokens_by_kind_total', ',kind="completion"'), completion, MAX_PIECES],
    [name('tool_calls_by_tool_total', ',tool="look"'), tools, 1],
    [name('tool_calls_by_tool_total', ',tool="pay"'), waits, 1],
    [name('run_duration_seconds_count'), runs, 1],
    [name('runs_active'), 0, 0],
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
