/** The numbers of runs in lists. */
import type { RunSummary } from '../../src/client/index.ts'
import { duration, money, number } from '../text.ts'

/** The duration of a run in milliseconds. Undefined if it has not ended. */
export function tookMs({ durationMs, status, createdAt, updatedAt }: RunSummary): number | undefined {
  if (durationMs !== undefined) return durationMs
  const isOver = !['queued', 'running', 'input_required'].includes(status)
  return isOver ? Math.max(0, Date.parse(updatedAt) - Date.parse(createdAt)) : undefined
}

/** A column: its title, and its text for a run. Undefined if the run has no value. */
export interface Column {
  readonly title: string
  readonly of: (run: RunSummary) => string | undefined
}

const written = <T>(value: T | undefined, write: (value: T) => string) =>
  value === undefined ? undefined : write(value)

/** All columns. */
export const COLUMNS: readonly Column[] = [
  { title: 'Took', of: run => written(tookMs(run), duration) },
  { title: 'First text', of: run => written(run.firstTextMs, duration) },
  { title: 'Tokens', of: run => written(run.usage?.totalTokens, tokens => number(tokens)) },
  { title: 'Cost', of: run => written(run.cost ?? run.usage?.cost, money) },
  { title: 'Tools', of: run => written(run.toolCalls, String) },
]

/** The columns for which some of the runs have a value. */
export function columnsOf(runs: readonly RunSummary[]): readonly Column[] {
  return COLUMNS.filter(({ of }) => runs.some(run => of(run) !== undefined))
}

/** A list after its newest page was loaded again: new runs come first, and known ones are updated. */
export function merged<T extends RunSummary>(runs: readonly T[], fresh: readonly T[]): readonly T[] {
  const known = new Set(runs.map(({ id }) => id))
  const now = new Map(fresh.map(run => [run.id, run]))
  return [...fresh.filter(({ id }) => !known.has(id)), ...runs.map(run => now.get(run.id) ?? run)]
}
