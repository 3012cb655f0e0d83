/**
 * What was thrown, beside the event that tells of it: the log is told the whole story, and everyone else the event alone.
 *
 * @module
 */

import type { RunEvent } from './run-types.ts'

const THROWN = Symbol.for('servable.thrown')

/** The event, with what was thrown where neither JSON nor a copy of it goes. */
export function withThrown<E extends RunEvent>(event: E, thrown: unknown): E {
  return Object.defineProperty(event, THROWN, { value: thrown })
}

/** What was thrown, where the event knows. */
export function thrownWith(event: RunEvent): unknown {
  return (event as { readonly [THROWN]?: unknown })[THROWN]
}
