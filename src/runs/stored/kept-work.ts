/**
 * Stored work: the common part of the hosts of runs and tasks. Each run or task has a document, a log, and a place among those
 * at work. This file knows which of them work in this process, and ends those whose worker is gone.
 *
 * @module
 */

import type { ServableError } from '../../base/errors.ts'
import { mayPass } from '../../stores/remote/patient.ts'
import type { LocalParts } from '../../stores/state.ts'
import type { Reader, Soon, Store, Transaction } from '../../stores/store.ts'
import type { Viewer } from './host.ts'
import { idsOf } from './record.ts'
import { createRecovery, type Recovery } from './recovery.ts'
import { nameWorker, processOf, type WorkerName } from './worker-name.ts'

/** What is kept of a thing. */
interface Kept {
  /** The identity that owns it; null where there was none: then it is everyone's who knows its id. */
  readonly owner: Viewer
  /** The worker that has, or had, it at work. */
  readonly instance: string
}

/** Where it is kept. */
export interface KeptWorkOptions {
  readonly store: Store
  /** Keeps the store open while something is at work. */
  readonly keepOpen?: LocalParts['keepOpen'] | undefined
}

/** What tells runs from tasks: `T` is what is kept, `W` what works on it. */
export interface WorkKind<T extends Kept, W> {
  readonly collection: string
  /** The collection of the places of those at work. */
  readonly atWork: string
  isAtWork(kept: T): boolean
  /** The log of a thing, by whose name all of its parts leave together. */
  logOf(id: string): string
  /** Asks who works on a thing to end. With a reason, the work fails. */
  stop(work: W, why?: unknown): void
  /** Others may take over what is at work here: what can go on there ends here. Absent: nothing can. */
  leave?(work: W): void
  /** Writes the end of a thing whose worker is gone. */
  conclude(tx: Transaction, id: string): void
  /** Told once that is written. */
  onConcluded?(id: string): void
  missing(): ServableError
}

/** Most things that may be written down although nobody began with them. */
const MAX_UNSURE = 10_000

/** Milliseconds for which whoever looks waits for a store that cannot be written. */
const END_PATIENCE_MS = 100

/** See the module's head. */
export class KeptWork<T extends Kept, W> {
  readonly worker: WorkerName
  /** Every look at the store comes after one of this, so that what the dead have left has ended before anything is read. */
  readonly recovery: Recovery
  readonly #store: Store
  readonly #keepOpen: LocalParts['keepOpen']
  readonly #kind: WorkKind<T, W>
  readonly #here = new Map<string, W>()
  /** What is being written down as being at work. */
  readonly #beginning = new Map<string, Promise<unknown>>()
  /** What may be written down so, though nobody began with it: the store did not say. */
  readonly #unsure = new Set<string>()

  constructor({ store, keepOpen }: KeptWorkOptions, kind: WorkKind<T, W>) {
    this.#store = store
    this.#keepOpen = keepOpen
    this.#kind = kind
    this.worker = nameWorker(store)
    this.recovery = createRecovery(store, {
      worker: this.worker,
      collection: kind.atWork,
      workerOf: (tx, id) => this.#workerOf(tx, id),
      end: (tx, id) => kind.conclude(tx, id),
      onEnded: id => kind.onConcluded?.(id),
    })
    store.onCall?.(() => void this.lookAfter())
    store.onLate?.(() => {
      for (const work of this.#here.values()) kind.leave?.(work)
    })
    store.onLost?.(why => {
      for (const work of this.#here.values()) kind.stop(work, why)
    })
  }

  /** Who works on a thing here. */
  get(id: string): W | undefined {
    return this.#here.get(id)
  }

  /** Writes that a thing is at work, and sets to work: nobody here finds it written and nobody at work. */
  async begin<R>(id: string, work: () => Promise<R>): Promise<R> {
    const beginning = work()
    this.#beginning.set(id, beginning)
    try {
      return await beginning
    } catch (error) {
      if (mayPass(error) && this.#unsure.size < MAX_UNSURE) this.#unsure.add(id)
      throw error
    } finally {
      if (this.#beginning.get(id) === beginning) this.#beginning.delete(id)
    }
  }

  /** Waits until nobody here is beginning with a thing. Never rejects: whoever began is told. */
  begun(id: string): Soon<void> {
    const done = () => {}
    return this.#beginning.get(id)?.then(done, done)
  }

  /** Work has begun; `onEnded` is told when it has ended and is not here any more. */
  add(id: string, work: W, { ended, onEnded }: { ended: Promise<void>; onEnded: () => void }): void {
    this.#here.set(id, work)
    const letGo = this.#keepOpen?.()
    void ended.then(() => {
      // The next work may have begun in the commit in which this one has ended.
      if (this.#here.get(id) === work) this.#here.delete(id)
      letGo?.()
      onEnded()
    })
  }

  /** Ends a thing: whoever works on it here is stopped, of any other the end is written. */
  async end(
    id: string,
    { stop, conclude }: { stop(work: W): Promise<void>; conclude(tx: Transaction): void },
  ): Promise<void> {
    const work = this.#here.get(id)
    if (work !== undefined) return stop(work)
    await this.#store.write(tx => {
      const worker = tx.call && this.#workerOf(tx, id)
      conclude(tx)
      if (worker !== undefined) tx.call?.(processOf(worker))
    })
    this.#kind.onConcluded?.(id)
  }

  /** Keeps a thing from leaving while it is used: whoever waits for it gets it, however little room there is. */
  async held<R>(id: string, use: () => Promise<R>): Promise<R> {
    const letGo = this.#store.hold?.(this.#kind.logOf(id))
    try {
      return await use()
    } finally {
      letGo?.()
    }
  }

  /** Looks after what the dead have left, and after those at work here that others have ended. Never rejects. */
  async lookAfter(): Promise<void> {
    const { logOf, stop } = this.#kind
    // A store that closed between two of its reads would be opened again by the next one.
    const letGo = this.#keepOpen?.()
    await this.recovery.lookAfter({
      ids: [...this.#here.keys()],
      logOf,
      stop: id => {
        const work = this.#here.get(id)
        if (work !== undefined) stop(work)
      },
    })
    await letGo?.()
  }

  look(id?: string): Soon<void> {
    const looked = this.recovery.look(id)
    return this.#unsure.size === 0 ? looked : this.#endUnsure(looked)
  }

  /** Ends what was written down as being at work here, and was never begun. If that cannot be written now, the next look does. */
  async #endUnsure(looked: Soon<void>): Promise<void> {
    await looked
    try {
      for (const id of [...this.#unsure]) {
        await this.begun(id)
        const isEnded =
          !this.#here.has(id) && (await this.#store.write(tx => this.#endIn(tx, id), END_PATIENCE_MS))
        if (this.#unsure.delete(id) && isEnded) this.#kind.onConcluded?.(id)
      }
    } catch (error) {
      if (!mayPass(error)) throw error
    }
  }

  /** Ends a thing that is this worker's; false, and nothing is written, if it is not, or not at work. */
  #endIn(tx: Transaction, id: string): boolean {
    if (this.#workerOf(tx, id) !== this.worker.own) return false
    this.#kind.conclude(tx, id)
    return true
  }

  /** Who has a thing at work; undefined for one that is not. */
  #workerOf(tx: Reader, id: string): string | undefined {
    const kept = tx.get<T>(this.#kind.collection, id)?.value
    return kept !== undefined && this.#kind.isAtWork(kept) ? kept.instance : undefined
  }

  /** Throws what is said of a thing that is missing, where it is, and where it is another one's. */
  find(tx: Reader, id: string, viewer: Viewer): T {
    const kept = this.lookUp(tx, id)
    if (kept !== undefined && (kept.owner === null || kept.owner === viewer)) return kept
    throw this.#kind.missing()
  }

  /** A thing as it is by now: gone when its time has come. */
  lookUp(tx: Reader, id: string): T | undefined {
    const { value, expiresAt = Number.POSITIVE_INFINITY } = tx.get<T>(this.#kind.collection, id) ?? {}
    return expiresAt <= tx.now ? undefined : value
  }

  /** Those that a reference out of the log may stand for, whoever's they are. */
  async findAll(ref: string): Promise<readonly T[]> {
    const ids = await this.#store.read(tx => idsOf(tx, this.#kind.collection, ref))
    for (const id of ids) await this.look(id)
    return this.#store.read(tx => ids.flatMap(id => this.lookUp(tx, id) ?? []))
  }
}
