import { waitingCount } from './live.ts'

/** The number of waiting requests, in the navigation. */
export function WaitingBadge() {
  const count = waitingCount.value
  if (count === 0) return null
  return (
    <span class="badge">
      {count} <span class="unseen">waiting</span>
    </span>
  )
}
