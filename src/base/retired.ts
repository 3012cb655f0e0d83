/**
 * Marks a run that stops here and goes on with another worker. What it has begun elsewhere is left alone.
 *
 * @module
 */

/** The text of the reason with which the signal of such a run fires. */
export const RETIRED = 'The run goes on elsewhere'

/** Whether a signal fired because another worker goes on with the run. */
export function isRetired({ reason }: AbortSignal): boolean {
  return Object(reason).message === RETIRED
}
