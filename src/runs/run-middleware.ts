/**
 * What plugins of this package put around a run: they see its events before the run does, and may change them.
 *
 * @module
 */

import type { RunEvent, RunInput, RunOptions } from '../agents/contract.ts'
import type { Target } from './target.ts'

/** A run that begins. */
export interface AroundRun {
  readonly target: Target
  /** What the servable is asked. What is kept of the input stays as it came: it is kept before. */
  readonly input: RunInput
  /** With the signal of the run, which fires however the run ends but by itself. */
  readonly options: RunOptions
}

/** Calls the servable. */
export type BeginRun = (run: AroundRun) => AsyncIterator<RunEvent>

/**
 * Gives the events of a run, which it may get from `next`. It is called once, when the run begins: once the session is the run's.
 * Whatever it throws, or its iterator, fails the run. `return` of its iterator is called where the run ends otherwise than by it.
 */
export type RunMiddleware = (run: AroundRun, next: BeginRun) => AsyncIterator<RunEvent>

/** Several as one: the first is the outermost. Undefined without any. */
export function runMiddlewareOf(arounds: readonly RunMiddleware[]): RunMiddleware | undefined {
  if (arounds.length === 0) return undefined
  return arounds.reduceRight((inner, outer) => (run, next) => outer(run, run => inner(run, next)))
}
