/**
 * Middleware of plugins around a run. It reads the events before the run does, and may change them.
 *
 * @module
 */

import type { RunEvent, RunInput, RunOptions } from '../agents/contract.ts'
import type { Target } from './target.ts'

/** A run that begins. */
export interface MiddlewareRun {
  readonly target: Target
  /** The input of the servable. The stored input is the original one: it is stored before. */
  readonly input: RunInput
  /** The options with the signal of the run, which fires unless the run ends by itself. */
  readonly options: RunOptions
}

/** Calls the servable. */
export type BeginRun = (run: MiddlewareRun) => AsyncIterator<RunEvent>

/**
 * Returns the events of a run, which it may get from `next`. It is called once, when the run begins, which is after the run has
 * got its session. An error of it or its iterator fails the run. The iterator's `return` is called if the run ends before it.
 */
export type RunMiddleware = (run: MiddlewareRun, next: BeginRun) => AsyncIterator<RunEvent>

/** Joins several: the first is the outermost. Undefined if there are none. */
export function runMiddlewareOf(middleware: readonly RunMiddleware[]): RunMiddleware | undefined {
  if (middleware.length === 0) return undefined
  return middleware.reduceRight((inner, outer) => (run, next) => outer(run, run => inner(run, next)))
}
