/** Timers hold 31 bits of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** One timer for the soonest of all moments: does the work then. It keeps no server going. */
export function createSchedule(work: () => void): (at: number) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Number.POSITIVE_INFINITY
  return at => {
    if (at >= timerAt) return
    if (timer !== undefined) clearTimeout(timer)
    timerAt = at
    timer = setTimeout(
      () => {
        timerAt = Number.POSITIVE_INFINITY
        work()
      },
      Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS),
    )
    // A server that has nothing else to do may end.
    ;(timer as { unref?(): void }).unref?.()
  }
}
