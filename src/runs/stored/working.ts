/** The runs of a service that are at work in this process, so that a server that closes can let them end. */

import { breathe, createWake, deferred } from '../../base/wake.ts'

/** The part of a run that is used. */
interface Cancellable {
  /** Leaves it to another process, or cancels it. Never rejects. */
  retire(): Promise<void>
}

/** Told of every run that begins its work, and of its end. */
export interface WorkingRuns {
  add(run: Cancellable): void
  delete(run: Cancellable): void
  /** How many are at work. */
  readonly size: number
  /** Resolves once none is at work, and their ends are stored. */
  idle(): Promise<void>
  /** Resolves once those that are at work now have ended, and their ends are stored. */
  finished(): Promise<void>
  /**
   * Resolves once none is at work. After `graceMs` milliseconds those that can go on in another process are left to it, and all others
   * are cancelled.
   */
  drain(graceMs: number): Promise<void>
  /** The end of a run is being stored. */
  keep(stored: Promise<void>): void
  /** Resolves once the ends of all that have ended are stored, or after {@link STORE_MS} milliseconds. */
  kept(): Promise<void>
}

/** Milliseconds for which a server that closes waits for a store that does not take the ends of its runs. */
const STORE_MS = 2000

/** Makes a {@link WorkingRuns}. */
export function createWorkingRuns(): WorkingRuns {
  const runs = new Set<Cancellable>()
  const ended = createWake()
  const storing = new Set<Promise<void>>()
  const kept = async () => {
    // Whoever reads a run hears of its end, and keeps it, in the same turn.
    await breathe()
    if (storing.size === 0) return
    const late = createWake()
    const timer = setTimeout(late.fire, STORE_MS)
    let isLate = false
    const lateness = late.wait().then(() => {
      isLate = true
    })
    // What a run has said is kept first, and its end after that.
    while (storing.size > 0 && !isLate) await Promise.race([Promise.all(storing).then(breathe), lateness])
    clearTimeout(timer)
  }
  const idle = async () => {
    while (runs.size > 0) await ended.wait()
    await kept()
  }
  return {
    add: run => void runs.add(run),
    delete(run) {
      runs.delete(run)
      ended.fire()
    },
    get size() {
      return runs.size
    },
    idle,
    async finished() {
      const now = [...runs]
      while (now.some(run => runs.has(run))) await ended.wait()
      await kept()
    },
    async drain(graceMs) {
      if (runs.size === 0) return
      const late = deferred<void>()
      const timer = setTimeout(late.resolve, graceMs)
      await Promise.race([idle(), late.promise])
      clearTimeout(timer)
      await Promise.all([...runs].map(run => run.retire()))
      await kept()
    },
    keep(stored) {
      storing.add(stored)
      void stored.then(() => storing.delete(stored))
    },
    kept,
  }
}
