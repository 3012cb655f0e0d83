import { LogTransaction } from '../sql/sql-log.ts'
import type { Counted, Document, Filter, Found, ListQuery, SearchQuery, Transaction } from '../store.ts'
import { ObjectDocuments } from './documents.ts'
import { ObjectLog } from './log.ts'
import type { Tables } from './tables.ts'

/** The operations on a Durable Object's own tables. All transactions share one instance, since they run one after another. */
export class ObjectTransaction extends LogTransaction<ObjectLog> implements Transaction {
  readonly #documents: ObjectDocuments

  constructor(tables: Tables) {
    super(new ObjectLog(tables))
    this.#documents = new ObjectDocuments(tables)
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

  countMatching(collection: string, filter: Filter): Counted {
    return this.#documents.countMatching(collection, filter)
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    return this.#documents.expired(collection, now, limit)
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    return this.#documents.oldest(collection, limit, partition)
  }

  /** Whether other collections than these have documents. */
  holdsBeside(collections: readonly string[]): boolean {
    return this.#documents.holdsBeside(collections)
  }

  /** Writes the gathered entries. A transaction does this last. */
  flush(): void {
    this.logs.flush()
  }

  /** Forgets what it knows of the tables, after the transaction was undone. */
  forget(): void {
    this.logs.forget()
    this.#documents.forget()
  }
}
