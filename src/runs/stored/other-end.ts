/**
 * Chooses the end to store for a run whose own end cannot be written.
 *
 * @module
 */

import type { ErrorEvent, EventFacts, FinishEvent } from '../../agents/contract.ts'
import { isServableError, reportError, ServableError } from '../../base/errors.ts'
import { mayPass } from '../../stores/remote/retrying.ts'

/** Returns the end to store instead of one that can never be stored; undefined if the store may take it later. */
export function insteadOf(
  event: (FinishEvent | ErrorEvent) & EventFacts,
  error: unknown,
): ErrorEvent | undefined {
  if (mayPass(error) || event === NO_ROOM) return undefined
  // Its last event or its result is too large. There is always room for an end with this error.
  return isFull(error) ? NO_ROOM : endOf(error, event)
}

/** The end of a run whose own end cannot be written. */
export function endOf(thrown: unknown, { at }: EventFacts): ErrorEvent & EventFacts {
  const { code, message } = reportError(thrown, false, 'internal_error')
  return { type: 'error', code, error: message, ...(at !== undefined && { at }) }
}

const NO_ROOM_TEXT = 'The state is too full to keep the events of the run'

/** The end of a run that does not fit. */
export const NO_ROOM: ErrorEvent = { type: 'error', code: 'run_too_large', error: NO_ROOM_TEXT }

/** The error of a run whose events do not fit. */
export function noRoom(cause: unknown): ServableError {
  return new ServableError('run_too_large', NO_ROOM_TEXT, { cause })
}

/** Whether a store has no room. */
export function isFull(error: unknown): boolean {
  return isServableError(error) && error.code === 'state_full'
}
