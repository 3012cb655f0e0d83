/** The growth of memory: samples of resident memory, and the line through them. */

/** A sample: minutes since the start, and kibibytes. */
export type Sample = readonly [minutes: number, kib: number]

/** The least-squares slope in KiB a minute, and its standard error. */
export function slopeOf(samples: readonly Sample[]): { slope: number; error: number } {
  const n = samples.length
  if (n < 3) return { slope: 0, error: Number.POSITIVE_INFINITY }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / n
  const [x, y] = [mean(samples.map(([at]) => at)), mean(samples.map(([, kib]) => kib))]
  const spread = samples.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
  const slope = samples.reduce((sum, [at, kib]) => sum + (at - x) * (kib - y), 0) / spread
  const rest = samples.reduce((sum, [at, kib]) => sum + (kib - y - slope * (at - x)) ** 2, 0)
  return { slope, error: Math.sqrt(rest / (n - 2) / spread) }
}

/** The samples of the second half. */
export function secondHalf(samples: readonly Sample[]): Sample[] {
  const end = samples.at(-1)?.[0] ?? 0
  return samples.filter(([at]) => at >= end / 2)
}

/** The lowest sample of each whole minute. Memory that is released once a minute rises and falls in between. */
export function floors(samples: readonly Sample[]): Sample[] {
  const lowest = new Map<number, Sample>()
  for (const sample of samples) {
    const minute = Math.floor(sample[0])
    const known = lowest.get(minute)
    if (known === undefined || sample[1] < known[1]) lowest.set(minute, sample)
  }
  const whole = Math.floor(samples.at(-1)?.[0] ?? 0)
  lowest.delete(whole)
  return [...lowest.values()]
}
