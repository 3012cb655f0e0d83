import type { RunEvent } from '../agents/contract.ts'
import { ServableError } from '../base/errors.ts'

/**
 * An event as JSON. Most events are text, so a text event is written without walking an object. Throws `invalid_event` for a
 * value that JSON cannot express.
 */
export function eventToJson(event: RunEvent): string {
  if (event.type === 'text') return textToJson(event)
  try {
    return JSON.stringify(event)
  } catch (cause) {
    throw new ServableError('invalid_event', `A \`${event.type}\` event cannot be written as JSON`, { cause })
  }
}

function textToJson({ text, agent, parentId, at }: Extract<RunEvent, { type: 'text' }>): string {
  const said = `{"type":"text","text":${JSON.stringify(text)}`
  const who = `${member('agent', agent)}${member('parentId', parentId)}`
  return at === undefined ? `${said}${who}}` : `${said}${who},"at":${at}}`
}

/** The servable's own: it may be anything. */
function member(name: string, value: unknown): string {
  return typeof value === 'string' ? `,"${name}":${JSON.stringify(value)}` : ''
}
