/** Milliseconds since `startedAt` (a `performance.now()`), to the microsecond. */
export function elapsedSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 1000) / 1000
}
