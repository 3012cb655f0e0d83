/**
 * Metrics as JSON (docs/run/metrics.md, "Read the JSON").
 *
 * @module
 */

import type { Kind, Usage } from '../../agents/contract.ts'
import { APPROVALS, type Approval, type MetricsSnapshot, Stats } from './stats.ts'

/** The metrics of one name, or of all names. */
export interface AgentMetrics {
  /** Runs that have ended, in any way. */
  readonly runs: number
  readonly errors: number
  /** Cancelled runs. They do not count as errors. */
  readonly cancels: number
  /** Mean duration in milliseconds. 0 if there was no run. */
  readonly avgDurationMs: number
  /** The 95th percentile of durations in milliseconds, with a relative error of 1 %. */
  readonly p95DurationMs: number
  /** USD. Absent if no run had a known price. */
  readonly totalCost?: number
  readonly totalTokens: number
  readonly toolCallCount: number
  /** Number of calls by tool. */
  readonly toolUsageFrequency: Readonly<Record<string, number>>
  /** Tool calls that needed approval, and the decisions before their runs continued. Absent if there were none. */
  readonly approvals?: Readonly<Record<Approval, number>>
  /** Errors over runs, 0 to 1. */
  readonly errorRate: number
  /** Mean tokens of the runs that neither failed nor were cancelled. */
  readonly tokensPerRun: number
  /** The usage of the last run that reported one. */
  readonly providerMetrics?: Usage
  /** Running runs. */
  readonly activeRuns: number
}

/** All metrics. */
export interface MetricsJson {
  /** The metrics of all agents, teams and workflows together. */
  readonly global: AgentMetrics
  readonly byAgent: Readonly<Record<string, AgentMetrics>>
  readonly byTeam: Readonly<Record<string, AgentMetrics>>
  readonly byWorkflow: Readonly<Record<string, AgentMetrics>>
  /** ISO 8601, in UTC. */
  readonly timestamp: string
}

/** Converts a snapshot to JSON. */
export function toMetricsJson({ counted }: MetricsSnapshot): MetricsJson {
  const all = new Stats()
  let active = 0
  for (const each of counted) {
    all.merge(each.stats)
    active += each.active
  }
  const by = (kind: Kind) =>
    Object.fromEntries(
      counted.filter(each => each.kind === kind).map(({ name, ...each }) => [name, metricsOf(each)]),
    )
  // The usage of a single run is left out of the global metrics.
  const { providerMetrics: _, ...global } = metricsOf({ stats: all, active })
  return {
    global,
    byAgent: by('agent'),
    byTeam: by('team'),
    byWorkflow: by('workflow'),
    timestamp: new Date().toISOString(),
  }
}

/** Converts the counts of one name. */
export function metricsOf({ stats, active }: { stats: Stats; active: number }): AgentMetrics {
  const { runs, errors, cancels, cost, total, last } = stats
  const successes = runs - errors - cancels
  return {
    runs,
    errors,
    cancels,
    avgDurationMs: averageOf(stats),
    p95DurationMs: stats.sketch.quantile(0.95),
    ...(cost !== undefined && { totalCost: cost }),
    totalTokens: total,
    toolCallCount: stats.toolCalls,
    toolUsageFrequency: Object.fromEntries(stats.tools),
    ...(stats.approvals.size > 0 && { approvals: approvalsOf(stats) }),
    errorRate: runs === 0 ? 0 : errors / runs,
    tokensPerRun: successes === 0 ? 0 : stats.successTokens / successes,
    ...(last !== undefined && { providerMetrics: last }),
    activeRuns: active,
  }
}

function approvalsOf({ approvals }: Stats): Record<Approval, number> {
  const counts = APPROVALS.map(approval => [approval, approvals.get(approval) ?? 0] as const)
  return Object.fromEntries(counts) as Record<Approval, number>
}

/** Milliseconds. */
export function averageOf({ runs, durations }: Stats): number {
  return runs === 0 ? 0 : (durations.sum * 1000) / runs
}
