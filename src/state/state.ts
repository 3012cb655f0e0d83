/**
 * What a deployment keeps in this process.
 *
 * @module
 */

import type { ServableError } from '../errors.ts'
import type { Store } from './store.ts'

/** How much a store keeps, in addition to each run's own retention. */
export interface Retention {
  /**
   * Most ended runs. Past it the oldest are deleted, but a run with an idempotency key not within an hour. Default: no limit;
   * for `memoryState` 1,000.
   */
  readonly maxRuns?: number | undefined
  /**
   * Most milliseconds for which an ended run is kept. Default: as long as the run's own retention says; for `memoryState` at
   * most 1 hour.
   */
  readonly maxAgeMs?: number | undefined
}

/** A store in this process, and how it is used: in its memory, or in a database that it has open. */
export interface LocalParts {
  readonly store: Store
  readonly retention: Retention
  /** Gone with the process, and not shared with other processes or isolates. */
  readonly isVolatile: boolean
  /** Told that requests are served where memory is scarce: what was not said otherwise is made to fit. */
  readonly confine?: () => void
  /** Keeps files open until what this gives is called; the last one who does so closes them. They open again when used. */
  readonly retain?: () => () => void
  /** Something is at work: files stay open until what this gives is called, whoever lets go of them meanwhile. */
  readonly keepOpen?: () => () => void
}

/** Throws what `wrong` makes where a bound is none: with one that is no number, a sweep would delete all that it may. */
export function checkRetention(bounds: Retention, wrong: (what: string) => ServableError): void {
  for (const name of ['maxRuns', 'maxAgeMs'] as const) {
    const bound: unknown = bounds[name]
    if (bound === undefined || (typeof bound === 'number' && bound >= 0)) continue
    throw wrong(`\`${name}\` must be a number, 0 or more: is a variable missing?`)
  }
}
