/** The runs of a service that are at work in this process, so that a server that closes can let them end. */

import { breathe, createWake } from '../wake.ts'

/** The part of a run that is used. */
interface Cancellable {
  cancel(): void
}

/** Told of every run that begins its work, and of its end. */
export interface WorkingRuns {
  add(run: Cancellable): void
  delete(run: Cancellable): void
  /** How many are at work. */
  readonly size: number
  /** Resolves once none is at work. */
  idle(): Promise<void>
  /** Resolves once none is at work; after `graceMs` milliseconds those that are get cancelled. */
  drain(graceMs: number): Promise<void>
}

/** Makes a {@link WorkingRuns}. */
export function createWorkingRuns(): WorkingRuns {
  const runs = new Set<Cancellable>()
  const ended = createWake()
  return {
    add: run => void runs.add(run),
    delete(run) {
      runs.delete(run)
      if (runs.size === 0) ended.fire()
    },
    get size() {
      return runs.size
    },
    idle: () => (runs.size === 0 ? Promise.resolve() : ended.wait()),
    async drain(graceMs) {
      if (runs.size === 0) return
      const timer = setTimeout(ended.fire, graceMs)
      await ended.wait()
      clearTimeout(timer)
      for (const run of [...runs]) run.cancel()
      // Whoever reads a run hears of its end, and keeps it, in the same turn.
      await breathe()
    },
  }
}
