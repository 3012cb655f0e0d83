/**
 * The lifecycle of a handler. It begins with the first request or with a server, and ends with the server.
 *
 * @module
 */

import { unrefed } from '../base/wake.ts'
import type { Alarm } from '../stores/alarm.ts'
import { LOOK_MS } from '../stores/presence.ts'
import type { LocalParts } from '../stores/state.ts'
import type { WorkingRuns } from './stored/working.ts'

/** Ends what `begin` started: the server has stopped. */
export type End = () => Promise<void>

/** The options of a {@link Life}. */
export interface LifeOptions {
  /** The state; undefined if it is not in this process. */
  readonly state: LocalParts | undefined
  /** Deletes what expires in the state, from the first server to the end of the last one. */
  readonly alarm?: Alarm | undefined
  readonly working: WorkingRuns
  /** Writes what waits to be written, when the last server ends. */
  readonly flush: () => Promise<void>
  /**
   * Called if the state cannot be opened, and again for another reason; and if it cannot be closed when nobody waits for that any
   * more.
   */
  readonly onError: (error: unknown) => void
}

/** Runs work when a handler starts, serves and ends. */
export interface Life {
  /** Runs `work` once the state is open, with the first request or before. */
  atBeginning(work: () => void): void
  /**
   * Runs `work` every {@link LOOK_MS} milliseconds while a server serves and others may use the state at the same time. Without a
   * server it runs with requests, at most as often.
   */
  regularly(work: () => void): void
  /** Runs `work` with each server. The returned function is called when the server ends or begins to close, perhaps twice. */
  whileServing(work: () => () => void): void
  /** Ends the work of `whileServing`, because servers begin to close. */
  rest(): void
  /** Called with each request. It does not wait: a state that cannot be opened fails where it is used. */
  onRequest(isIsolated: boolean): void
  /** Whether the state can be read and written now. True for a state that is kept elsewhere. */
  isReady(): Promise<boolean>
  /** Opens the state for a server, and keeps it open until it ends. Rejects with `invalid_options` if it cannot be opened. */
  begin(): Promise<End>
}

/** Milliseconds that `isReady` waits for the state. */
const READY_PATIENCE_MS = 500

/** Milliseconds that a server that begins waits for its state. */
const BEGIN_PATIENCE_MS = 10_000

/** Makes a {@link Life}. */
export function createLife({ state, alarm, working, flush, onError }: LifeOptions): Life {
  const works: (() => void)[] = []
  const regularWorks: (() => void)[] = []
  const servingWorks: (() => () => void)[] = []
  const ends = new Set<() => void>()
  // State in memory needs no opening and has nothing left from dead processes.
  let hasBegun = state?.isVolatile !== false
  let opening: Promise<boolean> | undefined
  let servers = 0
  let lookedAt = 0

  const can = reportingOnce(onError)
  const open = async (patienceMs?: number) => {
    await state?.store.read(() => {}, patienceMs)
    if (hasBegun) return
    hasBegun = true
    for (const work of works) work()
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
        // In a function, or in another framework's server, no server calls `begin`.
      } else if (servers === 0 && state?.store.isShared && performance.now() - lookedAt >= LOOK_MS) look()
    },
    isReady: () => can(() => state?.store.write(() => {}, READY_PATIENCE_MS)),
    async begin() {
      await open(BEGIN_PATIENCE_MS)
      servers++
      alarm?.start()
      const release = state?.retain?.()
      const timer = state?.store.isShared ? unrefed(setInterval(look, LOOK_MS)) : undefined
      const ended = servingWorks.map(work => work())
      for (const end of ended) ends.add(end)
      const close = async () => {
        await working.idle()
        if (timer !== undefined) clearInterval(timer)
        if (--servers === 0) {
          await alarm?.stop()
          await flush()
        }
        await release?.()
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

/** Makes a function that says whether the use of the state succeeds. An error is reported once, until a use succeeds. */
function reportingOnce(onError: LifeOptions['onError']): (use: () => unknown) => Promise<boolean> {
  let reported: string | undefined
  return async use => {
    try {
      await use()
      reported = undefined
      return true
    } catch (error) {
      if (String(error) !== reported) onError(error)
      reported = String(error)
      return false
    }
  }
}

const BEGIN = Symbol.for('servable.begin')

/** Lets servers reach the lifecycle of a handler. */
export function withLife<H extends object>(handler: H, life: Life): H {
  return Object.assign(handler, { [BEGIN]: life.begin })
}

/** Begins the lifecycle of a handler. Does nothing for other functions, such as one that wraps a handler. */
export async function beginLife(handler: object): Promise<End> {
  const begin = (handler as { readonly [BEGIN]?: Life['begin'] })[BEGIN]
  return begin === undefined ? async () => {} : begin()
}
