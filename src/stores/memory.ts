import { ServableError } from '../base/errors.ts'
import { MemoryBudget } from './budget.ts'
import { Collection, type StoredContent } from './collection.ts'
import { alone } from './presence.ts'
import { containing, foldedText } from './searched.ts'
import { sizeOfEntry, sizeOfText, weigh } from './size.ts'
import type {
  Counted,
  Document,
  Eviction,
  Filter,
  Found,
  ListQuery,
  NearStore,
  Position,
  SearchQuery,
  StoredLogEntry,
  Transaction,
} from './store.ts'

interface Log {
  readonly entries: string[]
  sealed: boolean
  bytes: number
}

/** A store in memory. */
export interface MemoryStore extends NearStore {
  /** Most bytes. A lower value takes effect with the next write. */
  maxBytes: number
  /** Bytes in use, by estimate. */
  readonly usedBytes: number
}

/**
 * A store in the memory of the process. It is lost when the process ends. If a write would exceed `maxBytes`, the store
 * deletes what may be deleted. If that is not enough, the write fails with `state_full`. Default: no limit.
 */
export function memoryStore(maxBytes: number = Number.POSITIVE_INFINITY): MemoryStore {
  const budget = new MemoryBudget(maxBytes)
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

/** Writes at once, and remembers how to undo the writes. */
class MemoryTransaction implements Transaction {
  readonly #collections = new Map<string, Collection>()
  readonly #logs = new Map<string, Log>()
  readonly #budget: MemoryBudget
  #undo: (() => void)[] = []

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  /** Makes room for the writes. Throws `state_full` before it deletes anything, if there cannot be enough room. */
  fit(): void {
    if (this.#budget.used <= this.#budget.max) return
    if (!this.#budget.mayFit) {
      throw new ServableError('state_full', 'The memory of the state is full: try again later')
    }
    for (
      let candidate = this.#budget.candidate();
      candidate !== undefined;
      candidate = this.#budget.candidate()
    ) {
      const parts = 'part' in candidate ? [candidate.part] : candidate.parts
      for (const { collection, id } of parts) this.delete(collection, id)
      if ('thing' in candidate) this.deleteLog(candidate.thing)
    }
  }

  rollBack(): void {
    for (const undo of this.#undo.reverse()) undo()
  }

  /** Releases the replaced values. */
  end(): void {
    if (this.#undo.length > 0) this.#undo = []
    this.#budget.begin()
  }

  get now(): number {
    return Date.now()
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    return this.#find(collection, id)?.document as Document<T> | undefined
  }

  put<T>(
    collection: string,
    { text: given, ...unweighed }: Document<T>,
    { thing, leaves, weight = 0 }: Eviction = {},
  ): void {
    const { document, bytes: own } = weigh(unweighed)
    const text = foldedText(given)
    const bytes = own + (text === undefined ? 0 : sizeOfText(text))
    const { id } = document
    const before = this.#find(collection, id)
    this.#undo.push(() => (before ? this.#write(collection, before) : this.#remove(collection, id)))
    const part = { collection, id, thing, leaves, at: this.#budget.next(), bytes: bytes + weight }
    this.#write(collection, { document, text, part })
  }

  delete(collection: string, id: string): void {
    const before = this.#find(collection, id)
    if (before === undefined) return
    this.#undo.push(() => this.#write(collection, before))
    this.#remove(collection, id)
  }

  list<T>(collection: string, { partition, after, limit }: ListQuery): Document<T>[] {
    return take(documentsOf(this.#collections.get(collection)?.newest(partition, {}, after)), limit)
  }

  search<T>(collection: string, { after, limit, ...filter }: SearchQuery): Found<T> {
    const documents: Document<T>[] = []
    let next: Position | undefined
    const matches = matching(filter)
    for (const { content, isLast } of this.#look(collection, filter, after)) {
      const { document } = content
      if (matches(content)) {
        const last = documents.at(-1)
        if (documents.length === limit) return { documents, next: last && positionOf(last) }
        documents.push(document as Document<T>)
      }
      if (isLast) next = positionOf(document)
    }
    return { documents, next }
  }

  countMatching(collection: string, { after, looks, ...filter }: Filter): Counted {
    let count = 0
    let looked = 0
    const matches = matching(filter)
    for (const { content } of this.#look(collection, { ...filter, looks: looks + 1 }, after)) {
      if (++looked > looks) return { count, isCut: true }
      if (matches(content)) count++
    }
    return { count, isCut: false }
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    return take(this.#collections.get(collection)?.withPrefix(prefix), limit)
  }

  count(collection: string, partition?: string): number {
    return this.#collections.get(collection)?.count(partition) ?? 0
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    const expiring = this.#collections.get(collection)?.expiring()
    return take(expiring, limit, ({ expiresAt = 0 }) => expiresAt <= now)
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    return take(this.#collections.get(collection)?.oldest(partition), limit)
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

  read(name: string, after: number, limit: number): StoredLogEntry[] {
    const entries = this.#logs.get(name)?.entries ?? []
    const page: StoredLogEntry[] = []
    const end = Math.min(entries.length, after + limit)
    for (let seq = after + 1; seq <= end; seq++) page.push({ seq, data: entries[seq - 1]! })
    return page
  }

  length(log: string): number {
    return this.#logs.get(log)?.entries.length ?? 0
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

  #find(collection: string, id: string): StoredContent | undefined {
    return this.#collections.get(collection)?.find(id)
  }

  /** The documents that a search looks at, newest first. The last one says whether there are more. */
  *#look(
    collection: string,
    { partition, tags = {}, since = Number.NEGATIVE_INFINITY, looks }: Filter,
    after?: Position,
  ): Generator<{ readonly content: Searched; readonly isLast: boolean }> {
    let looked = 0
    for (const content of this.#collections.get(collection)?.newest(partition, tags, after) ?? []) {
      if (content.document.at < since) return
      yield { content, isLast: ++looked === looks }
      if (looked === looks) return
    }
  }

  #write(name: string, content: StoredContent): void {
    let collection = this.#collections.get(name)
    if (collection === undefined) {
      collection = new Collection()
      this.#collections.set(name, collection)
    }
    const before = collection.find(content.document.id)
    if (before !== undefined) this.#budget.remove(before.part)
    this.#budget.add(content.part)
    collection.put(content)
  }

  #remove(name: string, id: string): void {
    const collection = this.#collections.get(name)
    const before = collection?.find(id)
    if (before === undefined) return
    this.#budget.remove(before.part)
    collection?.delete(id)
  }
}

/** The first documents, up to the first one that does not match. */
function take<T>(
  documents: Iterable<Document> = [],
  limit: number,
  isWanted: (document: Document) => boolean = () => true,
): Document<T>[] {
  const page: Document<T>[] = []
  for (const document of documents) {
    if (page.length >= limit || !isWanted(document)) break
    page.push(document as Document<T>)
  }
  return page
}

function* documentsOf(contents: Iterable<Searched> = []): Generator<Document> {
  for (const { document } of contents) yield document
}

type Searched = Pick<StoredContent, 'document' | 'text'>

/** Makes the function that says whether a document matches. */
function matching({ tags = {}, text: term }: Pick<Filter, 'tags' | 'text'>): (content: Searched) => boolean {
  const contains = containing(term)
  return ({ document, text }) => {
    for (const tag in tags) if (document.tags[tag] !== tags[tag]) return false
    return contains(text)
  }
}

function positionOf({ at, id }: Position): Position {
  return { at, id }
}
