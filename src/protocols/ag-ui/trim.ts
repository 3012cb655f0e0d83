/** Calls, steps, speakers and subagents that are open at a time. */
const MAX_OPEN = 1000

/** Closes the oldest of too many. */
export function trim<T>(open: Map<string, T>, close: (oldest: T, key: string) => void): void {
  const [oldest] = open
  if (open.size <= MAX_OPEN || oldest === undefined) return
  close(oldest[1], oldest[0])
  open.delete(oldest[0])
}
