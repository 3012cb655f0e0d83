/**
 * Work of which processes die. What is begun is counted before it begins, and its end takes that back. So work that was begun several
 * times in a row and has no end has killed its processes, or was there each time: it is given up, whatever the reason.
 *
 * @module
 */

/** Deaths in a row after which work is given up. */
export const MAX_DEATHS = 5

/** Milliseconds for which work rests after its second death in a row. Each further rest is four times as long. */
const REST_MS = 5000

/** The random factor of a rest, so that what died together does not begin together again. */
const SPREAD = [0.75, 1.25] as const

/**
 * Milliseconds for which work rests after so many deaths in a row. After the first one it goes on at once: most work is there by chance.
 * What is given up need not rest.
 */
export function restAfter(deaths: number): number {
  if (deaths < 2 || deaths >= MAX_DEATHS) return 0
  return REST_MS * 4 ** (deaths - 2) * (SPREAD[0] + Math.random() * (SPREAD[1] - SPREAD[0]))
}

/** Longer than any rest. */
export const MAX_REST_MS: number = 2 * REST_MS * 4 ** (MAX_DEATHS - 3)
