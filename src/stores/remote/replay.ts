/**
 * A store over a remote one, in which works stay synchronous. A work first runs on the known answers, and its other questions
 * are noted and answered with a guess. Then all answers are fetched as of one moment, and the work runs again, until it asks
 * nothing new. Its writes are one commit, which counts only if everything that the work read is unchanged. Otherwise the work
 * runs again.
 *
 * @module
 */

import { deferred } from '../../base/wake.ts'
import { Snapshot } from '../snapshot.ts'
import { REMOTE_PATIENCE_MS, type Reader, type Store, type Transaction } from '../store.ts'
import { Known } from './known.ts'
import { Pass } from './pass.ts'
import type { Commit, RemoteStore } from './remote.ts'
import { mayPass, unavailable, type Work, type WorkOutcome } from './retrying.ts'

/** Most runs of a work until all its answers are known. A work that reads a log to its end asks for twice as much each time. */
const MAX_PASSES = 64

/** Most waiting works. Further works fail with `state_unavailable` at once. */
const MAX_WAITING = 10_000

/** Most works of one commit. */
const MAX_GATHERED = 256

/** Milliseconds between two tries. */
const RETRY_MS = 5
const MAX_RETRY_MS = 100

/** Reads and writes of a remote store. */
export interface Replay extends Pick<Store, 'read' | 'write'> {
  read<T>(work: (tx: Reader) => T, patienceMs?: number): Promise<T>
  write<T>(work: (tx: Transaction) => T, patienceMs?: number): Promise<T>
  /** Fails waiting works and all later calls with `state_unavailable`. */
  close(): void
}

/** Creates the reads and writes of a remote store. */
export function createReplay(remote: RemoteStore): Replay {
  const store = new ReplayStore(remote)
  return {
    read: (work, patienceMs) => store.read(work, patienceMs),
    write: (work, patienceMs) => store.write(work, patienceMs),
    close: () => store.close(),
  }
}

/** A work that is being read. */
interface PendingWork {
  /** The time at which it fails. */
  readonly until: number
  /** Why the store did not answer yet, if it said so. */
  failure: unknown
}

/** A work that waits to be written. */
interface WaitingWrite extends PendingWork {
  readonly work: Work
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Whether its commit is on its way. Then only the store knows whether it is written. */
  isSent: boolean
}

/** Works that ran without a guess. */
interface Played {
  readonly pass: Pass
  readonly outcomes: readonly WorkOutcome[]
}

class ReplayStore {
  readonly #remote: RemoteStore
  readonly #waiting: WaitingWrite[] = []
  /** Writes that need only this ask the store nothing. */
  readonly #known = new Known()
  #isWriting = false
  #isClosed = false

  constructor(remote: RemoteStore) {
    this.#remote = remote
  }

  read<T>(work: (tx: Reader) => T, patienceMs: number = REMOTE_PATIENCE_MS): Promise<T> {
    const { promise, resolve, reject } = deferred<T>()
    const reading: PendingWork = { until: performance.now() + patienceMs, failure: undefined }
    onLate(promise, patienceMs, () => reject(tooLate(reading)))
    this.#read(work, reading).then(resolve, reject)
    return promise
  }

  async #read<T>(work: (tx: Reader) => T, reading: PendingWork): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        const [outcome] = (await this.#play([work])).outcomes
        return given(outcome) as T
      } catch (error) {
        if (!(error instanceof Unreached)) throw error
        if (!mayPass(error.cause)) throw error.cause
        if (this.#isClosed || performance.now() >= reading.until) throw unavailable(error.cause)
        reading.failure = error.cause
      }
      await pause(tries)
    }
  }

  write<T>(work: (tx: Transaction) => T, patienceMs: number = REMOTE_PATIENCE_MS): Promise<T> {
    if (this.#isClosed) return Promise.reject(unavailable(new Error('The store is closed')))
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(unavailable(new Error('Too many writes are waiting')))
    }
    const { promise, resolve, reject } = deferred<T>()
    const until = performance.now() + patienceMs
    const waiting: WaitingWrite = {
      ...{ work, until, resolve: resolve as WaitingWrite['resolve'], reject },
      ...{ failure: undefined, isSent: false },
    }
    this.#waiting.push(waiting)
    onLate(promise, patienceMs, () => {
      if (!waiting.isSent) reject(tooLate(waiting))
    })
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  close(): void {
    this.#isClosed = true
  }

  /**
   * Writes one commit after another. A work sees the writes of the works before it, in lists and counts too. Works are
   * written in the order of the calls.
   */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Works of the same turn share a commit.
    await undefined
    while (this.#waiting.length > 0) await this.#settle(this.#waiting.splice(0, MAX_GATHERED))
    this.#isWriting = false
  }

  /** Runs works and writes their changes, until that succeeds or the works time out. Never rejects. */
  async #settle(given: readonly WaitingWrite[]): Promise<void> {
    let batch = given
    for (let tries = 0; batch.length > 0; tries++) {
      const failure = await this.#try(batch, tries === 0)
      if (failure === undefined) return
      if (failure.cause instanceof EndlessWorks && batch.length > 1) return this.#settleHalves(batch)
      if (!mayPass(failure.cause)) return this.#refuse(batch, failure.cause)
      for (const waiting of batch) waiting.failure = failure.cause
      batch = this.#inTime(batch, failure.cause)
      if (batch.length > 0) await pause(tries)
    }
  }

  /**
   * Returns why nothing was written. Undefined if it was written and all works are settled. With `trusts`, the works may use what is
   * known here.
   */
  async #try(batch: readonly WaitingWrite[], trusts: boolean): Promise<Unreached | undefined> {
    try {
      const works = batch.map(({ work }) => work)
      const by = this.#remote.instance
      const { pass, outcomes } = await this.#playToWrite(works, trusts)
      // A work whose caller has already got an error must not be written.
      if (this.#hasLate(batch)) return new Unreached(new Error(LATE))
      // A work without reads and writes asks whether the store can be written.
      const writes = pass.hasWritten || pass.asks.length === 0
      const isWritten = !writes || (await this.#commit(pass.commit({ id: crypto.randomUUID(), by }), batch))
      if (!isWritten) return new Unreached(new Error('The data changed during every attempt'))
      for (const [index, waiting] of batch.entries()) settle(waiting, outcomes[index])
      return undefined
    } catch (error) {
      return error instanceof Unreached ? error : new Unreached(error)
    }
  }

  /** Works that ask too long together may not alone: each asks anew what the writes of those before it lead to. */
  async #settleHalves(batch: readonly WaitingWrite[]): Promise<void> {
    const half = Math.ceil(batch.length / 2)
    await this.#settle(batch.slice(0, half))
    await this.#settle(batch.slice(half))
  }

  /** Another try would fail too. But a single work may have been too large for the others, so each is tried alone. */
  async #refuse(batch: readonly WaitingWrite[], failure: unknown): Promise<void> {
    if (batch.length === 1) batch[0]?.reject(failure)
    else for (const waiting of batch) await this.#settle([waiting])
  }

  #hasLate(batch: readonly WaitingWrite[]): boolean {
    const now = performance.now()
    return batch.some(({ until }) => until <= now)
  }

  /** Returns the works that have not timed out. All others fail. */
  #inTime(batch: readonly WaitingWrite[], failure: unknown): readonly WaitingWrite[] {
    const now = performance.now()
    const isLate = ({ until }: WaitingWrite) => this.#isClosed || until <= now
    for (const waiting of batch) if (isLate(waiting)) waiting.reject(unavailable(failure))
    return batch.filter(waiting => !isLate(waiting))
  }

  /** Repeats the same commit while its outcome is unknown. Throws {@link Unreached}. */
  async #commit(commit: Commit, batch: readonly WaitingWrite[]): Promise<boolean> {
    for (const waiting of batch) waiting.isSent = true
    for (let tries = 0; ; tries++) {
      try {
        const committed = await this.#remote.commit(commit)
        if (committed === undefined) this.#known.forget(commit)
        else this.#known.wrote(commit, committed.version)
        for (const waiting of batch) waiting.isSent = committed !== undefined
        return committed !== undefined
      } catch (error) {
        if (!mayPass(error) || this.#inTime(batch, error).length === 0) throw new Unreached(error)
      }
      await pause(tries)
    }
  }

  /**
   * Runs works that may write. Without a write, no commit checks what is known here, so the store answers all of it. So it does
   * where a work throws: counts are never checked, and nothing is refused because of an old one.
   */
  async #playToWrite(works: readonly Work[], trusts: boolean): Promise<Played> {
    const played = await this.#play(works, trusts ? this.#known : undefined)
    const isChecked = played.pass.hasWritten && played.outcomes.every(outcome => !('error' in outcome))
    return played.pass.isTrusting && !isChecked ? this.#play(works) : played
  }

  /** Runs works one after another until no answer is guessed. Throws {@link Unreached}. */
  async #play(works: readonly Work[], known?: Known): Promise<Played> {
    const now = this.#remote.now()
    let snapshot = new Snapshot()
    for (let passes = 0; passes < MAX_PASSES; passes++) {
      const pass = new Pass(snapshot, now, known)
      const outcomes = works.map(work => pass.attempt(work))
      // A work without questions still confirms that the store can be reached. One that trusts is confirmed later.
      const isReached = passes > 0 || pass.hasWritten || pass.isTrusting
      if (!pass.hasMissed && isReached) return { pass, outcomes }
      const { asks } = pass
      const askedAt = performance.now()
      const answers = await this.#look(asks)
      known?.learn(asks, answers, askedAt)
      snapshot = new Snapshot(asks, answers)
    }
    throw new Unreached(new EndlessWorks('A transaction reads other data in every attempt'))
  }

  async #look(asks: Parameters<RemoteStore['look']>[0]): ReturnType<RemoteStore['look']> {
    try {
      return await this.#remote.look(asks)
    } catch (error) {
      throw new Unreached(error)
    }
  }
}

/** Works that ask for more after each answer. */
class EndlessWorks extends Error {}

/** The store could not be reached. The class separates this from errors of works. */
class Unreached extends Error {
  constructor(cause: unknown) {
    super('The store could not be reached', { cause })
  }
}

function settle({ resolve, reject }: WaitingWrite, outcome: WorkOutcome | undefined): void {
  if (outcome !== undefined && 'error' in outcome) reject(outcome.error)
  else resolve(outcome?.value)
}

function given(outcome: WorkOutcome | undefined): unknown {
  if (outcome !== undefined && 'error' in outcome) throw outcome.error
  return outcome?.value
}

/** The message for a work that timed out. */
const LATE = 'The state did not answer in time'

/** The error of a work whose time is over. It is made only then: an error per write is a tenth of a run's work. */
const tooLate = ({ failure }: PendingWork) => unavailable(failure ?? new Error(LATE))

/**
 * Calls `late` after so many milliseconds, unless the promise is settled by then. It waits in two halves: a process that was
 * frozen for longer has half of the time left to take the answers that came meanwhile.
 */
function onLate(promise: Promise<unknown>, ms: number, late: () => void): void {
  let timer = setTimeout(() => {
    timer = setTimeout(late, ms / 2)
  }, ms / 2)
  const settled = () => clearTimeout(timer)
  promise.then(settled, settled)
}

/** Waits longer and longer, with randomness so that two processes differ. */
function pause(tries: number): Promise<void> {
  const ms = Math.min(RETRY_MS * 2 ** tries, MAX_RETRY_MS) * (0.5 + Math.random())
  return new Promise(resolve => setTimeout(resolve, ms))
}
