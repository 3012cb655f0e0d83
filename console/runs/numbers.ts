/** The numbers of runs in lists. */
import type { RunSummary } from '../../src/client/index.ts'
import { shownStatus } from '../parts/look.ts'
import { firstLine } from '../text.ts'

/** A run of a list. It has its owner if it may be of others. */
export type Listed = RunSummary & { readonly owner?: string | null }

/** The duration of a run in milliseconds. Undefined if it has not ended. */
export function tookMs({ durationMs, status, createdAt, updatedAt }: RunSummary): number | undefined {
  if (durationMs !== undefined) return durationMs
  const isOver = !['queued', 'running', 'input_required'].includes(status)
  return isOver ? Math.max(0, Date.parse(updatedAt) - Date.parse(createdAt)) : undefined
}

/** The cost of a run in USD. Undefined if it is unknown. */
export function costOf({ cost, usage }: RunSummary): number | undefined {
  return cost ?? usage?.cost
}

/** What a run is about, in a line: the beginning of its input, or its error, or its name. */
export function headlineOf({ title, error, name }: RunSummary): string {
  return title || firstLine(error?.message ?? '') || name
}

/** What a list is sorted by. The default is the time. */
export const SORTS = ['took', 'cost', 'tokens'] as const
export type Sort = (typeof SORTS)[number]

const VALUES: Readonly<Record<Sort, (run: RunSummary) => number | undefined>> = {
  took: tookMs,
  cost: costOf,
  tokens: run => run.usage?.totalTokens,
}

/** The runs with the greatest values first, and those without a value last. */
export function sorted<T extends RunSummary>(runs: readonly T[], by: Sort | undefined): readonly T[] {
  if (by === undefined) return runs
  const of = VALUES[by]
  return runs.toSorted((a, b) => (of(b) ?? -1) - (of(a) ?? -1))
}

/** The quick choices that the runs themselves decide: among those that are loaded, far above the middle. */
export const QUICK = ['slow', 'costly'] as const
export type Quick = (typeof QUICK)[number]

/** A run is slow or costly if it has more than this many times the middle value. */
const FAR = 3

/** The runs that took far longer, or cost far more, than half of them. */
export function outliers<T extends RunSummary>(runs: readonly T[], quick: Quick): readonly T[] {
  const of = quick === 'slow' ? tookMs : costOf
  const values = runs.flatMap(run => of(run) ?? []).sort((a, b) => a - b)
  const middle = quantile(values, 0.5) ?? 0
  return runs.filter(run => (of(run) ?? 0) > FAR * middle && (of(run) ?? 0) > 0)
}

/** A quantile of sorted numbers. Undefined if there are none. */
export function quantile(values: readonly number[], part: number): number | undefined {
  return values[Math.min(values.length - 1, Math.floor(values.length * part))]
}

/** The number of runs in each status, as people see it. */
export function countsOf(runs: readonly RunSummary[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const run of runs) {
    const status = shownStatus(run)
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** A list after its newest page was loaded again: new runs come first, and known ones are updated. */
export function merged<T extends RunSummary>(runs: readonly T[], fresh: readonly T[]): readonly T[] {
  const known = new Set(runs.map(({ id }) => id))
  const now = new Map(fresh.map(run => [run.id, run]))
  return [...fresh.filter(({ id }) => !known.has(id)), ...runs.map(run => now.get(run.id) ?? run)]
}
