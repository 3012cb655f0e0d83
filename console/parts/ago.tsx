import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { age } from '../text.ts'

const now = signal(Date.now())

/** The time since a moment (ISO 8601), updated as it passes. */
export function Ago({ at }: { at: string }) {
  useEffect(() => {
    const tick = () => {
      now.value = Date.now()
    }
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {age(now.value - Date.parse(at))} ago
    </time>
  )
}
