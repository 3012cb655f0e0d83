/**
 * The state of a deployment in this process.
 *
 * @module
 */

import type { ServableError } from '../base/errors.ts'
import type { Soon, Store } from './store.ts'

/** How many ended runs a store keeps. */
export interface CountRetention {
  /**
   * Most ended runs. Beyond this the oldest are deleted, but a run with an idempotency key is kept for at least an hour.
   * Default: no limit; for `memoryState` 1,000.
   */
  readonly maxRuns?: number | undefined
}

/** How much a store keeps, in addition to each run's own retention. */
export interface Retention extends CountRetention {
  /** Most milliseconds for which an ended run is kept. Default: the run's own retention; for `memoryState` at most 1 hour. */
  readonly maxAgeMs?: number | undefined
}

/** A store in this process, in memory or in an open database, and how it is used. */
export interface LocalParts {
  readonly store: Store
  readonly retention: Retention
  /** Whether the state is lost with the process, and not shared with other processes or isolates. */
  readonly isVolatile: boolean
  /** Called if the runtime has little memory. It lowers the limits that the deployment did not set. */
  readonly confine?: () => void
  /**
   * Keeps files and connections open until the returned function is called. The last call closes them. They open again on their next
   * use.
   */
  readonly retain?: () => () => Soon<void>
  /** Keeps them open while work is running, until the returned function is called. It outlasts `retain`. */
  readonly keepOpen?: () => () => Soon<void>
}

/** Throws the error of `wrong` for an invalid limit. With a limit that is not a number, a sweep would delete everything. */
export function checkRetention(bounds: Retention, wrong: (what: string) => ServableError): void {
  for (const name of ['maxRuns', 'maxAgeMs'] as const) {
    const bound: unknown = bounds[name]
    if (bound === undefined || (typeof bound === 'number' && bound >= 0)) continue
    throw wrong(`\`${name}\` must be a number, 0 or more: is a variable missing?`)
  }
}
