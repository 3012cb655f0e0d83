/**
 * What events say of the work of a run: its steps and its calls of tools.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'

/** Whether the record of work comes after an event: a step or a call of a tool is complete, or a message was taken. */
export function isOfCompleteWork(event: RunEvent): boolean {
  return event.type === 'steered' || isEnd(event)
}

function isEnd(event: RunEvent): boolean {
  return event.type === 'tool_call_end' || (event.type === 'step' && event.status === 'completed')
}

/** 1 for an event of work that begins, -1 for one of work that ends, else 0. */
export function begunWork(event: RunEvent): number {
  if (event.type === 'tool_call_start' || (event.type === 'step' && event.status === 'started')) return 1
  return isEnd(event) || (event.type === 'step' && event.status === 'failed') ? -1 : 0
}
