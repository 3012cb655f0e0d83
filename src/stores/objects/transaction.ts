import type {
  Document,
  Filter,
  Found,
  ListQuery,
  SearchQuery,
  StoredLogEntry,
  Transaction,
} from '../store.ts'
import { ObjectDocuments } from './documents.ts'
import { ObjectLog } from './log.ts'
import type { Tables } from './tables.ts'

/** The operations on a Durable Object's own tables. All transactions share one instance, since they run one after another. */
export class ObjectTransaction implements Transaction {
  readonly #documents: ObjectDocuments
  readonly #log: ObjectLog

  constructor(tables: Tables) {
    this.#documents = new ObjectDocuments(tables)
    this.#log = new ObjectLog(tables)
  }

  get now(): number {
    return Date.now()
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    return this.#documents.get(collection, id)
  }

  put<T>(collection: string, document: Document<T>): void {
    this.#documents.put(collection, document)
  }

  delete(collection: string, id: string): void {
    this.#documents.delete(collection, id)
  }

  list<T>(collection: string, query: ListQuery): Document<T>[] {
    return this.#documents.list(collection, query)
  }

  search<T>(collection: string, query: SearchQuery): Found<T> {
    return this.#documents.search(collection, query)
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    return this.#documents.withPrefix(collection, prefix, limit)
  }

  count(collection: string, partition?: string): number {
    return this.#documents.count(collection, partition)
  }

  countMatching(collection: string, filter: Filter): number {
    return this.#documents.countMatching(collection, filter)
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    return this.#documents.expired(collection, now, limit)
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    return this.#documents.oldest(collection, limit, partition)
  }

  append(log: string, data: string, seal = false): number | undefined {
    return this.#log.append(log, data, seal)
  }

  read(log: string, after: number, limit: number): StoredLogEntry[] {
    return this.#log.read(log, after, limit)
  }

  length(log: string): number {
    return this.#log.length(log)
  }

  isSealed(log: string): boolean {
    return this.#log.isSealed(log)
  }

  deleteLog(log: string): void {
    this.#log.delete(log)
  }

  /** Whether other collections than these have documents. */
  holdsBeside(collections: readonly string[]): boolean {
    return this.#documents.holdsBeside(collections)
  }

  /** Writes the gathered entries. A transaction does this last. */
  flush(): void {
    this.#log.flush()
  }

  /** Forgets what it knows of the tables, after the transaction was undone. */
  forget(): void {
    this.#log.forget()
  }
}
