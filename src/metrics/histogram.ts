/** Seconds: the upper bounds of the buckets, as a scraper's histogram has them. */
export const BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]

/** A histogram as it is kept: the sum, and how many fell into each bucket, the last one without a bound. */
export type HistogramJson = readonly [sum: number, counts: readonly number[]]

/** Counts durations by fixed bounds, exactly. */
export class Histogram {
  sum = 0
  readonly counts: number[] = new Array<number>(BOUNDS.length + 1).fill(0)

  /** Reads a histogram that was kept. */
  static from([sum, counts]: HistogramJson): Histogram {
    const histogram = new Histogram()
    histogram.sum = sum
    for (const [index, count] of counts.entries()) histogram.counts[index] = count
    return histogram
  }

  /** How many it has taken. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** Takes a duration in seconds. */
  add(seconds: number): void {
    this.sum += seconds
    let index = 0
    while (index < BOUNDS.length && seconds > BOUNDS[index]!) index++
    this.counts[index]!++
  }

  /** Takes all that another one has taken. */
  merge(other: Histogram): void {
    this.sum += other.sum
    for (const [index, count] of other.counts.entries()) this.counts[index]! += count
  }

  toJSON(): HistogramJson {
    return [this.sum, this.counts]
  }
}
