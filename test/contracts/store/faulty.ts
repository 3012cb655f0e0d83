import { vi } from 'vitest'
import { createPatient, type Outcome } from '../../../src/state/patient.ts'
import type { NearStore, Reader, Store, Transaction } from '../../../src/state/store.ts'

/** Whether the store fails there: when it is read or written, at a call of a transaction, or when that is committed. */
export type Failing = (point: string) => boolean

/** A store that fails where it is told to, and writes nothing then. */
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
  const written = (work: (tx: Transaction) => unknown): Outcome => {
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
  const { read, write } = createPatient({
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

/** How often a store is at each point; from one of them on it fails for a while. */
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
    /** Points so far. */
    get count() {
      return count
    },
    /** Fails from that point on; `begun` is called when it does. */
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
 * The calls at which a store fails in turn: each of them, and each third where somebody's patience ends, which takes long to play.
 * `step`: of these each so many.
 */
export function callsOf(count: number, outageMs: number, step = 1): number[] {
  const every = step * (outageMs < 1000 ? 1 : 3)
  return Array.from({ length: Math.ceil(count / every) }, (_, index) => 1 + index * every)
}

/** A store that fails at one point of eight, the same ones for the same seed, until it is over. */
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

/** What a promise comes to while time is made to pass. */
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

/** Lets a minute pass. */
export async function passAMinute(): Promise<void> {
  await vi.advanceTimersByTimeAsync(60_000)
}
