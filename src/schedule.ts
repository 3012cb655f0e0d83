import { unrefed } from './wake.ts'

/** The longest delay of a timer: 31 bits of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Makes a function that schedules `work` for a time. There is one timer, for the earliest time. It does not keep the
 * process alive.
 */
export function createSchedule(work: () => void): (at: number) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Number.POSITIVE_INFINITY
  return at => {
    if (at >= timerAt) return
    if (timer !== undefined) clearTimeout(timer)
    timerAt = at
    const due = () => {
      timerAt = Number.POSITIVE_INFINITY
      work()
    }
    timer = unrefed(setTimeout(due, Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS)))
  }
}
