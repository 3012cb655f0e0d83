/**
 * Attaches the thrown error to the event that reports it. Only the log reads the error; clients get the event alone.
 *
 * @module
 */

import type { RunEvent } from './run-types.ts'

const THROWN = Symbol.for('servable.thrown')

/** Returns the event with the thrown error in a property that neither JSON nor copies of the event have. */
export function withThrown<E extends RunEvent>(event: E, thrown: unknown): E {
  return Object.defineProperty(event, THROWN, { value: thrown })
}

/** The thrown error of an event, if it has one. */
export function thrownWith(event: RunEvent): unknown {
  return (event as { readonly [THROWN]?: unknown })[THROWN]
}
