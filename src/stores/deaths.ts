/**
 * Limits how often work is begun after its process has crashed. A counter is incremented before the work begins and reset when it
 * ends. Work that has begun several times in a row without an end is given up, whether it crashed its processes or only ran in
 * them.
 *
 * @module
 */

/** Crashes in a row after which work is given up. */
export const MAX_DEATHS = 5

/** Milliseconds before work begins again after its second crash in a row. Each further delay is four times as long. */
const REST_MS = 5000

/** The range of the factor of a delay. It spreads the restarts of work that one crash has ended. */
const SPREAD = [0.75, 1.25] as const

/**
 * Returns the milliseconds to wait after this many crashes in a row. It is 0 after the first crash, since most work that a crash
 * ends has not caused it, and 0 for work that is given up. `place` in the range of the factor is from 0 to 1. Default: at random.
 */
export function restAfter(deaths: number, place: number = Math.random()): number {
  if (deaths < 2 || deaths >= MAX_DEATHS) return 0
  return REST_MS * 4 ** (deaths - 2) * (SPREAD[0] + place * (SPREAD[1] - SPREAD[0]))
}

/** A bound above every delay, in milliseconds. */
export const MAX_REST_MS: number = 2 * REST_MS * 4 ** (MAX_DEATHS - 3)
