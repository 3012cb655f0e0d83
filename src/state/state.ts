/**
 * What a deployment keeps in this process.
 *
 * @module
 */

import type { ServableError } from '../errors.ts'
import type { Store } from './store.ts'

/** How much a store keeps, beside each run's own retention. */
export interface Retention {
  /** Most ended runs; past it the oldest leave, those with an idempotency key not before an hour. Absent: no limit. */
  readonly maxRuns?: number | undefined
  /** Milliseconds for which an ended run is kept at the most. Absent: as long as its own retention says. */
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
