/** The charts of the last hour. */

import type { MetricsHistory, MetricsStep } from '../../src/features/metrics/history.ts'
import { duration, money, number } from '../text.ts'

/** A chart: its title, its unit, and how its lines are read from a step. Null if a line has no value at that time. */
export interface Chart {
  readonly title: string
  /** Writes a value of its axis. Default: as a number. */
  readonly write?: (value: number) => string
  readonly lines: readonly {
    readonly label: string
    readonly colour: string
    readonly of: (step: MetricsStep) => number | null
  }[]
}

const STEPS_A_MINUTE = 2

const ifRun = (step: MetricsStep, value: number) => (step.runs === 0 ? null : value)

/** The charts. Counts are per minute, durations in milliseconds. */
export const CHARTS: readonly Chart[] = [
  {
    title: 'Runs a minute',
    lines: [
      { label: 'all', colour: '--accent', of: ({ runs }) => runs * STEPS_A_MINUTE },
      { label: 'failed', colour: '--bad', of: ({ errors }) => errors * STEPS_A_MINUTE },
    ],
  },
  {
    title: 'Took',
    write: duration,
    lines: [
      { label: 'half of the runs', colour: '--accent', of: step => ifRun(step, step.p50DurationMs) },
      { label: '95 %', colour: '--wait', of: step => ifRun(step, step.p95DurationMs) },
      { label: '99 %', colour: '--bad', of: step => ifRun(step, step.p99DurationMs) },
    ],
  },
  {
    title: 'First text',
    write: duration,
    lines: [
      { label: 'half of the runs', colour: '--accent', of: step => ifRun(step, step.p50FirstTextMs) },
      { label: '95 %', colour: '--wait', of: step => ifRun(step, step.p95FirstTextMs) },
    ],
  },
  {
    title: 'Tokens a minute',
    lines: [{ label: 'tokens', colour: '--accent', of: ({ tokens }) => tokens * STEPS_A_MINUTE }],
  },
  {
    title: 'Cost a minute',
    write: money,
    lines: [{ label: 'cost', colour: '--accent', of: ({ cost = 0 }) => cost * STEPS_A_MINUTE }],
  },
]

/** The steps of the last so many minutes. */
export function lastMinutes({ steps, stepMs }: MetricsHistory, minutes: number): readonly MetricsStep[] {
  return steps.slice(-Math.ceil((minutes * 60_000) / stepMs))
}

/** A number for a table: whole numbers as they are, others with the digits that matter. */
export function shown(value: number | null): string {
  if (value === null) return '–'
  return Number.isInteger(value) ? number(value) : value.toPrecision(3)
}
