import type { FinishEvent, MessageEvent } from '../run-types.ts'

/** Returns the finish event's message as a message event, for protocols without a field for it. */
export function endMessageOf({ message }: FinishEvent): MessageEvent | undefined {
  if (message === undefined || message.length === 0) return undefined
  return { type: 'message', parts: typeof message === 'string' ? [{ type: 'text', text: message }] : message }
}
