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
  useEffect(() => {
    if (shown++ === 0) timer = setInterval(tick, 1000)
    tick()
    return () => {
      if (--shown === 0) clearInterval(timer)
    }
  }, [])
  const past = now.value - Date.parse(at)
  const since = age(Math.abs(isDue ? Math.min(0, past) : Math.max(0, past)))
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {isDue ? `in ${since}` : isBare ? since : `${since} ago`}
    </time>
  )
}
