/** One call of a function, from its event to the moment from which its process may be frozen. */

import { deferred } from '../../base/wake.ts'
import type { Core } from '../../core/built-in.ts'

/** The part of Lambda's context that is used. */
export interface LambdaContext {
  /** Milliseconds until Lambda ends the call, and the process with it. */
  getRemainingTimeInMillis(): number
}

/** Milliseconds before Lambda's limit in which runs are cancelled and stored, and the answer ends. Of a short limit, a quarter. */
const LAST_MS = 1000

/** One call. */
export interface Invocation {
  /** Fires a second before Lambda's limit, and when Lambda takes no more of the answer. */
  readonly signal: AbortSignal
  /** Nobody reads the answer any more. */
  leave(): void
  /** Keeps the call open for work. */
  hold(work: Promise<unknown>): void
  /**
   * Resolves once nothing is at work: what was held, the runs of a handler, and runs of other processes that it took over. Or a
   * second before Lambda's limit, once the ends of runs that were cancelled then are stored.
   */
  settled(core: Core | undefined): Promise<void>
  /** Ends it. */
  end(): void
}

/** Makes an {@link Invocation}. */
export function createInvocation(context: LambdaContext): Invocation {
  const leaving = new AbortController()
  const late = deferred<void>()
  const held = new Set<Promise<unknown>>()
  const leftMs = context.getRemainingTimeInMillis()
  const timer = setTimeout(
    () => {
      leaving.abort()
      late.resolve()
    },
    leftMs - Math.min(LAST_MS, leftMs / 4),
  )
  const idle = async (core: Core | undefined) => {
    do {
      await Promise.allSettled(held)
      await core?.working.idle()
      // It may begin with runs of processes that are gone, and with runs that wait. What it cannot read now, the next call reads.
      await core?.host.lookAfter?.().catch(() => {})
    } while (held.size > 0 || (core?.working.size ?? 0) > 0)
  }
  return {
    signal: leaving.signal,
    leave: () => leaving.abort(),
    hold(work) {
      const forget = () => void held.delete(work)
      held.add(work)
      work.then(forget, forget)
    },
    settled: core => Promise.race([idle(core), late.promise.then(() => core?.working.kept())]),
    end: () => clearTimeout(timer),
  }
}
