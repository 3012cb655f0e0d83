/**
 * The events that the service sends to a client (docs/connect/event-socket.md, "Events of the server"), for runs of every kind.
 *
 * @module
 */

import type { ErrorEvent, EventFacts, FinishEvent, RunEvent } from '../../../agents/contract.ts'
import { NO_USAGE } from '../../../agents/usage.ts'

/** An event and its payload. The run's id is added to the payload. */
export type ServerEvent = readonly [name: string, payload: object]

/** Returns the event for a run event other than the end. */
export function serverEventOf(event: Exclude<RunEvent, FinishEvent | ErrorEvent>): ServerEvent {
  const { type, ...rest } = event
  switch (event.type) {
    case 'text':
      return ['agent.chunk', { chunk: event.text, ...whoIn(event) }]
    case 'tool_call_start': {
      const { id, name } = event.toolCall
      return ['agent.tool.call', { toolName: name, args: null, toolCallId: id, ...whoIn(event) }]
    }
    case 'tool_call_end': {
      const { toolCallId, error } = event
      return ['agent.tool.done', { toolCallId, ...(error !== undefined && { error }), ...whoIn(event) }]
    }
    case 'tool_call_delta':
      return ['agent.tool.delta', rest]
    case 'tool_call_ready':
      return ['agent.tool.ready', rest]
    case 'thinking':
    case 'step':
    case 'artifact':
    case 'message':
    case 'model_call':
    case 'resumed':
      return [`agent.${type}`, rest]
  }
}

/** The agent of an event, and the step or call that it is in. */
function whoIn({ agent, parentId }: EventFacts): EventFacts {
  return { ...(agent !== undefined && { agent }), ...(parentId !== undefined && { parentId }) }
}

/** Returns the event for the end of a run, with all of its text. */
export function lastEventOf(event: FinishEvent | ErrorEvent, text: string): ServerEvent {
  if (event.type === 'error') return ['agent.error', { error: event.error, code: event.code }]
  const { finishReason, usage = NO_USAGE, structured, requests, message } = event
  const payload = {
    output: { text },
    usage,
    finishReason,
    ...(structured != null && { structured }),
    ...(requests && { requests }),
    ...(message !== undefined && { message }),
  }
  return ['agent.done', payload]
}
