/**
 * Deletes what has expired in a store of this process. In a Durable Object the object's own alarm does that, by the same
 * declarations.
 *
 * @module
 */

import { unrefed } from '../base/wake.ts'
import { bound } from './bound.ts'
import type { Document, Reader, Store, Transaction } from './store.ts'

/** Which documents are deleted when they expire, and how. */
export interface Expiring {
  /** Collections with expiring documents. */
  readonly expiring?: readonly string[]
  /** Deletes an expired document and all that belongs to it. Default: the document alone. */
  readonly forget?: ((tx: Transaction, collection: string, id: string) => void) | undefined
  /** Most documents of each collection that one transaction deletes. Default: 100. */
  readonly atOnce?: number | undefined
}

/** Work of this process when documents have expired. */
export interface Upkeep {
  /** Called with each document after it was deleted. The deletion is then on time. */
  readonly onExpired?: (document: Document) => Promise<void>
  /** Called in place of the deletion. Returns whether there is more to do. */
  readonly look?: () => Promise<boolean>
}

const AT_ONCE = 100

/**
 * Milliseconds for which an expired document may stay in the store, and between two looks. Readers check the time, so a look can wait
 * until it has more to delete.
 */
const EVERY_MS = 60_000

/** Milliseconds until more of the same is deleted. Others have their turn in between. */
const MORE_MS = 10

/** Milliseconds until the next try when the store could not be read or written. They double with each failure, to a minute. */
const RETRY_MS = 1000

/** The longest delay of a timer: 31 bits of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * The one timer of a handler for everything that expires in its store. It is set by writes, and does not keep the process alive. A
 * timer that was lost, since its runtime has frozen the process or ended the request, is made up for by the next write.
 */
export class Alarm {
  readonly #store: Store
  readonly #onError: (error: unknown) => void
  /** What is declared, by its collections. */
  readonly #works = new Map<string, Expiring & Upkeep>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #at = Number.POSITIVE_INFINITY
  #looking: Promise<void> | undefined
  #hasRung = false
  #failures = 0
  #isStopped = false

  /** `onError` gets what the store throws. The next look tries again. */
  constructor(store: Store, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  /** Declares what expires. A later declaration of the same collections replaces the earlier one. */
  add({ expiring = [], forget, atOnce }: Expiring, upkeep: Upkeep = {}): void {
    this.#works.set(expiring.join(' '), { expiring, forget, atOnce, ...upkeep })
  }

  /** Writes to the store, and sets the alarm for what the work has put. */
  async write<T>(declared: Expiring, upkeep: Upkeep, work: (tx: Transaction) => T): Promise<T> {
    let inMs: number | undefined
    const result = await this.#store.write(tx => {
      inMs = undefined
      const onPut = (expiresAt: number) => {
        inMs = Math.min(inMs ?? Number.POSITIVE_INFINITY, expiresAt - tx.now)
      }
      return work(notePuts(tx, declared, onPut))
    })
    if (inMs !== undefined) this.#set(waitOf(inMs, upkeep))
    return result
  }

  /** Sets the alarm after a write that is not by {@link write}. */
  wake(): void {
    this.#set(EVERY_MS)
  }

  /** Looks at once. */
  lookNow(): void {
    if (!this.#isStopped) this.#ring()
  }

  /** Ends `stop`. */
  start(): void {
    this.#isStopped = false
    this.wake()
  }

  /** Stops the timer, and waits for what is at work. Later writes do not set it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#clear()
    await this.#looking
  }

  #clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#at = Number.POSITIVE_INFINITY
  }

  #set(inMs: number): void {
    const now = Date.now()
    const at = now + inMs
    if (this.#isStopped || this.#works.size === 0) return
    // Its time has long passed, so it was lost.
    if (this.#at < now - RETRY_MS) return this.#ring()
    if (at >= this.#at) return
    this.#clear()
    this.#at = at
    this.#timer = unrefed(setTimeout(() => this.#ring(), Math.min(Math.max(0, inMs), MAX_TIMER_MS)))
  }

  #ring(): void {
    this.#clear()
    this.#hasRung = true
    this.#looking ??= this.#lookAgain()
  }

  /** Looks until no ring has come meanwhile: it may be for what was put after the look has read. */
  async #lookAgain(): Promise<void> {
    let inMs: number | undefined
    while (this.#hasRung) {
      this.#hasRung = false
      inMs = await this.#look()
    }
    this.#looking = undefined
    if (inMs !== undefined) this.#set(inMs)
  }

  /** Returns the milliseconds until the next look. Never rejects. */
  async #look(): Promise<number | undefined> {
    let hasFailed = false
    const attempt = async <T>(work: () => T | Promise<T>) => {
      try {
        if (!this.#isStopped) return await work()
      } catch (error) {
        hasFailed = true
        this.#onError(error)
      }
      return undefined
    }
    // A read first: it waits for no writer, and a look that finds nothing writes nothing.
    const found = await attempt(() =>
      this.#store.read(tx => Array.from(this.#works.values(), work => ({ work, inMs: soonestIn(tx, work) }))),
    )
    // Works of the same turn share a commit in a remote store.
    const waits = (found ?? []).map(({ work, inMs }) => {
      if (inMs === undefined || inMs > 0) return inMs && waitOf(inMs, work)
      return attempt(() => this.#take(work))
    })
    const wait = earliest(await Promise.all(waits))
    if (!hasFailed) this.#failures = 0
    if (!hasFailed) return wait
    const retry = Math.min(RETRY_MS * 2 ** this.#failures++, EVERY_MS)
    return Math.min(retry, wait ?? retry)
  }

  /** Deletes what has expired of a declaration. Returns the milliseconds until the next look. */
  async #take(work: Expiring & Upkeep): Promise<number | undefined> {
    const { atOnce = AT_ONCE, onExpired, look } = work
    if (look !== undefined) return (await look()) ? MORE_MS : EVERY_MS
    const { expired, inMs } = await this.#store.write(tx => {
      const expired = takeExpired(tx, work)
      return { expired, inMs: soonestIn(tx, work) }
    })
    // Nobody waits for it, so that others leave on time.
    for (const document of expired) void onExpired?.(document)
    if (expired.length >= atOnce) return MORE_MS
    return inMs && waitOf(inMs, work)
  }
}

/** The milliseconds until a look for what expires then. */
function waitOf(inMs: number, { onExpired }: Upkeep): number {
  return Math.max(inMs + 1, onExpired === undefined ? EVERY_MS : 0)
}

/** The milliseconds until the next document of a collection expires. Undefined if none does. */
function soonestIn(tx: Reader, declared: Expiring): number | undefined {
  const at = nextExpiry(tx, declared)
  return at === undefined ? undefined : at - tx.now
}

function earliest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter(wait => wait !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Returns a document, unless it has expired and is not deleted yet. */
export function unexpiredIn<T>(tx: Reader, collection: string, id: string): Document<T> | undefined {
  const document = tx.get<T>(collection, id)
  return (document?.expiresAt ?? Number.POSITIVE_INFINITY) > tx.now ? document : undefined
}

/** Deletes expired documents, and returns them. */
export function takeExpired(
  tx: Transaction,
  { expiring = [], atOnce = AT_ONCE, forget = (from, name, id) => from.delete(name, id) }: Expiring,
): readonly Document[] {
  return expiring.flatMap(name => {
    const documents = tx.expired(name, tx.now, atOnce)
    for (const { id } of documents) forget(tx, name, id)
    return documents
  })
}

/** Returns the time at which the next document of the collections expires, by the store's clock. Undefined if none does. */
export function nextExpiry(tx: Reader, { expiring = [] }: Expiring): number | undefined {
  return earliest(expiring.map(name => tx.expired(name, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt))
}

/** Returns the same transaction, which calls `onPut` with the end of each written document that expires. */
export function notePuts(
  tx: Transaction,
  { expiring = [] }: Expiring,
  onPut: (expiresAt: number) => void,
): Transaction {
  return {
    ...bound(tx),
    put(collection, document, eviction) {
      const { expiresAt } = document
      if (expiresAt !== undefined && expiring.includes(collection)) onPut(expiresAt)
      tx.put(collection, document, eviction)
    },
  }
}
