import { useEffect, useState } from 'preact/hooks'
import type { MetricsEvent } from '../../src/client/index.ts'
import { ofMetrics } from '../admin/token.ts'
import { Time } from '../parts/time.tsx'
import { client, isRefusal, messageOf } from '../service.ts'
import { readWhileShown } from '../streams.ts'
import { visible } from '../text.ts'
import { AGAIN_MS, pause } from '../waiting.ts'

/** Most events that are shown: the newest. */
const MOST = 50

/** Live events, newest first. */
export function Happenings() {
  const [events, setEvents] = useState<readonly (MetricsEvent & { readonly key: number })[]>([])
  const [why, setWhy] = useState<string>()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let key = 0
    const read = async (shown: AbortSignal) => {
      const stream = await ofMetrics.ask(async headers => client.metrics.stream({ signal: shown, headers }))
      for await (const event of stream) {
        setWhy(undefined)
        setEvents(before => [{ ...event, key: ++key }, ...before].slice(0, MOST))
      }
    }
    const onWait = (isWaiting: boolean) =>
      setWhy(
        isWaiting
          ? 'This browser has no connection left. Close another window of the console to see live events here.'
          : undefined,
      )
    const watch = async () => {
      while (!signal.aborted) {
        const error = await readWhileShown(signal, onWait, read).catch(failure => failure)
        if (signal.aborted) return
        if (error !== undefined) setWhy(messageOf(error))
        if (isRefusal(error)) return
        await pause(AGAIN_MS, signal)
      }
    }
    void watch()
    return () => controller.abort()
  }, [])
  return (
    <section aria-labelledby="happens">
      <h2 id="happens">Live events</h2>
      {why !== undefined && <p>{why}</p>}
      {events.length === 0 && why === undefined && (
        <p class="soft">Nothing has happened since you opened this screen.</p>
      )}
      <ul class="happenings">
        {events.map(event => (
          <li key={event.key}>
            <Time at={event.timestamp} /> <code>{event.type}</code> {textOf(event)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function textOf(event: MetricsEvent): string {
  if (event.type === 'dropped') return `${event.data.count} more`
  const { kind: _, ...data } = event.data
  const numbers = Object.entries(data).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`,
  )
  return visible(`${event.agentName} ${numbers.join(', ')}`)
}
