import type { RunEvent } from '../agents/contract.ts'
import { ServableError } from '../errors.ts'

/**
 * An event as JSON. Text is most of what a run says: its event is written without walking an object. Throws
 * `invalid_event` for what JSON cannot say.
 */
export function eventToJson(event: RunEvent): string {
  if (event.type === 'text') return `{"type":"text","text":${JSON.stringify(event.text)}}`
  try {
    return JSON.stringify(event)
  } catch (cause) {
    throw new ServableError('invalid_event', `A \`${event.type}\` event cannot be written as JSON`, { cause })
  }
}
