import { alone } from './presence.ts'
import type { Document, Filter, ListQuery, LogEntry, Store, Transaction } from './store.ts'
import { Timeline } from './timeline.ts'

interface Collection {
  /** No document expires before this. */
  soonest: number
  readonly byId: Map<string, Document>
  readonly all: Timeline
  readonly partitions: Map<string, Timeline>
}

interface Log {
  readonly entries: string[]
  sealed: boolean
}

/** A store in the memory of the process: it is gone when the process ends. Its users bound what they put into it. */
export function memoryStore(): Store {
  const tx = new MemoryTransaction()
  const presence = alone()
  return {
    get instance() {
      return presence.instance
    },
    isShared: false,
    isAlive: other => presence.isAlive(other),
    transact(work) {
      tx.begin()
      try {
        return work(tx)
      } catch (error) {
        tx.rollBack()
        throw error
      }
    },
    close() {},
  }
}

/** Writes at once, and remembers how to take back what was written. */
class MemoryTransaction implements Transaction {
  readonly #collections = new Map<string, Collection>()
  readonly #logs = new Map<string, Log>()
  #undo: (() => void)[] = []

  begin(): void {
    if (this.#undo.length > 0) this.#undo = []
  }

  rollBack(): void {
    for (const undo of this.#undo.reverse()) undo()
    this.#undo = []
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    return this.#collections.get(collection)?.byId.get(id) as Document<T> | undefined
  }

  put<T>(collection: string, document: Document<T>): void {
    const before = this.get(collection, document.id)
    this.#undo.push(() => (before ? this.#write(collection, before) : this.#remove(collection, document.id)))
    this.#write(collection, document)
  }

  delete(collection: string, id: string): void {
    const before = this.get(collection, id)
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
      log = { entries: [], sealed: false }
      this.#logs.set(name, log)
    }
    if (log.sealed) return undefined
    const { entries } = log
    const seq = entries.push(data)
    log.sealed = seal
    this.#undo.push(() => {
      entries.pop()
      log.sealed = false
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
    this.#undo.push(() => this.#logs.set(name, log))
    this.#logs.delete(name)
  }

  #write(name: string, document: Document): void {
    this.#remove(name, document.id)
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
    collection.byId.set(document.id, document)
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
    const before = collection?.byId.get(id)
    if (collection === undefined || before === undefined) return
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
