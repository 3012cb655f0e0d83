/**
 * The life of a handler. It begins with the first request or with a server, and ends with the server.
 *
 * @module
 */

import { unrefed } from '../base/wake.ts'
import { LOOK_MS } from '../stores/presence.ts'
import type { LocalParts } from '../stores/state.ts'
import type { WorkingRuns } from './stored/working.ts'

/** Ends what was begun: whoever serves has stopped. */
export type End = () => Promise<void>

/** What a life needs. */
export interface LifeOptions {
  /** What keeps the state; undefined where that is not in this process. */
  readonly state: LocalParts | undefined
  readonly working: WorkingRuns
  /** Writes what waits to be written, when the last server ends. */
  readonly flush: () => Promise<void>
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
  /**
   * Is done each {@link LOOK_MS} milliseconds while a server serves and others may use the state at the same time. Where none serves, it is
   * done with requests, as often at most.
   */
  regularly(work: () => void): void
  /** Begins with each server, and ends with it, or when it begins to close: by calling what it gives, perhaps twice. */
  whileServing(work: () => () => void): void
  /** Servers begin to close: ends what is done while they serve. */
  rest(): void
  /** A request comes. Nothing that it needs is missing from here: what cannot be opened is told by whatever needs it. */
  onRequest(isIsolated: boolean): void
  /** Whether the state can be read and written now. What is kept elsewhere can. */
  isReady(): Promise<boolean>
  /** A server begins: opens the state and keeps it open until it ends. Rejects with `invalid_options` where that cannot be. */
  begin(): Promise<End>
}

/** Milliseconds for which a state that does not answer is not yet said to be unready. */
const READY_PATIENCE_MS = 500

/** Milliseconds for which a server that begins waits for its state. */
const BEGIN_PATIENCE_MS = 10_000

/** Makes a {@link Life}. */
export function createLife({ state, working, flush, onError }: LifeOptions): Life {
  const works: (() => void)[] = []
  const regularWorks: (() => void)[] = []
  const servingWorks: (() => () => void)[] = []
  const ends = new Set<() => void>()
  // In memory there is nothing to open, and nothing is left of those before.
  let hasBegun = state?.isVolatile !== false
  let opening: Promise<boolean> | undefined
  let told: string | undefined
  let servers = 0
  let lookedAt = 0

  const open = async (patienceMs?: number) => {
    await state?.store.read(() => {}, patienceMs)
    if (hasBegun) return
    hasBegun = true
    for (const work of works) work()
  }
  /** Whether that can be done with the state. Why not is told once, until it can. */
  const can = async (use: () => unknown): Promise<boolean> => {
    try {
      await use()
      told = undefined
      return true
    } catch (error) {
      if (String(error) !== told) onError(error)
      told = String(error)
      return false
    }
  }
  const look = () => {
    lookedAt = performance.now()
    for (const work of regularWorks) work()
  }

  return {
    atBeginning: work => void works.push(work),
    regularly: work => void regularWorks.push(work),
    whileServing: work => void servingWorks.push(work),
    rest() {
      for (const end of ends) end()
      ends.clear()
    },
    onRequest(isIsolated) {
      if (isIsolated) state?.confine?.()
      if (!hasBegun) {
        if (opening === undefined)
          opening = can(open).finally(() => {
            opening = undefined
          })
        // In a function, or in a server of others, nobody says that it serves.
      } else if (servers === 0 && state?.store.isShared && performance.now() - lookedAt >= LOOK_MS) look()
    },
    isReady: () => can(() => state?.store.write(() => {}, READY_PATIENCE_MS)),
    async begin() {
      await open(BEGIN_PATIENCE_MS)
      servers++
      const letGo = state?.retain?.()
      const timer = state?.store.isShared ? unrefed(setInterval(look, LOOK_MS)) : undefined
      const ended = servingWorks.map(work => work())
      for (const end of ended) ends.add(end)
      const close = async () => {
        await working.idle()
        if (timer !== undefined) clearInterval(timer)
        if (--servers === 0) await flush()
        await letGo?.()
      }
      return async () => {
        for (const end of ended) {
          end()
          ends.delete(end)
        }
        await working.kept()
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
export async function beginLife(handler: object): Promise<End> {
  const begin = (handler as { readonly [BEGIN]?: Life['begin'] })[BEGIN]
  return begin === undefined ? async () => {} : begin()
}
