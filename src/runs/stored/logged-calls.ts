/**
 * What is kept of model calls, in the log of a stored run. Only pages of events that ask for it have it.
 *
 * @module
 */

import type { EventFacts, ModelCallEvent, RunEvent } from '../../agents/contract.ts'
import { contentsOf, type ModelCallContents } from '../../agents/model-calls.ts'
import type { StoredLogEntry } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'

/** An event in a page of a log. */
export type LoggedEvent = RunEvent | (ModelCallEvent & EventFacts & ModelCallContents)

/** With this an entry begins that has more than its event. No event has such a member. */
const MARK = '{"prompt":'

/** Makes the function that writes the events of one run. What is kept of its calls takes at most half of `maxBytes`. */
export function encoderOf(maxBytes: number): (event: RunEvent) => string {
  let left = maxBytes / 2
  return event => {
    const json = eventToJson(event)
    const contents = contentsOf(event)
    if (contents === undefined) return json
    const { prompt = null, reply = null } = contents
    const kept = `${MARK}${JSON.stringify(prompt)},"reply":${JSON.stringify(reply)},${json.slice(1)}`
    if (kept.length > left) return json
    left -= kept.length
    return kept
  }
}

/** The entries without what is kept of model calls. */
export function withoutCalls(entries: readonly StoredLogEntry[]): readonly StoredLogEntry[] {
  return entries.some(({ data }) => data.startsWith(MARK)) ? entries.map(withoutCall) : entries
}

function withoutCall(entry: StoredLogEntry): StoredLogEntry {
  if (!entry.data.startsWith(MARK)) return entry
  const { prompt: _, reply: __, ...event } = JSON.parse(entry.data) as Record<string, unknown>
  return { ...entry, data: JSON.stringify(event) }
}
