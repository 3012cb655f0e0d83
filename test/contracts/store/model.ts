/** The storage contract in its simplest form, for comparison with stores. */
import type {
  Counted,
  Document,
  Filter,
  Found,
  ListQuery,
  Position,
  SearchQuery,
  StoredLogEntry,
  Transaction,
} from '../../../src/stores/store.ts'
import { contains } from './texts.ts'

interface Log {
  entries: string[]
  sealed: boolean
}

interface Contents {
  documents: { collection: string; document: Document; text: string | undefined }[]
  logs: Record<string, Log>
}

/** Sorts and filters everything each time. */
export class ModelStore implements Transaction {
  #contents: Contents = { documents: [], logs: {} }

  transact<T>(work: (tx: Transaction) => T): T {
    const before = structuredClone(this.#contents)
    try {
      return work(this)
    } catch (error) {
      this.#contents = before
      throw error
    }
  }

  get now(): number {
    return Date.now()
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    return this.#all<T>(collection).find(document => document.id === id)
  }

  put<T>(collection: string, { text, ...document }: Document<T>): void {
    this.delete(collection, document.id)
    this.#contents.documents.push({ collection, document, text })
  }

  delete(collection: string, id: string): void {
    const isOther = (one: { collection: string; document: Document }) =>
      one.collection !== collection || one.document.id !== id
    this.#contents.documents = this.#contents.documents.filter(isOther)
  }

  list<T>(collection: string, { partition, after, limit }: ListQuery): Document<T>[] {
    return this.#newest<T>(collection, partition, after).slice(0, limit)
  }

  /** Looks at every document. Stores are compared only where they may do so too. */
  search<T>(
    collection: string,
    { partition, tags = {}, text = '', since = Number.NEGATIVE_INFINITY, after, limit }: SearchQuery,
  ): Found<T> {
    const all = this.#newest<T>(collection, partition, after)
      .filter(({ at }) => at >= since)
      .filter(({ id }) => contains(this.#textOf(collection, id), text))
      .filter(document => Object.entries(tags).every(([tag, value]) => document.tags[tag] === value))
    const documents = all.slice(0, limit)
    const last = documents.at(-1)
    const next = all.length > limit && last ? { at: last.at, id: last.id } : undefined
    return { documents, next }
  }

  countMatching(collection: string, filter: Filter): Counted {
    const { documents } = this.search(collection, { ...filter, limit: Number.POSITIVE_INFINITY })
    return { count: documents.length, isCut: false }
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    const found = this.#all<T>(collection).filter(({ id }) => id.startsWith(prefix))
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
  }

  length(name: string): number {
    return this.#contents.logs[name]?.entries.length ?? 0
  }

  count(collection: string, partition?: string): number {
    const all = this.#all(collection)
    return all.filter(document => partition === undefined || document.partition === partition).length
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    const expiry = ({ expiresAt = Number.POSITIVE_INFINITY }: Document) => expiresAt
    return this.#all<T>(collection)
      .filter(document => expiry(document) <= now)
      .toSorted((a, b) => expiry(a) - expiry(b))
      .slice(0, limit)
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    const all = this.#all<T>(collection)
    const wanted = all.filter(document => partition === undefined || document.partition === partition)
    return wanted.toSorted(byTime).slice(0, limit)
  }

  append(name: string, data: string, seal = false): number | undefined {
    const { entries, sealed } = this.#contents.logs[name] ?? { entries: [], sealed: false }
    if (sealed) return undefined
    this.#contents.logs[name] = { entries: [...entries, data], sealed: seal }
    return entries.length + 1
  }

  read(name: string, after: number, limit: number): StoredLogEntry[] {
    const { entries = [] } = this.#contents.logs[name] ?? {}
    return entries.map((data, index) => ({ seq: index + 1, data })).slice(after, after + limit)
  }

  isSealed(name: string): boolean {
    return this.#contents.logs[name]?.sealed ?? false
  }

  deleteLog(name: string): void {
    delete this.#contents.logs[name]
  }

  #textOf(collection: string, id: string): string | undefined {
    return this.#contents.documents.find(one => one.collection === collection && one.document.id === id)?.text
  }

  #newest<T>(collection: string, partition: string | undefined, after: Position | undefined): Document<T>[] {
    return this.#all<T>(collection)
      .filter(document => partition === undefined || document.partition === partition)
      .filter(document => after === undefined || byTime(document, after) < 0)
      .toSorted((a, b) => byTime(b, a))
  }

  #all<T>(collection: string): Document<T>[] {
    const own = this.#contents.documents.filter(one => one.collection === collection)
    return own.map(({ document }) => document as Document<T>)
  }
}

function byTime(a: Pick<Document, 'at' | 'id'>, b: Pick<Document, 'at' | 'id'>): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
