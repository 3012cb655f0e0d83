/**
 * The life of a handler beside its requests: it begins with the first one, or with a server, and ends with the server.
 *
 * @module
 */

import type { LocalState } from '../state/state.ts'
import { breathe } from '../wake.ts'
import type { WorkingRuns } from './working.ts'

/** Ends what was begun: whoever serves has stopped. */
export type End = () => Promise<void>

/** What a life needs. */
export interface LifeOptions {
  /** What keeps the state; undefined where that is not in this process. */
  readonly state: LocalState | undefined
  readonly working: WorkingRuns
  /** Writes what waits to be written. */
  readonly flush: () => void
  /**
   * Told of a state that cannot be opened, and again where that is for another reason; and of one that cannot be closed when nobody
   * waits for that any more.
   */
  readonly onError: (error: unknown) => void
}

/** See the module's head. */
export interface Life {
  /** Is done once the state is open, with the first request or before. */
  atBeginning(work: () => void): void
  /** A request comes. Nothing that it needs is missing from here: what cannot be opened is told by whatever needs it. */
  onRequest(isIsolated: boolean): void
  /** Whether the state can be used. What is kept elsewhere is there. */
  isReady(): boolean
  /** A server begins: opens the state and keeps it open until it ends. Throws `invalid_options` where that cannot be. */
  begin(): End
}

/** Makes a {@link Life}. */
export function createLife({ state, working, flush, onError }: LifeOptions): Life {
  const works: (() => void)[] = []
  // In memory there is nothing to open, and nothing is left of those before.
  let hasBegun = state === undefined || state.isVolatile
  let told: string | undefined

  const open = () => {
    state?.store.transact(() => {})
    if (hasBegun) return
    hasBegun = true
    for (const work of works) work()
  }
  /** Whether that can be done with the state. Why not is told once, until it can. */
  const can = (use: () => void): boolean => {
    try {
      use()
      told = undefined
      return true
    } catch (error) {
      if (String(error) !== told) onError(error)
      told = String(error)
      return false
    }
  }

  return {
    atBeginning: work => void works.push(work),
    onRequest(isIsolated) {
      if (isIsolated) state?.confine?.()
      if (!hasBegun) can(open)
    },
    isReady: () => can(() => state?.store.transact(tx => void tx.count('health'))),
    begin() {
      open()
      const letGo = state?.retain?.()
      if (letGo === undefined) return async () => {}
      const close = async () => {
        await working.idle()
        // Whoever reads a run keeps its end in the same turn.
        await breathe()
        flush()
        letGo()
      }
      return async () => {
        await breathe()
        const closed = close()
        // Runs in the background go on, and the state stays open for them.
        if (working.size > 0) void closed.catch(onError)
        else await closed
      }
    },
  }
}

const BEGIN = Symbol.for('servable.begin')

/** Lets servers reach the life of a handler. */
export function withLife<H extends object>(handler: H, life: Life): H {
  return Object.assign(handler, { [BEGIN]: life.begin })
}

/** Begins the life of a handler; nothing where it is other code's, such as a function around a handler. */
export function beginLife(handler: object): End {
  const begin = (handler as { readonly [BEGIN]?: Life['begin'] })[BEGIN]
  return begin === undefined ? async () => {} : begin()
}
