import type { RunEvent } from '../agents/contract.ts'
import { ServableError } from '../errors.ts'

/**
 * An event as JSON. Most events are text, so a text event is written without walking an object. Throws `invalid_event` for a
 * value that JSON cannot express.
 */
export function eventToJson(event: RunEvent): string {
  if (event.type === 'text') return `{"type":"text","text":${JSON.stringify(event.text)}}`
  try {
    return JSON.stringify(event)
  } catch (cause) {
    throw new ServableError('invalid_event', `A \`${event.type}\` event cannot be written as JSON`, { cause })
  }
}
