/**
 * A page of a run's log, for clients that do not follow it.
 *
 * @module
 */

import type { Reader, StoredLogEntry } from '../../stores/store.ts'
import { LogReading } from './log-reading.ts'
import { type LoggedEvent, withoutCalls } from './logged-calls.ts'

/** The most events of a page. */
export const MAX_EVENTS = 1000

/** The most characters of the events of a page, as JSON. A single event may be longer. */
const MAX_LENGTH = 1_048_576

/** Entries per read. */
const BATCH = 64

/** Which events to read. */
export interface EventQuery {
  /** The id of the event after which to begin; 0 begins with the first one. */
  readonly after: number
  /** 1 to 1,000. */
  readonly limit: number
  /** Whether `model_call` events have what was kept of their calls. */
  readonly include?: 'model_calls' | undefined
}

/** A part of a log. */
export interface LogPage {
  readonly entries: readonly StoredLogEntry[]
  /** Whether the last entry is the last one of the log. */
  readonly ended: boolean
}

/** A page of a run's events for clients. */
export interface RunEventPage {
  readonly events: readonly { readonly id: number; readonly event: LoggedEvent }[]
  /** The `after` of the next page. */
  readonly next: number
  /** Whether the run has ended and there is no next page. */
  readonly ended: boolean
}

/** Reads a page of a log. */
export function readLogPage(tx: Reader, log: string, { after, limit, include }: EventQuery): LogPage {
  const entries: StoredLogEntry[] = []
  const reading = new LogReading(log, false)
  let ended = false
  let length = 0
  while (entries.length < limit && !ended) {
    const part = reading.read(tx, entries.at(-1)?.seq ?? after, Math.min(BATCH, limit - entries.length))
    for (const entry of include === undefined ? withoutCalls(part.entries) : part.entries) {
      length += entry.data.length
      if (length > MAX_LENGTH && entries.length > 0) return { entries, ended: false }
      entries.push(entry)
    }
    ended = part.isLast
    if (part.entries.length < BATCH) break
  }
  return { entries, ended }
}

/** Writes a {@link RunEventPage} as JSON. The entries are JSON already. */
export function pageToJson({ entries, ended }: LogPage, { after }: EventQuery): string {
  const events = entries.map(({ seq, data }) => `{"id":${seq},"event":${data}}`)
  return `{"events":[${events.join()}],"next":${entries.at(-1)?.seq ?? after},"ended":${ended}}`
}
