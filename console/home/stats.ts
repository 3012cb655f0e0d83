/** The numbers of the first screen, from the runs of a span of time. */
import { shownStatus } from '../parts/look.ts'
import { costOf, type Listed, quantile, tookMs } from '../runs/numbers.ts'

/** How well the service is. */
export type Verdict = 'Quiet' | 'Well' | 'Mostly well' | 'Not well'

/** From this part of failures on, the service is not well. */
const NOT_WELL = 0.1

/** The runs that began in a part of the span, by status. */
export interface Step {
  readonly counts: Readonly<Record<string, number>>
  readonly cost: number
}

/** An agent with the numbers of its runs. */
export interface AgentRow {
  readonly kind: Listed['kind']
  readonly name: string
  readonly steps: readonly Step[]
  readonly runs: number
  readonly failed: number
  /** USD. Undefined if no cost is known. */
  readonly cost: number | undefined
}

/** The most frequent cause of failures. */
export interface Cause {
  readonly count: number
  readonly run: Listed
}

/** The numbers of a span. */
export interface Stats {
  readonly runs: readonly Listed[]
  /** By the status that people see. */
  readonly counts: Readonly<Record<string, number>>
  readonly verdict: Verdict
  readonly ended: number
  readonly failed: number
  /** The part of ended runs that did not fail, from 0 to 1. Undefined if none has ended. */
  readonly doneShare: number | undefined
  readonly medianMs: number | undefined
  readonly p95Ms: number | undefined
  readonly cost: number | undefined
  readonly steps: readonly Step[]
  readonly failures: readonly Listed[]
  readonly cause: Cause | undefined
  readonly agents: readonly AgentRow[]
}

/** Steps of the chart, and of the small charts of agents. */
export const STEPS = 60
const FEW_STEPS = 12

/** Counts the runs that began between two times, in milliseconds since 1970. */
export function statsOf(all: readonly Listed[], from: number, to: number): Stats {
  const runs = all.filter(({ createdAt }) => Date.parse(createdAt) >= from)
  const counts: Record<string, number> = {}
  for (const run of runs) counts[shownStatus(run)] = (counts[shownStatus(run)] ?? 0) + 1
  const failures = runs.filter(({ status }) => status === 'failed')
  const failed = failures.length
  const ended = failed + (counts.completed ?? 0) + (counts.answered ?? 0)
  const times = runs
    .filter(({ status }) => status === 'completed')
    .flatMap(run => tookMs(run) ?? [])
    .sort((a, b) => a - b)
  return {
    runs,
    counts,
    ended,
    failed,
    verdict: verdictOf(runs.length, failed, ended),
    doneShare: ended === 0 ? undefined : (ended - failed) / ended,
    medianMs: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    cost: sumOf(runs),
    steps: stepsOf(runs, from, to, STEPS),
    failures,
    cause: causeOf(failures),
    agents: agentsOf(runs, from, to),
  }
}

function verdictOf(runs: number, failed: number, ended: number): Verdict {
  if (runs === 0) return 'Quiet'
  if (failed === 0) return 'Well'
  return failed / ended < NOT_WELL ? 'Mostly well' : 'Not well'
}

/** The sum of known costs in USD. Undefined if none is known. */
export function sumOf(runs: readonly Listed[]): number | undefined {
  const costs = runs.flatMap(run => costOf(run) ?? [])
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0)
}

function stepsOf(runs: readonly Listed[], from: number, to: number, count: number): Step[] {
  const steps = Array.from({ length: count }, () => ({ counts: {} as Record<string, number>, cost: 0 }))
  for (const run of runs) {
    const place = ((Date.parse(run.createdAt) - from) / (to - from)) * count
    const step = steps[Math.min(count - 1, Math.max(0, Math.floor(place)))]!
    const status = shownStatus(run)
    step.counts[status] = (step.counts[status] ?? 0) + 1
    step.cost += costOf(run) ?? 0
  }
  return steps
}

/** The agent and code of most failures, if more than one has them. */
function causeOf(failures: readonly Listed[]): Cause | undefined {
  const byCause = new Map<string, Listed[]>()
  for (const run of failures) {
    const key = JSON.stringify([run.kind, run.name, run.error?.code])
    byCause.set(key, [...(byCause.get(key) ?? []), run])
  }
  const [most] = [...byCause.values()].sort((a, b) => b.length - a.length)
  const run = most?.[0]
  return run && { count: most.length, run }
}

function agentsOf(runs: readonly Listed[], from: number, to: number): AgentRow[] {
  const byName = new Map<string, Listed[]>()
  for (const run of runs) {
    const key = JSON.stringify([run.kind, run.name])
    const own = byName.get(key)
    if (own) own.push(run)
    else byName.set(key, [run])
  }
  const rows = [...byName.values()].map((own): AgentRow => {
    const { kind, name } = own[0]!
    const failed = own.filter(({ status }) => status === 'failed').length
    return {
      kind,
      name,
      runs: own.length,
      failed,
      cost: sumOf(own),
      steps: stepsOf(own, from, to, FEW_STEPS),
    }
  })
  return rows.sort((a, b) => b.runs - a.runs)
}

/** The start of a day, by the reader's clock. */
export function today(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0)
}
