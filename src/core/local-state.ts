/**
 * State in this process, as handlers take it.
 *
 * @module
 */

import * as states from '../runs/stored/local-state.ts'
import type { LocalParts } from '../stores/state.ts'
import { STORED_RUNS, type StoredRuns } from './stored-runs.ts'

/** State in this process: in its memory, or in a database that it has open. */
export interface LocalState extends states.LocalState {
  readonly storedRuns: StoredRuns
}

/** Makes a state of a store. */
export function localState(parts: LocalParts): LocalState {
  return { ...states.localState(parts), storedRuns: STORED_RUNS }
}

/**
 * Keeps state in memory. It needs no setup, and is lost with the process. Default: 1,000 ended runs, 1 hour, 256 MiB. Throws
 * `invalid_options`.
 */
export function memoryState(options: states.MemoryStateOptions = {}): LocalState {
  return { ...states.memoryState(options), storedRuns: STORED_RUNS }
}
