/**
 * Gives a servable the facts of the request's protocol.
 *
 * @module
 */

import type { RunOptions } from './contract.ts'
import type { Metadata } from './run-types.ts'

/** A plugin whose protocol has facts beyond the run's options: `a2a` of `servable/a2a`. */
export interface TellsContext<T> {
  /** Reads the facts from the metadata of a run. */
  readonly contextIn: (metadata: Metadata) => T | undefined
}

/**
 * Returns the protocol's facts of the current run. Undefined if the run did not come over that plugin's protocol.
 *
 * @example
 * const tenant = contextOf(a2a, context)?.tenant
 */
export function contextOf<T>(
  { contextIn }: TellsContext<T>,
  { metadata }: Pick<RunOptions, 'metadata'>,
): T | undefined {
  return metadata && contextIn(metadata)
}
