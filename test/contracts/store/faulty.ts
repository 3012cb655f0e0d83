import { vi } from 'vitest'
import { createRetrying, type WorkOutcome } from '../../../src/stores/remote/retrying.ts'
import type { NearStore, Reader, Store, Transaction } from '../../../src/stores/store.ts'

/** Whether the store fails at a point: at a read or write, at a call of a transaction, or at its commit. */
export type Failing = (point: string) => boolean

/** A store that fails where it is told to. A failed write changes nothing. */
export function faultyStore(inner: NearStore, isFailing: Failing): Store {
  const strike = (point: string) => {
    if (isFailing(point)) throw new Error(`the disk is gone (${point})`)
  }
  const watched = <T extends Reader>(tx: T): T =>
    new Proxy(tx, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          strike(`before ${String(name)}`)
          const given: unknown = member.apply(target, args)
          strike(`after ${String(name)}`)
          return given
        }
      },
    })
  const written = (work: (tx: Transaction) => unknown): WorkOutcome => {
    try {
      const value = inner.transact(tx => {
        const result = work(watched(tx))
        strike('commit')
        return result
      })
      return { value }
    } catch (error) {
      return { error }
    }
  }
  const { read, write } = createRetrying({
    read(work) {
      strike('read')
      return inner.read(tx => work(watched(tx)))
    },
    commit(works) {
      strike('begin')
      return works.map(written)
    },
  })
  return Object.create(inner, { read: { value: read }, write: { value: write } })
}

/** Counts the points of a store. From a chosen point on, the store fails for a while. */
export function outages() {
  let count = 0
  let from = Number.POSITIVE_INFINITY
  let isOver = false
  let onFirst = () => {}
  return {
    failing: (_point: string): boolean => {
      if (++count < from || isOver) return false
      if (count === from) onFirst()
      return true
    },
    /** Number of points so far. */
    get count() {
      return count
    },
    /** Fails from that point on, and then calls `begun`. */
    begin(at: number, begun: () => void) {
      from = at
      onFirst = begun
    },
    end() {
      isOver = true
    },
  }
}

/**
 * The points at which a store fails in turn: all of them for a short outage. For one that exceeds a caller's patience it is
 * every third point, since such tests are slow. `step` takes only every nth of these.
 */
export function callsOf(count: number, outageMs: number, step = 1): number[] {
  const every = step * (outageMs < 1000 ? 1 : 3)
  return Array.from({ length: Math.ceil(count / every) }, (_, index) => 1 + index * every)
}

/** A store that fails at one point in eight until it is stopped. The same seed gives the same points. */
export function storms(seed: number) {
  let random = seed
  let isOver = false
  return {
    failing: (_point: string): boolean => {
      random = (random * 48_271) % 2_147_483_647
      return !isOver && random % 8 === 0
    },
    end() {
      isOver = true
    },
  }
}

/** Settles a promise while it advances the clock. */
export async function pass<T>(promise: Promise<T>): Promise<T> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  promise.then(done, done)
  for (let ms = 0; !isDone && ms < 200_000; ) {
    const step = ms < 2000 ? 50 : 1000
    await vi.advanceTimersByTimeAsync(step)
    ms += step
  }
  return promise
}

/** Advances the clock by a minute. */
export async function passAMinute(): Promise<void> {
  await vi.advanceTimersByTimeAsync(60_000)
}
