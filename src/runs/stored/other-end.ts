/**
 * The end that a run has in its log where its own cannot be written.
 *
 * @module
 */

import type { ErrorEvent, EventFacts, FinishEvent } from '../../agents/contract.ts'
import { isServableError, reportError, ServableError } from '../../base/errors.ts'
import { mayPass } from '../../stores/remote/patient.ts'

/** The end that is stored in the place of one that never can be; undefined where the store may take it later. */
export function insteadOf(
  event: (FinishEvent | ErrorEvent) & EventFacts,
  error: unknown,
): ErrorEvent | undefined {
  if (mayPass(error) || event === NO_ROOM) return undefined
  // What it said last, or its result, is too much. There always is room for an end that says so.
  return isFull(error) ? NO_ROOM : endOf(error, event)
}

/** The end of a run whose own end cannot be written: it has ended then all the same. */
export function endOf(thrown: unknown, { at }: EventFacts): ErrorEvent & EventFacts {
  const { code, message } = reportError(thrown, false, 'internal_error')
  return { type: 'error', code, error: message, ...(at !== undefined && { at }) }
}

const NO_ROOM_TEXT = 'The state is too full to keep the events of the run'

/** The end of a run that does not fit. */
export const NO_ROOM: ErrorEvent = { type: 'error', code: 'run_too_large', error: NO_ROOM_TEXT }

/** Why a run fails whose events do not fit. */
export function noRoom(cause: unknown): ServableError {
  return new ServableError('run_too_large', NO_ROOM_TEXT, { cause })
}

/** Whether a store has no room. */
export function isFull(error: unknown): boolean {
  return isServableError(error) && error.code === 'state_full'
}
