import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { age } from '../text.ts'

/** The time now, updated each second while a part of the page shows it. */
const now = signal(Date.now())
let shown = 0
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  now.value = Date.now()
}

/** Updates the time while a component is mounted. */
function useNow(): number {
  useEffect(() => {
    if (shown++ === 0) timer = setInterval(tick, 1000)
    tick()
    return () => {
      if (--shown === 0) clearInterval(timer)
    }
  }, [])
  return now.value
}

/**
 * The time since a moment (ISO 8601), updated as it passes. `isBare`: without the word "ago". `isDue`: the time until a moment that
 * comes.
 */
export function Ago({
  at,
  isBare = false,
  isDue = false,
}: {
  at: string
  isBare?: boolean
  isDue?: boolean
}) {
  const past = useNow() - Date.parse(at)
  const since = age(Math.abs(isDue ? Math.min(0, past) : Math.max(0, past)))
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {isDue ? `in ${since}` : isBare ? since : `${since} ago`}
    </time>
  )
}

/** What is left of an hour is shown as what needs someone. */
const SOON_MS = 3_600_000

/** The time until a moment (ISO 8601), updated as it passes. */
export function Left({ until }: { until: string }) {
  const left = Date.parse(until) - useNow()
  return (
    <time
      dateTime={until}
      title={new Date(until).toLocaleString()}
      class={left < SOON_MS ? 'wait' : undefined}
    >
      {left > 0 ? `${age(left)} left` : 'expired'}
    </time>
  )
}
