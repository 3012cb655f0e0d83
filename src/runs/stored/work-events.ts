/**
 * What events say of the work of a run: its steps and its calls of tools.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'

/** Whether an event says that a step or a call of a tool is complete. */
export function isOfCompleteWork(event: RunEvent): boolean {
  return event.type === 'tool_call_end' || (event.type === 'step' && event.status === 'completed')
}

/** 1 for an event of work that begins, -1 for one of work that ends, else 0. */
export function begunWork(event: RunEvent): number {
  if (event.type === 'tool_call_start' || (event.type === 'step' && event.status === 'started')) return 1
  return isOfCompleteWork(event) || (event.type === 'step' && event.status === 'failed') ? -1 : 0
}
