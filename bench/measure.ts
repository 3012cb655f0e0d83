/** Measures two operations in turn and compares them as a ratio. */

/** The result of several rounds. */
export interface Comparison {
  readonly name: string
  /** Median of the measured time divided by the reference time, over all rounds. */
  readonly ratio: number
  /** Smallest and largest ratio of all rounds. */
  readonly spread: readonly [number, number]
  /** Median times, in the unit that `unit` names. */
  readonly measured: number
  readonly reference: number
  readonly unit: string
}

/** Gives the time of one operation, in the unit of the comparison. */
export type Timed = () => Promise<number>

/** Runs both in turn for `rounds` rounds, after one round to warm up. Which one goes first alternates. */
export async function compare(
  name: string,
  unit: string,
  { measured, reference }: { measured: Timed; reference: Timed },
  rounds = 11,
): Promise<Comparison> {
  const pairs: [number, number][] = []
  await reference()
  await measured()
  for (let round = 0; round < rounds; round++) {
    const isEven = round % 2 === 0
    const first = await (isEven ? reference() : measured())
    const second = await (isEven ? measured() : reference())
    pairs.push(isEven ? [second, first] : [first, second])
  }
  const ratios = pairs.map(([ours, theirs]) => ours / theirs).sort((a, b) => a - b)
  return {
    name,
    unit,
    ratio: median(ratios),
    spread: [ratios[0]!, ratios.at(-1)!],
    measured: median(pairs.map(([ours]) => ours)),
    reference: median(pairs.map(([, theirs]) => theirs)),
  }
}

/** Mean time of `count` sequential operations, in microseconds. */
export async function microseconds(count: number, operation: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < count; i++) await operation()
  return ((performance.now() - startedAt) / count) * 1000
}

/** Writes comparisons as a Markdown table. */
export function table(
  comparisons: readonly Comparison[],
  [measured, reference]: readonly [string, string] = ['servable', 'bare'],
): string {
  const rows = comparisons.map(
    one =>
      `| ${one.name} | ${one.ratio.toFixed(2)} | ${one.spread[0].toFixed(2)}-${one.spread[1].toFixed(2)} | ${one.measured.toFixed(2)} ${one.unit} | ${one.reference.toFixed(2)} ${one.unit} |`,
  )
  return [`| what | ratio | spread | ${measured} | ${reference} |`, '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}

/** The median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
