/**
 * The signals of runs, and the reasons with which they fire.
 *
 * @module
 */

/**
 * The text of the reason with which the signal of a run fires that stops here and goes on with another worker. What the run has
 * begun elsewhere is left alone.
 */
export const RETIRED = 'The run goes on elsewhere'

/** Whether a signal fired because another worker goes on with the run. */
export function isRetired({ reason }: AbortSignal): boolean {
  return Object(reason).message === RETIRED
}

/** Fires a signal with any reason. Where the runtime refuses the reason, the signal fires without one. */
export function abortWith(controller: AbortController, reason: unknown): void {
  try {
    controller.abort(reason)
  } catch {
    controller.abort()
  }
}
