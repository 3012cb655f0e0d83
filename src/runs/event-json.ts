import type { RunEvent } from '../agents/contract.ts'
import { ServableError } from '../base/errors.ts'

/**
 * Writes an event as JSON. Most events are text, so text events are written without walking an object. Throws `invalid_event` for
 * a value that JSON cannot express.
 */
export function eventToJson(event: RunEvent): string {
  if (event.type === 'text') return textToJson(event)
  try {
    return JSON.stringify(event)
  } catch (cause) {
    throw new ServableError('invalid_event', `A \`${event.type}\` event cannot be written as JSON`, { cause })
  }
}

function textToJson({ text, agent, parentId, at, until }: Extract<RunEvent, { type: 'text' }>): string {
  const start = `{"type":"text","text":${JSON.stringify(text)}`
  const who = `${member('agent', agent)}${member('parentId', parentId)}`
  const times = at === undefined ? '' : `,"at":${at}${until === undefined ? '' : `,"until":${until}`}`
  return `${start}${who}${times}}`
}

/** Writes a member. Its value comes from the servable and may have any type. */
function member(name: string, value: unknown): string {
  return typeof value === 'string' ? `,"${name}":${JSON.stringify(value)}` : ''
}
