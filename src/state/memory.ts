import { ServableError } from '../errors.ts'
import { Budget, type Part } from './budget.ts'
import { alone } from './presence.ts'
import { sizeOfEntry, weigh } from './size.ts'
import type { Document, Filter, Footing, ListQuery, LogEntry, NearStore, Transaction } from './store.ts'
import { Timeline } from './timeline.ts'

/** A document, and how it stands in the budget. */
interface Kept {
  readonly document: Document
  readonly part: Part
}

interface Collection {
  /** No document expires before this. */
  soonest: number
  readonly byId: Map<string, Kept>
  readonly all: Timeline
  readonly partitions: Map<string, Timeline>
}

interface Log {
  readonly entries: string[]
  sealed: boolean
  bytes: number
}

/** A store in memory. */
export interface MemoryStore extends NearStore {
  /** Bytes that it may hold. Less than before holds from the next write on. */
  maxBytes: number
  /** Bytes that it holds, by estimate. */
  readonly usedBytes: number
}

/**
 * A store in the memory of the process: it is gone when the process ends. Where it would hold more than `maxBytes`, what
 * may leave does so, and without that the write is refused with `state_full`. Default: no limit.
 */
export function memoryStore(maxBytes: number = Number.POSITIVE_INFINITY): MemoryStore {
  const budget = new Budget(maxBytes)
  const tx = new MemoryTransaction(budget)
  const presence = alone()
  const transact = <T>(work: (tx: Transaction) => T): T => {
    try {
      const result = work(tx)
      tx.fit()
      return result
    } catch (error) {
      tx.rollBack()
      throw error
    } finally {
      tx.end()
    }
  }
  return {
    get instance() {
      return presence.instance
    },
    isShared: false,
    isAlive: other => presence.isAlive(other),
    get maxBytes() {
      return budget.max
    },
    set maxBytes(bytes) {
      budget.max = bytes
    },
    get usedBytes() {
      return budget.used
    },
    hold: thing => budget.hold(thing),
    read: work => work(tx),
    write: transact,
    transact,
    close() {},
  }
}

/** Writes at once, and remembers how to take back what was written. */
class MemoryTransaction implements Transaction {
  readonly #collections = new Map<string, Collection>()
  readonly #logs = new Map<string, Log>()
  readonly #budget: Budget
  #undo: (() => void)[] = []

  constructor(budget: Budget) {
    this.#budget = budget
  }

  /** Makes room for what was written. Throws `state_full` where that cannot be, before anything has left. */
  fit(): void {
    if (this.#budget.used <= this.#budget.max) return
    if (!this.#budget.mayFit) {
      throw new ServableError('state_full', 'There is no room in memory for more: try again later')
    }
    for (let leaver = this.#budget.leaver(); leaver !== undefined; leaver = this.#budget.leaver()) {
      const parts = 'part' in leaver ? [leaver.part] : leaver.parts
      for (const { collection, id } of parts) this.delete(collection, id)
      if ('thing' in leaver) this.deleteLog(leaver.thing)
    }
  }

  rollBack(): void {
    for (const undo of this.#undo.reverse()) undo()
  }

  /** Holds on to nothing of what was replaced. */
  end(): void {
    if (this.#undo.length > 0) this.#undo = []
    this.#budget.begin()
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    return this.#find(collection, id)?.document as Document<T> | undefined
  }

  put<T>(collection: string, given: Document<T>, { thing, leaves, weight = 0 }: Footing = {}): void {
    const { document, bytes } = weigh(given)
    const { id } = document
    const before = this.#find(collection, id)
    this.#undo.push(() => (before ? this.#write(collection, before) : this.#remove(collection, id)))
    const part = { collection, id, thing, leaves, at: this.#budget.next(), bytes: bytes + weight }
    this.#write(collection, { document, part })
  }

  delete(collection: string, id: string): void {
    const before = this.#find(collection, id)
    if (before === undefined) return
    this.#undo.push(() => this.#write(collection, before))
    this.#remove(collection, id)
  }

  list<T>(collection: string, { after, limit, ...filter }: ListQuery): Document<T>[] {
    const timeline = this.#collections.get(collection)?.partitions.get(filter.partition)
    return timeline === undefined
      ? []
      : take(timeline.newest(after), limit, document => fits(document, filter))
  }

  countMatching(collection: string, filter: Filter): number {
    const query = { ...filter, limit: Number.POSITIVE_INFINITY }
    return this.list(collection, query).length
  }

  count(collection: string, partition?: string): number {
    const found = this.#collections.get(collection)
    const timeline = partition === undefined ? found?.all : found?.partitions.get(partition)
    return timeline?.size ?? 0
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    const found = this.#collections.get(collection)
    if (found === undefined || found.soonest > now) return []
    const expiring = take<T>(found.all.oldest(), found.all.size, ({ expiresAt }) => expiresAt !== undefined)
    expiring.sort((a, b) => expiryOf(a) - expiryOf(b))
    found.soonest = expiring.length === 0 ? Number.POSITIVE_INFINITY : expiryOf(expiring[0]!)
    return expiring.filter(document => expiryOf(document) <= now).slice(0, limit)
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    const found = this.#collections.get(collection)
    const timeline = partition === undefined ? found?.all : found?.partitions.get(partition)
    return timeline === undefined ? [] : take(timeline.oldest(), limit, () => true)
  }

  append(name: string, data: string, seal = false): number | undefined {
    let log = this.#logs.get(name)
    if (log === undefined) {
      log = { entries: [], sealed: false, bytes: 0 }
      this.#logs.set(name, log)
    }
    if (log.sealed) return undefined
    const { entries } = log
    const seq = entries.push(data)
    const bytes = sizeOfEntry(data)
    log.sealed = seal
    this.#grow(name, log, bytes)
    this.#undo.push(() => {
      entries.pop()
      log.sealed = false
      this.#grow(name, log, -bytes)
      if (entries.length === 0) this.#logs.delete(name)
    })
    return seq
  }

  read(name: string, after: number, limit: number): LogEntry[] {
    const entries = this.#logs.get(name)?.entries ?? []
    const page: LogEntry[] = []
    const end = Math.min(entries.length, after + limit)
    for (let seq = after + 1; seq <= end; seq++) page.push({ seq, data: entries[seq - 1]! })
    return page
  }

  isSealed(log: string): boolean {
    return this.#logs.get(log)?.sealed ?? false
  }

  deleteLog(name: string): void {
    const log = this.#logs.get(name)
    if (log === undefined) return
    this.#undo.push(() => {
      this.#logs.set(name, log)
      this.#budget.grow(name, log.bytes)
    })
    this.#logs.delete(name)
    this.#budget.grow(name, -log.bytes)
  }

  #grow(name: string, log: Log, by: number): void {
    log.bytes += by
    this.#budget.grow(name, by)
  }

  #find(collection: string, id: string): Kept | undefined {
    return this.#collections.get(collection)?.byId.get(id)
  }

  #write(name: string, kept: Kept): void {
    const { document, part } = kept
    this.#remove(name, document.id)
    this.#budget.add(part)
    let collection = this.#collections.get(name)
    if (collection === undefined) {
      collection = {
        soonest: Number.POSITIVE_INFINITY,
        byId: new Map(),
        all: new Timeline(),
        partitions: new Map(),
      }
      this.#collections.set(name, collection)
    }
    collection.byId.set(document.id, kept)
    collection.soonest = Math.min(collection.soonest, expiryOf(document))
    collection.all.put(document)
    let partition = collection.partitions.get(document.partition)
    if (partition === undefined) {
      partition = new Timeline()
      collection.partitions.set(document.partition, partition)
    }
    partition.put(document)
  }

  #remove(name: string, id: string): void {
    const collection = this.#collections.get(name)
    const kept = collection?.byId.get(id)
    if (collection === undefined || kept === undefined) return
    const before = kept.document
    this.#budget.remove(kept.part)
    collection.byId.delete(id)
    collection.all.delete(before)
    const partition = collection.partitions.get(before.partition)
    partition?.delete(before)
    if (partition?.size === 0) collection.partitions.delete(before.partition)
  }
}

function take<T>(
  documents: Iterable<Document>,
  limit: number,
  isWanted: (document: Document) => boolean,
): Document<T>[] {
  const page: Document<T>[] = []
  for (const document of documents) {
    if (page.length >= limit) break
    if (isWanted(document)) page.push(document as Document<T>)
  }
  return page
}

function fits(document: Document, { tags, since = Number.NEGATIVE_INFINITY }: Filter): boolean {
  for (const tag in tags) if (document.tags[tag] !== tags[tag]) return false
  return document.at >= since
}

function expiryOf({ expiresAt = Number.POSITIVE_INFINITY }: Document): number {
  return expiresAt
}
