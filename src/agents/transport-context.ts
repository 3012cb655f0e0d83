/**
 * What the protocol of a request tells the servable.
 *
 * @module
 */

import type { RunOptions } from './contract.ts'
import type { Metadata } from './run-types.ts'

/** A plugin whose protocol tells servables more than the run's options: `a2a` of `servable/a2a`. */
export interface TellsContext<T> {
  /** Reads it from the metadata of a run. */
  readonly contextIn: (metadata: Metadata) => T | undefined
}

/**
 * What a plugin's protocol knows of the run at hand. Undefined if the run did not come over that protocol.
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
