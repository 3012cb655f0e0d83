/**
 * State in this process: a store, and the host of its runs.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { Alarm } from '../../stores/alarm.ts'
import { memoryStore } from '../../stores/memory.ts'
import { checkRetention, type LocalParts, type Retention } from '../../stores/state.ts'
import { SESSIONS_IN_STATE, type Sessions } from '../sessions/session-storage.ts'
import type { HostSettings, RunHost } from './host.ts'
import { createLocalHost } from './local-host.ts'

/** State in this process: in its memory, or in a database that it has open. */
export interface LocalState extends LocalParts {
  readonly kind: 'local'
  readonly sessions: Sessions
  createHost(settings: HostSettings): RunHost
  /** Makes what deletes expired data. `onError` gets what the store throws. */
  createAlarm(onError: (error: unknown) => void): Alarm
}

/** Makes a state of a store. */
export function localState(parts: LocalParts): LocalState {
  return {
    kind: 'local',
    sessions: SESSIONS_IN_STATE,
    ...parts,
    // With `this`, a copy of the state with another store has a host of that store.
    createHost(settings) {
      return createLocalHost({ ...this, settings })
    },
    createAlarm(onError) {
      return new Alarm(this.store, onError)
    },
  }
}

/** The limits of state in memory. */
export interface MemoryStateOptions extends Retention {
  /**
   * Most bytes in memory, by estimate: two bytes a character, plus the size of objects. Past it the oldest ended runs and tasks
   * are deleted, and the sessions and corrections that were written longest ago. Runs with an idempotency key are deleted last.
   * Runs and tasks at work are never deleted. If nothing else can be deleted, requests are answered 429 (`state_full`), and a
   * run that outgrows the room fails with `run_too_large`. At least 65,536. Default: 268,435,456 (256 MiB); on Workers and
   * other isolates 50,331,648 (48 MiB).
   */
  readonly maxBytes?: number | undefined
}

const MAX_BYTES = 256 * 1024 * 1024

/** An isolate of Workers has 128 MB in total. */
const MAX_CONFINED_BYTES = 48 * 1024 * 1024

/** Less than this hardly holds one run. */
const MIN_BYTES = 65_536

/**
 * Keeps state in memory. It needs no setup, and is lost with the process. Default: 1,000 ended runs, 1 hour, 256 MiB. Throws
 * `invalid_options`.
 */
export function memoryState(options: MemoryStateOptions = {}): LocalState {
  const { maxBytes, ...retention } = options
  checkOptions(options)
  const store = memoryStore(maxBytes ?? MAX_BYTES)
  return localState({
    store,
    retention: { maxRuns: 1000, maxAgeMs: 60 * 60 * 1000, ...retention },
    isVolatile: true,
    confine() {
      if (maxBytes === undefined) store.maxBytes = MAX_CONFINED_BYTES
    },
  })
}

function checkOptions({ maxRuns, maxAgeMs, maxBytes, ...others }: MemoryStateOptions): void {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw wrong(`\`${unknown}\` is not an option: use \`maxRuns\`, \`maxAgeMs\` and \`maxBytes\``)
  }
  checkRetention({ maxRuns, maxAgeMs }, wrong)
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes >= MIN_BYTES)) {
    throw wrong(`\`maxBytes\` must be a whole number, ${MIN_BYTES} or more`)
  }
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `memoryState: ${what}`)
}
