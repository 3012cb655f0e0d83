import { waitingCount } from './live.ts'

/** How much waits, beside the name of the screen. */
export function WaitingBadge() {
  const count = waitingCount.value
  if (count === 0) return null
  return (
    <span class="badge">
      {count} <span class="unseen">waiting</span>
    </span>
  )
}
