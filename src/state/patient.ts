/**
 * Patience with a store that now and then cannot be read or written: another process writes, a disk fails. What was asked of it
 * is tried again while everything else goes on, for as long as whoever asked has patience. What many ask for within a few
 * milliseconds is written as one commit.
 *
 * @module
 */

import { isServableError, ServableError } from '../errors.ts'
import { PATIENCE_MS, type Reader, type Soon, type Store, type Transaction } from './store.ts'

/** What one of several works of a commit came to. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown }

/** A work of a commit. */
export type Work = (tx: Transaction) => unknown

/** A store that answers at once, or throws: also where another one is writing. */
export interface Impatient {
  read<T>(work: (tx: Reader) => T): T
  /** Runs works as one commit. What one of them throws undoes that one alone; throws where none of them is written. */
  commit(works: readonly Work[]): readonly Outcome[]
}

/** How patient it is. */
export interface PatientOptions {
  /** Milliseconds after a commit in which what is written next is gathered. Default: 0: each is written at once. */
  readonly gatherMs?: number
}

/** A store with patience. */
export interface Patient extends Pick<Store, 'read' | 'write'> {
  /** Writes what waits, at once; what cannot be written, and what waits to be read, is `state_unavailable`. */
  flush(): void
}

/** Milliseconds between two tries. */
const RETRY_MS = 5
const MAX_RETRY_MS = 25

/** Works that may wait; more are `state_unavailable` at once. */
const MAX_WAITING = 10_000

/** Works of one commit: so long everything else waits. */
const MAX_GATHERED = 256

/** A work that waits to be written. */
interface Waiting {
  readonly work: Work
  /** When it is given up. */
  readonly until: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Gives a store patience. */
export function createPatient(store: Impatient, { gatherMs = 0 }: PatientOptions = {}): Patient {
  const patient = new PatientStore(store, gatherMs)
  return {
    read: (work, patienceMs) => patient.read(work, patienceMs),
    write: (work, patienceMs) => patient.write(work, patienceMs),
    flush: () => patient.flush(),
  }
}

class PatientStore implements Patient {
  readonly #store: Impatient
  readonly #gatherMs: number
  /** In the order in which they were asked for. */
  #waiting: Waiting[] = []
  /** Runs while something waits, and after a commit: what comes now is gathered. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #tries = 0
  /** How often it was flushed: what waits to be read is not read after that. */
  #flushes = 0

  constructor(store: Impatient, gatherMs: number) {
    this.#store = store
    this.#gatherMs = gatherMs
  }

  read<T>(work: (tx: Reader) => T, patienceMs: number = PATIENCE_MS): Soon<T> {
    try {
      return this.#store.read(work)
    } catch (error) {
      if (!mayPass(error)) throw error
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
        if (!mayPass(error)) throw error
        last = error
      }
    }
    throw unavailable(last)
  }

  write<T>(work: (tx: Transaction) => T, patienceMs: number = PATIENCE_MS): Soon<T> {
    if (this.#timer === undefined) {
      const [outcome] = this.#tryCommit([work]) ?? []
      if (outcome !== undefined && !('error' in outcome && mayPass(outcome.error))) {
        if (this.#gatherMs > 0) this.#turnIn(this.#gatherMs)
        if ('error' in outcome) throw outcome.error
        return outcome.value as T
      }
    }
    if (this.#waiting.length >= MAX_WAITING) throw unavailable(new Error('Too many writes are waiting'))
    return new Promise<T>((resolve, reject) => {
      const until = performance.now() + patienceMs
      this.#waiting.push({ work, until, resolve: resolve as Waiting['resolve'], reject })
      this.#turnIn(retryIn(0))
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

  #turnIn(ms: number): void {
    this.#timer ??= setTimeout(this.#turn, ms)
  }

  /** Bound, for a timer. */
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
    else if (this.#waiting.length > 0 || this.#gatherMs > 0) this.#turnIn(this.#gatherMs)
  }

  /** Refuses what has waited for as long as it may, whether it was in the last commit or stands behind it. */
  #giveUp(): void {
    const now = performance.now()
    const isLate = ({ until }: Waiting) => until <= now
    const late = this.#waiting.filter(isLate)
    if (late.length === 0) return
    this.#waiting = this.#waiting.filter(waiting => !isLate(waiting))
    for (const { reject } of late) reject(unavailable(this.#failure))
  }

  /** Why something could not be written last. */
  #failure: unknown

  /** Undefined where nothing is written. */
  #tryCommit(works: readonly Work[]): readonly Outcome[] | undefined {
    try {
      return this.#store.commit(works)
    } catch (error) {
      this.#failure = error
      // It will be no other the next time.
      return mayPass(error) ? undefined : works.map(() => ({ error }))
    }
  }
}

/** Tells whoever waits what came of it; false where it is to be tried again. */
function settle({ resolve, reject }: Waiting, outcome: Outcome): boolean {
  if ('value' in outcome) resolve(outcome.value)
  else if (mayPass(outcome.error)) return false
  else reject(outcome.error)
  return true
}

/** Milliseconds to the next try: more and more, and never the same for two processes. */
function retryIn(tries: number): number {
  return Math.min(RETRY_MS * 2 ** tries, MAX_RETRY_MS) * (0.5 + Math.random())
}

/** What a store does not throw, but code that is wrong, or reads what is damaged. */
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError]

/** Whether a throw is the store's, and may pass: refusals and mistakes do not. */
export function mayPass(error: unknown): boolean {
  if (isServableError(error)) return error.code === 'state_unavailable'
  return !MISTAKES.some(kind => error instanceof kind)
}

/** The error of a store that could not be reached for so long. */
export function unavailable(cause: unknown): ServableError {
  if (isServableError(cause) && cause.code === 'state_unavailable') return cause
  return new ServableError('state_unavailable', 'The state cannot be reached: try again later', {
    cause,
  })
}
