import type {
  Document,
  Filter,
  Footing,
  Found,
  ListQuery,
  LogEntry,
  SearchQuery,
  Transaction,
} from '../../state/store.ts'

/**
 * A transaction in which some collections are elsewhere than all else: in memory, since what they tell of ends with the
 * object's memory, or can be told from what is kept.
 */
export class PassingTransaction implements Transaction {
  readonly #kept: Transaction
  readonly #passing: Transaction
  readonly #names: ReadonlySet<string>

  constructor(kept: Transaction, passing: Transaction, names: ReadonlySet<string>) {
    this.#kept = kept
    this.#passing = passing
    this.#names = names
  }

  get now(): number {
    return this.#kept.now
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    return this.#of(collection).get(collection, id)
  }

  put<T>(collection: string, document: Document<T>, footing?: Footing): void {
    this.#of(collection).put(collection, document, footing)
  }

  delete(collection: string, id: string): void {
    this.#of(collection).delete(collection, id)
  }

  list<T>(collection: string, query: ListQuery): Document<T>[] {
    return this.#of(collection).list(collection, query)
  }

  search<T>(collection: string, query: SearchQuery): Found<T> {
    return this.#of(collection).search(collection, query)
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    return this.#of(collection).withPrefix(collection, prefix, limit)
  }

  count(collection: string, partition?: string): number {
    return this.#of(collection).count(collection, partition)
  }

  countMatching(collection: string, filter: Filter): number {
    return this.#of(collection).countMatching(collection, filter)
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    return this.#of(collection).expired(collection, now, limit)
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    return this.#of(collection).oldest(collection, limit, partition)
  }

  append(log: string, data: string, seal?: boolean): number | undefined {
    return this.#kept.append(log, data, seal)
  }

  read(log: string, after: number, limit: number): LogEntry[] {
    return this.#kept.read(log, after, limit)
  }

  length(log: string): number {
    return this.#kept.length(log)
  }

  isSealed(log: string): boolean {
    return this.#kept.isSealed(log)
  }

  deleteLog(log: string): void {
    this.#kept.deleteLog(log)
  }

  #of(collection: string): Transaction {
    return this.#names.has(collection) ? this.#passing : this.#kept
  }
}
