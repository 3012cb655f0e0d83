import { useState } from 'preact/hooks'
import type { RunEvent } from '../../src/agents/contract.ts'
import { JsonView } from '../parts/json-view.tsx'
import { ChoiceOfRows } from '../parts/rows.tsx'
import { duration, number, visible } from '../text.ts'
import type { RunLog } from './log.ts'

/** Most characters of an event in its row. */
const SHORT = 120

/** The log of a run as raw events. */
export function EventRows({ log: { events, isWhole } }: { log: RunLog; version: number }) {
  const [chosen, choose] = useState<number>()
  const event = chosen === undefined ? undefined : events[chosen]
  return (
    <>
      <h3>Events</h3>
      <p class="soft" aria-busy={!isWhole}>
        {number(events.length)} events{!isWhole && ' so far'}
      </p>
      {events.length > 0 && (
        <ChoiceOfRows
          label="Events"
          count={events.length}
          chosen={chosen}
          choose={choose}
          row={index => <EventRow event={events[index]!} number={index + 1} />}
        />
      )}
      {event && (
        <section aria-label="Details of the event">
          <h3>Event {chosen! + 1}</h3>
          <JsonView key={chosen} value={event} label={`event ${chosen! + 1}`} />
        </section>
      )}
    </>
  )
}

function EventRow({ event: { type, at, ...more }, number }: { event: RunEvent; number: number }) {
  return (
    <>
      <span class="number">{number}</span>
      <span class="number">{at !== undefined && duration(at)}</span>
      <span class="label">{type}</span>
      <code class="short">{visible(shortOf(more))}</code>
    </>
  )
}

/** A short form of an event. Long values are cut before serialization. */
function shortOf(event: object): string {
  const cut = (_: string, value: unknown) => (typeof value === 'string' ? value.slice(0, SHORT) : value)
  const parts = Object.entries(event).map(([name, value]) => `${name}: ${JSON.stringify(value, cut)}`)
  return parts.join(', ').slice(0, SHORT)
}
