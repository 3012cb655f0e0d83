/** The upper bounds of the buckets, in seconds. */
export const BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]

/** A stored histogram: the sum, and the count of each bucket. The last bucket has no bound. */
export type HistogramJson = readonly [sum: number, counts: readonly number[]]

/** Counts durations in buckets with fixed bounds. */
export class Histogram {
  sum = 0
  readonly counts: number[] = new Array<number>(BOUNDS.length + 1).fill(0)

  /** Reads a stored histogram. */
  static from([sum, counts]: HistogramJson): Histogram {
    const histogram = new Histogram()
    histogram.sum = sum
    for (const [index, count] of counts.entries()) histogram.counts[index] = count
    return histogram
  }

  /** How many durations were added. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** Adds a duration in seconds. */
  add(seconds: number): void {
    this.sum += seconds
    let index = 0
    while (index < BOUNDS.length && seconds > BOUNDS[index]!) index++
    this.counts[index]!++
  }

  /** Adds all durations of another histogram. */
  merge(other: Histogram): void {
    this.sum += other.sum
    for (const [index, count] of other.counts.entries()) this.counts[index]! += count
  }

  toJSON(): HistogramJson {
    return [this.sum, this.counts]
  }
}
