/**
 * Retries for a store that sometimes cannot be read or written, because another process writes or a disk fails. Works are tried
 * again until their timeout, and do not block other code. Where several writers are at work, writes within a few milliseconds share
 * one commit.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import { PATIENCE_MS, type Reader, type Soon, type Store, type Transaction } from '../store.ts'

/** The outcome of one work of a commit. */
export type WorkOutcome = { readonly value: unknown } | { readonly error: unknown }

/** A work of a commit. */
export type Work = (tx: Transaction) => unknown

/** A store that tries each operation once: it answers at once or throws, even if another process is writing. */
export interface SingleTryStore {
  read<T>(work: (tx: Reader) => T): T
  /** Runs works as one commit. If a work throws, only its own writes are undone. Throws if nothing was written. */
  commit(works: readonly Work[]): readonly WorkOutcome[]
}

/** Options of the retries. */
export interface RetryOptions {
  /**
   * Milliseconds after a commit of several works in which further writes are gathered: then several writers are at work. Default:
   * 0, which writes each at once.
   */
  readonly gatherMs?: number
  /**
   * Calls `work` at the end of the turn of the event loop. After a commit of one work, further writes are gathered until then, so a
   * writer that is alone does not wait. Default: after `gatherMs`.
   */
  readonly atEndOfTurn?: (work: () => void) => void
}

/** A store with retries. */
export interface Retrying extends Pick<Store, 'read' | 'write'> {
  /** Writes the waiting works at once. Works that cannot be written, and waiting reads, fail with `state_unavailable`. */
  flush(): void
}

/** Milliseconds between two tries. */
const RETRY_MS = 5
const MAX_RETRY_MS = 25

/** Most waiting works. Further works fail with `state_unavailable` at once. */
const MAX_WAITING = 10_000

/** Most works of one commit. A commit blocks everything else. */
const MAX_GATHERED = 256

/** A work that waits to be written. */
interface WaitingWork {
  readonly work: Work
  /** The time at which it fails. */
  readonly until: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Adds retries to a store. */
export function createRetrying(store: SingleTryStore, options: RetryOptions = {}): Retrying {
  const retrying = new RetryingStore(store, options)
  return {
    read: (work, patienceMs) => retrying.read(work, patienceMs),
    write: (work, patienceMs) => retrying.write(work, patienceMs),
    flush: () => retrying.flush(),
  }
}

class RetryingStore implements Retrying {
  readonly #store: SingleTryStore
  readonly #gatherMs: number
  readonly #atEndOfTurn: RetryOptions['atEndOfTurn']
  /** In the order of the calls. */
  #waiting: WaitingWork[] = []
  /** Runs while works wait. Also runs after a commit, to gather further writes. */
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether further writes are gathered until the end of the turn. */
  #gathersTurn = false
  #tries = 0
  /** Number of flushes. A read that waits during a flush fails. */
  #flushes = 0

  constructor(store: SingleTryStore, { gatherMs = 0, atEndOfTurn }: RetryOptions) {
    this.#store = store
    this.#gatherMs = gatherMs
    this.#atEndOfTurn = atEndOfTurn
  }

  read<T>(work: (tx: Reader) => T, patienceMs: number = PATIENCE_MS): Soon<T> {
    try {
      return this.#store.read(work)
    } catch (error) {
      if (!isWorthATry(error)) throw error
      return this.#readLater(work, error, performance.now() + patienceMs)
    }
  }

  async #readLater<T>(work: (tx: Reader) => T, failure: unknown, until: number): Promise<T> {
    let last = failure
    const flushes = this.#flushes
    for (let tries = 0; performance.now() < until; tries++) {
      await new Promise(resolve => setTimeout(resolve, retryIn(tries)))
      if (flushes !== this.#flushes) break
      try {
        return this.#store.read(work)
      } catch (error) {
        if (!isWorthATry(error)) throw error
        last = error
      }
    }
    throw unavailable(last)
  }

  write<T>(work: (tx: Transaction) => T, patienceMs: number = PATIENCE_MS): Soon<T> {
    if (this.#timer === undefined && !this.#gathersTurn) {
      const [outcome] = this.#tryCommit([work]) ?? []
      if (outcome !== undefined && !('error' in outcome && isWorthATry(outcome.error))) {
        this.#gather(1)
        if ('error' in outcome) throw outcome.error
        return outcome.value as T
      }
    }
    if (this.#waiting.length >= MAX_WAITING) throw unavailable(new Error('Too many writes are waiting'))
    return new Promise<T>((resolve, reject) => {
      const until = performance.now() + patienceMs
      this.#waiting.push({ work, until, resolve: resolve as WaitingWork['resolve'], reject })
      if (!this.#gathersTurn) this.#turnIn(retryIn(0))
    })
  }

  flush(): void {
    this.#flushes++
    while (this.#waiting.length > 0) {
      const before = this.#waiting.length
      this.#turn()
      if (this.#waiting.length < before) continue
      for (const { reject } of this.#waiting.splice(0)) reject(unavailable(this.#failure))
    }
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Gathers further writes after a commit of so many works. */
  #gather(works: number): void {
    if (this.#gatherMs === 0) return
    if (works > 1 || this.#atEndOfTurn === undefined) return this.#turnIn(this.#gatherMs)
    this.#gathersTurn = true
    this.#atEndOfTurn(() => {
      this.#gathersTurn = false
      if (this.#timer === undefined) this.#turn()
    })
  }

  #turnIn(ms: number): void {
    this.#timer ??= setTimeout(this.#turn, ms)
  }

  /** A bound function, for a timer. */
  readonly #turn = (): void => {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting.splice(0, MAX_GATHERED)
    if (batch.length === 0) return
    const outcomes = this.#tryCommit(batch.map(({ work }) => work))
    this.#tries = outcomes === undefined ? this.#tries + 1 : 0
    const again = batch.filter(
      (waiting, index) => !settle(waiting, outcomes?.[index] ?? { error: this.#failure }),
    )
    this.#waiting.unshift(...again)
    if (again.length > 0) this.#giveUp()
    if (again.length > 0) this.#turnIn(retryIn(this.#tries))
    else if (this.#waiting.length > 0) this.#turnIn(this.#gatherMs)
    else this.#gather(batch.length)
  }

  /** Fails works whose timeout has passed, both those of the last commit and those behind it. */
  #giveUp(): void {
    const now = performance.now()
    const isLate = ({ until }: WaitingWork) => until <= now
    const late = this.#waiting.filter(isLate)
    if (late.length === 0) return
    this.#waiting = this.#waiting.filter(waiting => !isLate(waiting))
    for (const { reject } of late) reject(unavailable(this.#failure))
  }

  /** The reason of the last failed write. */
  #failure: unknown

  /** Undefined if nothing was written. */
  #tryCommit(works: readonly Work[]): readonly WorkOutcome[] | undefined {
    try {
      return this.#store.commit(works)
    } catch (error) {
      this.#failure = error
      // Another try would give the same error.
      return isWorthATry(error) ? undefined : works.map(() => ({ error }))
    }
  }
}

/** Settles a waiting work. Returns false if it must be tried again. */
function settle({ resolve, reject }: WaitingWork, outcome: WorkOutcome): boolean {
  if ('value' in outcome) resolve(outcome.value)
  else if (isWorthATry(outcome.error)) return false
  else reject(outcome.error)
  return true
}

/** Milliseconds until the next try. They grow, and are random so that two processes differ. */
function retryIn(tries: number): number {
  return Math.min(RETRY_MS * 2 ** tries, MAX_RETRY_MS) * (0.5 + Math.random())
}

/** Errors of wrong code or damaged data. A store does not throw these. */
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError]

/** Whether the error is a temporary one of the store. Refusals and programming errors are permanent. */
export function mayPass(error: unknown): boolean {
  if (isServableError(error)) return error.code === 'state_unavailable'
  return !MISTAKES.some(kind => error instanceof kind)
}

/** Whether the next try may succeed while the caller waits. */
function isWorthATry(error: unknown): boolean {
  return mayPass(error) && !isLost(error)
}

const LOST = Symbol.for('servable.lost')

/**
 * The error of a store that is no longer the one that this process opened, for example because its file was replaced. Running
 * work can no longer be written there.
 */
export function lost(message: string, cause?: unknown): ServableError {
  const error = new ServableError('state_unavailable', message, { cause })
  return Object.defineProperty(error, LOST, { value: true })
}

/** Whether an error says that the store is lost to this process. */
export function isLost(error: unknown): boolean {
  return isServableError(error) && LOST in error
}

/** The error after the last try to reach a store. */
export function unavailable(cause: unknown): ServableError {
  if (isServableError(cause) && cause.code === 'state_unavailable') return cause
  return new ServableError('state_unavailable', 'The state cannot be reached: try again later', {
    cause,
  })
}
