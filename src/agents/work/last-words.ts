import type { FinishEvent, MessageEvent } from '../run-types.ts'

/** What a run says about its end, as a message: for protocols that have no place of its own for it. */
export function lastWordsOf({ message }: FinishEvent): MessageEvent | undefined {
  if (message === undefined || message.length === 0) return undefined
  return { type: 'message', parts: typeof message === 'string' ? [{ type: 'text', text: message }] : message }
}
