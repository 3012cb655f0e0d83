/**
 * What a deployment keeps, and where: the `state` option.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { memoryStore } from './memory.ts'
import type { Store } from './store.ts'

/** How much a store keeps, beside each run's own retention. */
export interface Retention {
  /** Most ended runs; past it the oldest leave, those with an idempotency key not before an hour. Absent: no limit. */
  readonly maxRuns?: number | undefined
  /** Milliseconds for which an ended run is kept at the most. Absent: as long as its own retention says. */
  readonly maxAgeMs?: number | undefined
}

/** State in this process: in its memory, or in a database that it has open. */
export interface LocalState {
  readonly kind: 'local'
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

/** How much is kept in memory. */
export interface MemoryStateOptions extends Retention {
  /**
   * Most bytes of all that is kept, by estimate: two bytes a character, and what objects take. Past it the oldest ended
   * runs and tasks leave, and the sessions and corrections that were written longest ago; runs with an idempotency key last.
   * What is at work never leaves: where there is no other room, requests are answered 429 (`state_full`), and a run that
   * outgrows it fails with `run_too_large`. At least 65,536. Default 268,435,456 (256 MiB); on Workers and other isolates
   * 50,331,648 (48 MiB).
   */
  readonly maxBytes?: number | undefined
}

const MAX_BYTES = 256 * 1024 * 1024

/** An isolate of Workers has 128 MB for everything. */
const MAX_CONFINED_BYTES = 48 * 1024 * 1024

/** With less than this hardly a run fits. */
const MIN_BYTES = 65_536

/**
 * Keeps state in memory: nothing to set up, gone with the process. Default: 1,000 ended runs, 1 hour, 256 MiB. Throws
 * `invalid_options`.
 */
export function memoryState(options: MemoryStateOptions = {}): LocalState {
  const { maxBytes, ...retention } = options
  checkOptions(options)
  const store = memoryStore(maxBytes ?? MAX_BYTES)
  return {
    kind: 'local',
    store,
    retention: { maxRuns: 1000, maxAgeMs: 60 * 60 * 1000, ...retention },
    isVolatile: true,
    confine() {
      if (maxBytes === undefined) store.maxBytes = MAX_CONFINED_BYTES
    },
  }
}

/** Throws what `wrong` makes where a bound is none: with one that is no number, a sweep would delete all that it may. */
export function checkRetention(bounds: Retention, wrong: (what: string) => ServableError): void {
  for (const name of ['maxRuns', 'maxAgeMs'] as const) {
    const bound: unknown = bounds[name]
    if (bound === undefined || (typeof bound === 'number' && bound >= 0)) continue
    throw wrong(`\`${name}\` must be a number, 0 or more: is a variable missing?`)
  }
}

function checkOptions({ maxRuns, maxAgeMs, maxBytes, ...others }: MemoryStateOptions): void {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw wrong(`\`${unknown}\` is no option: use \`maxRuns\`, \`maxAgeMs\` and \`maxBytes\``)
  }
  checkRetention({ maxRuns, maxAgeMs }, wrong)
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes >= MIN_BYTES)) {
    throw wrong(`\`maxBytes\` must be a whole number, ${MIN_BYTES} or more`)
  }
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `memoryState: ${what}`)
}
