/** Most open calls, steps, sources and subagents, of each. */
const MAX_OPEN = 1000

/** Closes and removes the oldest entry if there are more than 1,000. */
export function trim<T>(open: Map<string, T>, close: (oldest: T, key: string) => void): void {
  const [oldest] = open
  if (open.size <= MAX_OPEN || oldest === undefined) return
  close(oldest[1], oldest[0])
  open.delete(oldest[0])
}
