/**
 * The common part of the hosts of runs and tasks. Each run or task has a document, a log, and a slot among those at work. This
 * file tracks which of them this process works on, and ends those whose worker is gone.
 *
 * @module
 */

import type { ServableError } from '../../base/errors.ts'
import { mayPass } from '../../stores/remote/retrying.ts'
import type { LocalParts } from '../../stores/state.ts'
import type { Reader, Soon, Store, Transaction } from '../../stores/store.ts'
import type { Viewer } from './host.ts'
import { idsOf } from './record.ts'
import { buryPatienceOf, createRecovery, type Recovery } from './recovery.ts'
import { nameWorker, processOf, type WorkerName } from './worker-name.ts'

/** The stored document of a run or task. */
export interface StoredDocument {
  /** The identity that owns it. Null if there was none: then every caller that knows its id has access. */
  readonly owner: Viewer
  /** The worker that has, or had, it at work. */
  readonly instance: string
}

/** The store of the work. */
export interface StoredWorkOptions {
  readonly store: Store
  /** Keeps the store open while something is at work. */
  readonly keepOpen?: LocalParts['keepOpen'] | undefined
}

/** The differences between runs and tasks. `T` is the stored document, `W` the work in this process. */
export interface StoredWorkKind<T extends StoredDocument, W> {
  readonly collection: string
  /** The collection of slots of those at work. */
  readonly atWork: string
  isAtWork(kept: T): boolean
  /** The name of the log, under which all parts are deleted together. */
  logOf(id: string): string
  /** Asks the work to end. With a reason, it fails. */
  stop(work: W, why?: unknown): void
  /** Ends work here that another worker may take over. Absent if none can be taken over. */
  leave?(work: W): void
  /** Writes the end of a run or task whose worker is gone, or the name of this worker, which goes on with it. */
  conclude(tx: Transaction, id: string): void
  /** Called once that is written. */
  onConcluded?(id: string): void
  missing(): ServableError
}

/** Milliseconds before work that could not be ended is tried again. */
const UNSURE_MS = 1000

/** The most ids of work that may be written although it never began. */
const MAX_UNSURE = 10_000

/** Tracks the runs or tasks of this process and ends those whose worker is gone. */
export class StoredWork<T extends StoredDocument, W> {
  readonly worker: WorkerName
  /** Every read of the store comes after a `look` of this, so that work of dead processes has ended before it is read. */
  readonly recovery: Recovery
  readonly #store: Store
  readonly #keepOpen: LocalParts['keepOpen']
  readonly #kind: StoredWorkKind<T, W>
  readonly #here = new Map<string, W>()
  /** Work that is being written as at work. */
  readonly #beginning = new Map<string, Promise<unknown>>()
  /** Work that may be written as this worker's although it never began here, because the store did not report the outcome. */
  readonly #unsure = new Set<string>()
  /** Ends them. Only one does at a time. */
  #endingUnsure: Promise<void> | undefined
  /** When that is tried again, by `performance.now()`. */
  #endsUnsureAt = 0

  constructor({ store, keepOpen }: StoredWorkOptions, kind: StoredWorkKind<T, W>) {
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
      onUnsure: id => this.#addUnsure(id),
    })
    store.onCall?.(() => void this.lookAfter())
    store.onLate?.(() => {
      for (const work of this.#here.values()) kind.leave?.(work)
    })
    store.onLost?.(why => {
      for (const work of this.#here.values()) kind.stop(work, why)
    })
  }

  /** Returns the work of an id here. */
  get(id: string): W | undefined {
    return this.#here.get(id)
  }

  /** Writes that work is at work, and starts it, so that no caller here sees it written but not started. */
  async begin<R>(id: string, work: () => Promise<R>): Promise<R> {
    const beginning = work()
    this.#beginning.set(id, beginning)
    try {
      return await beginning
    } catch (error) {
      if (mayPass(error)) this.#addUnsure(id)
      throw error
    } finally {
      if (this.#beginning.get(id) === beginning) this.#beginning.delete(id)
    }
  }

  /** Waits until no call of `begin` here is under way for the id. Never rejects: the caller of `begin` gets the error. */
  begun(id: string): Soon<void> {
    const done = () => {}
    return this.#beginning.get(id)?.then(done, done)
  }

  /**
   * Adds work that has begun. Calls `onEnded` after the work has ended and was removed. The store stays open until it is `done`, which
   * may be later.
   */
  add(
    id: string,
    work: W,
    { ended, done = ended, onEnded }: { ended: Promise<void>; done?: Promise<void>; onEnded: () => void },
  ): void {
    this.#here.set(id, work)
    const release = this.#keepOpen?.()
    void done.then(() => release?.())
    void ended.then(() => {
      // The next work may have begun in the commit that ended this one.
      if (this.#here.get(id) === work) this.#here.delete(id)
      onEnded()
    })
  }

  /** Ends a run or task: stops its work here, or writes the end of any other. */
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

  /** Keeps a run or task from eviction while it is used, so that callers that wait for it get it. */
  async held<R>(id: string, use: () => Promise<R>): Promise<R> {
    const release = this.#store.hold?.(this.#kind.logOf(id))
    try {
      return await use()
    } finally {
      release?.()
    }
  }

  /** Ends work that dead processes left, and stops work here that others have ended. Never rejects. */
  async lookAfter(): Promise<void> {
    const { logOf, stop } = this.#kind
    // Without this, a store that closed between two reads would be opened again by the second one.
    const release = this.#keepOpen?.()
    await this.recovery.lookAfter({
      ids: [...this.#here.keys()],
      logOf,
      stop: id => {
        const work = this.#here.get(id)
        if (work !== undefined) stop(work)
      },
    })
    await this.#endUnsure().catch(() => {})
    await release?.()
  }

  look(id?: string): Soon<void> {
    const looked = this.recovery.look(id)
    return this.#unsure.size === 0 ? looked : this.#lookAndEnd(looked)
  }

  async #lookAndEnd(looked: Soon<void>): Promise<void> {
    await looked
    await this.#endUnsure()
  }

  #addUnsure(id: string): void {
    if (this.#unsure.size < MAX_UNSURE) this.#unsure.add(id)
  }

  /**
   * Ends work that was written as this worker's but never began here, or goes on with it. If that cannot be written now, the next look
   * does it.
   */
  async #endUnsure(): Promise<void> {
    // What could not be ended waits: its writes must not stand before those that take over the runs of dead workers.
    if (this.#endingUnsure === undefined && performance.now() < this.#endsUnsureAt) return
    this.#endingUnsure ??= this.#endUnsureNow().finally(() => {
      this.#endingUnsure = undefined
      this.#endsUnsureAt = this.#unsure.size === 0 ? 0 : performance.now() + UNSURE_MS
    })
    return this.#endingUnsure
  }

  async #endUnsureNow(): Promise<void> {
    try {
      for (const id of [...this.#unsure]) {
        await this.begun(id)
        const isEnded =
          !this.#here.has(id) &&
          (await this.#store.write(tx => this.#endIn(tx, id), buryPatienceOf(this.#store)))
        if (isEnded !== undefined && this.#unsure.delete(id) && isEnded) this.#kind.onConcluded?.(id)
      }
    } catch (error) {
      if (!mayPass(error)) throw error
    }
  }

  /**
   * Ends this worker's work. Returns false, without writing, if it is another worker's or not at work, and undefined if that one is
   * dead: a write of this worker may still come.
   */
  #endIn(tx: Transaction, id: string): boolean | undefined {
    const name = this.#workerOf(tx, id)
    if (name !== undefined && !this.worker.isThere(name)) return undefined
    if (name !== this.worker.own) return false
    this.#kind.conclude(tx, id)
    return true
  }

  /** The worker of a run or task; undefined if it is not at work. */
  #workerOf(tx: Reader, id: string): string | undefined {
    const kept = tx.get<T>(this.#kind.collection, id)?.value
    return kept !== undefined && this.#kind.isAtWork(kept) ? kept.instance : undefined
  }

  /** Finds a run or task. Throws the kind's error if it is missing or another owner's. */
  find(tx: Reader, id: string, viewer: Viewer): T {
    const kept = this.lookUp(tx, id)
    if (kept !== undefined && (kept.owner === null || kept.owner === viewer)) return kept
    throw this.#kind.missing()
  }

  /** Reads a document; undefined once it has expired. */
  lookUp(tx: Reader, id: string): T | undefined {
    const { value, expiresAt = Number.POSITIVE_INFINITY } = tx.get<T>(this.#kind.collection, id) ?? {}
    return expiresAt <= tx.now ? undefined : value
  }

  /** Finds the runs or tasks of any owner that a reference in the log may stand for. */
  async findAll(ref: string): Promise<readonly T[]> {
    const ids = await this.#store.read(tx => idsOf(tx, this.#kind.collection, ref))
    for (const id of ids) await this.look(id)
    return this.#store.read(tx => ids.flatMap(id => this.lookUp(tx, id) ?? []))
  }
}
