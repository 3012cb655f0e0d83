/** The runs of a service at work in this process, so that a closing server can let them end. */

import { breathe, createWake, deferred } from '../../base/wake.ts'

/** The part of a run that is used here. */
interface Cancellable {
  /** Leaves the run to another process, or cancels it. Never rejects. */
  retire(): Promise<void>
}

/** Tracks the runs at work and their ends. */
export interface WorkingRuns {
  add(run: Cancellable): void
  delete(run: Cancellable): void
  /** The number of runs at work. */
  readonly size: number
  /** Whether the server ends soon: a run leaves to another process once nothing of it is at work, if it can go on there. */
  readonly isRetiring: boolean
  /** Resolves once no run is at work, and all ends are stored. */
  idle(): Promise<void>
  /** Resolves once the runs that are at work now have ended, and their ends are stored. */
  finished(): Promise<void>
  /**
   * Resolves once no run is at work. After half of `graceMs` milliseconds it leaves the runs that can go on in another process to it, each
   * where a step or a call of a tool is complete. At the end it leaves them where they are, and cancels all others.
   */
  drain(graceMs: number): Promise<void>
  /** Adds the promise of an end that is being stored. */
  keep(stored: Promise<void>): void
  /** Resolves once the ends of all ended runs are stored, or after {@link STORE_MS} milliseconds. */
  kept(): Promise<void>
}

/** Milliseconds that a closing server waits for a store that does not take the ends of its runs. */
const STORE_MS = 2000

/** Makes a {@link WorkingRuns}. */
export function createWorkingRuns(): WorkingRuns {
  const runs = new Set<Cancellable>()
  const ended = createWake()
  const storing = new Set<Promise<void>>()
  let isRetiring = false
  const kept = async () => {
    // The reader of a run gets its end, and stores it, in the same turn of the event loop.
    await breathe()
    if (storing.size === 0) return
    const late = createWake()
    const timer = setTimeout(late.fire, STORE_MS)
    let isLate = false
    const lateness = late.wait().then(() => {
      isLate = true
    })
    // The output of a run is stored first, and its end after that.
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
    get isRetiring() {
      return isRetiring
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
      const soon = setTimeout(() => {
        isRetiring = true
      }, graceMs / 2)
      await Promise.race([idle(), late.promise])
      clearTimeout(timer)
      clearTimeout(soon)
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
