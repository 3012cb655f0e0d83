/**
 * One pass of works over the known part of a store. Unknown answers are noted and guessed. The pass sees its own writes on
 * top of the known part.
 *
 * @module
 */

import { containing, foldedText } from '../searched.ts'
import { Questions, type Snapshot } from '../snapshot.ts'
import type {
  Counted,
  Document,
  Eviction,
  Filter,
  Found,
  ListQuery,
  SearchQuery,
  StoredLogEntry,
  Transaction,
} from '../store.ts'
import { comparePositions } from '../timeline.ts'
import { type Known, nameOf } from './known.ts'
import type {
  Commit,
  DocumentChange,
  LogHead,
  SeenDocument,
  SeenLog,
  StoreAnswers,
  StoreQueries,
  StoreQuery,
  Versioned,
} from './remote.ts'
import type { Work, WorkOutcome } from './retrying.ts'
import { NO_LOG, NONE, type OwnLog, type SeenHead } from './seen.ts'

/** A transaction that runs on the known answers and collects the unknown questions. */
export class Pass implements Transaction {
  readonly now: number
  readonly #snapshot: Snapshot
  readonly #known: Known | undefined
  readonly #new = new Set<string>()
  #isTrusting = false
  readonly #questions = new Questions()
  #hasMissed = false
  /** Documents that were read, by {@link nameOf}. Undefined if there is none. */
  readonly #found = new Map<string, Versioned | undefined>()
  /** Documents that influenced a work. */
  readonly #decisive = new Map<string, SeenDocument>()
  readonly #heads = new Map<string, SeenHead>()
  /** Written documents by collection, then by id. */
  readonly #written = new Map<string, Map<string, DocumentChange>>()
  readonly #logs = new Map<string, OwnLog>()
  readonly #calls = new Set<string>()
  #undo: (() => void)[] = []

  /** `known` answers what the snapshot does not. Absent if only the store's own answers count. */
  constructor(snapshot: Snapshot, now: number, known?: Known) {
    this.#snapshot = snapshot
    this.#known = known
    this.now = now
  }

  /** Whether an answer was guessed. Then the results of this pass do not count. */
  get hasMissed(): boolean {
    return this.#hasMissed
  }

  /** Whether something was answered without asking the store. Only a commit shows whether it was right. */
  get isTrusting(): boolean {
    return this.#isTrusting
  }

  /** All questions of this pass. */
  get asks(): readonly StoreQuery[] {
    return this.#questions.all
  }

  get hasWritten(): boolean {
    return this.#written.size > 0 || this.#logs.size > 0
  }

  /** Runs a work after the works before it. If it throws, only its own writes are undone. */
  attempt(work: Work): WorkOutcome {
    this.#undo = []
    try {
      return { value: work(this) }
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo()
      return { error }
    }
  }

  /** The changes to write. */
  commit({ id, by }: Pick<Commit, 'id' | 'by'>): Commit {
    const documents = [...this.#written.values()].flatMap(changes => [...changes.values()])
    for (const { collection, id } of documents) {
      // A document that only a list has shown must be unchanged when it is overwritten.
      if (this.#found.has(nameOf(collection, id))) this.#decide(collection, id)
    }
    const logs = Array.from(this.#logs, ([log, own]) => ({ log, ...own }))
    const seenLogs = Array.from(this.#heads, ([log, { version, length, isSealed, isExact }]): SeenLog => {
      return { log, version, head: isExact ? { length, isSealed } : undefined }
    })
    const seen = { documents: [...this.#decisive.values()], logs: seenLogs }
    return { id, by, seen, documents, logs, assumed: [...this.#new], calls: [...this.#calls] }
  }

  get<T>(collection: string, id: string): Document<T> | undefined {
    const own = this.#written.get(collection)?.get(id)
    const document = own === undefined ? this.#look(collection, id)?.document : own.document
    return document as Document<T> | undefined
  }

  list<T>(collection: string, query: ListQuery): Document<T>[] {
    const { partition, after, limit } = query
    const isMeant = (document: Document) =>
      document.partition === partition && (after === undefined || comparePositions(document, after) < 0)
    return this.#merged(collection, { limit, isMeant, order: newestFirst }, limit =>
      this.#ask({ what: 'list', collection, partition, after, limit }, []),
    )
  }

  search<T>(collection: string, query: SearchQuery): Found<T> {
    const { partition, tags, text, since, after, limit, looks } = query
    const own = this.#written.get(collection)
    const more = own?.size ?? 0
    const asked = { ...query, limit: limit + more, looks: looks + more }
    const found = this.#ask({ what: 'search', collection, ...asked }, { documents: [], next: undefined })
    for (const each of found.documents) this.#note(collection, each)
    const kept = found.documents.map(({ document }) => document).filter(({ id }) => !own?.has(id))
    const { next } = found
    const contains = containing(text)
    const isMeant = (document: Document) =>
      (partition === undefined || document.partition === partition) &&
      document.at >= (since ?? Number.NEGATIVE_INFINITY) &&
      (after === undefined || comparePositions(document, after) < 0) &&
      // Documents beyond `next` belong to the following page.
      (next === undefined || comparePositions(document, next) >= 0) &&
      Object.entries(tags ?? {}).every(([tag, value]) => document.tags[tag] === value) &&
      contains(foldedText(own?.get(document.id)?.text))
    const all = [...kept, ...this.#ownOf(collection, isMeant)].sort(newestFirst)
    const documents = all.slice(0, limit) as Document<T>[]
    const last = documents.at(-1)
    const isCut = all.length > limit && last !== undefined
    return { documents, next: isCut ? { at: last.at, id: last.id } : next }
  }

  count(collection: string, partition?: string): number {
    return this.#withOwn(collection, partition, this.#ask({ what: 'count', collection, partition }, 0))
  }

  recentCount(collection: string, partition?: string): number {
    const known = this.#known?.count(collection, partition)
    if (known === undefined) return this.count(collection, partition)
    this.#isTrusting = true
    return this.#withOwn(collection, partition, known)
  }

  assumeNew(id: string): void {
    if (this.#known !== undefined) this.#new.add(id)
  }

  /** A count together with the documents that this pass wrote. */
  #withOwn(collection: string, partition: string | undefined, stored: number): number {
    let count = stored
    const isMeant = (document: Document | undefined) =>
      document !== undefined && (partition === undefined || document.partition === partition)
    for (const { id, document } of this.#written.get(collection)?.values() ?? []) {
      if (isMeant(this.#look(collection, id)?.document)) count--
      if (isMeant(document)) count++
    }
    return count
  }

  countMatching(collection: string, filter: Filter): Counted {
    const counted = this.#ask({ what: 'countMatching', collection, ...filter }, NONE)
    if (!this.#written.has(collection)) return counted
    return { ...counted, count: this.search(collection, { ...filter, limit: filter.looks }).documents.length }
  }

  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[] {
    const isMeant = ({ id }: Document) => id.startsWith(prefix)
    const order = (a: Document, b: Document) => comparePositions({ at: 0, id: a.id }, { at: 0, id: b.id })
    return this.#merged(collection, { limit, isMeant, order }, limit =>
      this.#ask({ what: 'withPrefix', collection, prefix, limit }, []),
    )
  }

  expired<T>(collection: string, now: number, limit: number): Document<T>[] {
    const expiryOf = ({ expiresAt = Number.POSITIVE_INFINITY }: Document) => expiresAt
    const isMeant = (document: Document) => expiryOf(document) <= now
    const order = (a: Document, b: Document) => expiryOf(a) - expiryOf(b)
    return this.#merged(collection, { limit, isMeant, order }, limit =>
      this.#ask({ what: 'expired', collection, now, limit }, []),
    )
  }

  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[] {
    const isMeant = (document: Document) => partition === undefined || document.partition === partition
    return this.#merged(collection, { limit, isMeant, order: comparePositions }, limit =>
      this.#ask({ what: 'oldest', collection, partition, limit }, []),
    )
  }

  put<T>(collection: string, { text, ...document }: Document<T>, eviction?: Eviction): void {
    this.#write({ collection, id: document.id, document, text, eviction })
  }

  delete(collection: string, id: string): void {
    this.#write({ collection, id, document: undefined, eviction: undefined })
  }

  read(log: string, after: number, limit: number): StoredLogEntry[] {
    const own = this.#logs.get(log)
    const isGone = own?.isDeleted === true
    const part = isGone ? NO_LOG : this.#part(log, after, limit)
    const page = part.entries.filter(({ seq }) => seq > after).slice(0, limit)
    if (!isGone) {
      if (page.length === limit) return page
      this.#heads.get(log)!.isExact = true
    }
    for (const [index, data] of own?.entries.entries() ?? []) {
      const seq = part.length + index + 1
      if (seq > after && page.length < limit) page.push({ seq, data })
    }
    return page
  }

  length(log: string): number {
    return this.#baseOf(log).length + (this.#logs.get(log)?.entries.length ?? 0)
  }

  isSealed(log: string): boolean {
    const isSealed = this.#logs.get(log)?.isSealed === true
    return isSealed || this.#baseOf(log).isSealed
  }

  append(log: string, data: string, seal = false): number | undefined {
    if (this.isSealed(log)) return undefined
    const own = this.#open(log)
    own.entries.push(data)
    own.isSealed = seal
    this.#undo.push(() => {
      own.entries.pop()
      own.isSealed = false
      this.#close(log, own)
    })
    return this.length(log)
  }

  deleteLog(log: string): void {
    const before = this.#logs.get(log)
    this.#logs.set(log, { isDeleted: true, entries: [], isSealed: false })
    this.#undo.push(() => (before === undefined ? this.#logs.delete(log) : this.#logs.set(log, before)))
  }

  call(instance: string): void {
    this.#calls.add(instance)
    this.#undo.push(() => this.#calls.delete(instance))
  }

  /** The answer to a question, or a guess if it is unknown. */
  #ask<K extends Exclude<keyof StoreQueries, 'log'>>(
    ask: StoreQuery<K>,
    guess: StoreAnswers[K],
  ): StoreAnswers[K] {
    this.#questions.add(ask as StoreQuery)
    const answer = this.#snapshot.find(ask)
    if (answer.length === 1) return answer[0]
    this.#hasMissed = true
    return guess
  }

  /** A document without the writes of this pass. The document counts as one that influenced the work. */
  #look(collection: string, id: string): Versioned | undefined {
    const name = nameOf(collection, id)
    if (!this.#found.has(name)) this.#found.set(name, this.#find(collection, id))
    this.#decide(collection, id)
    return this.#found.get(name)
  }

  #find(collection: string, id: string): Versioned | undefined {
    const ask = { what: 'get', collection, id } as const
    const isAnswered = this.#snapshot.find(ask).length === 1
    const known = isAnswered ? undefined : this.#known?.document(collection, id)
    if (known === undefined && (isAnswered || !this.#new.has(id))) return this.#ask(ask, undefined)
    this.#isTrusting = true
    return known
  }

  /** The first state that a work has seen counts: if there is a newer one, the commit fails. */
  #note(collection: string, found: Versioned): void {
    const name = nameOf(collection, found.document.id)
    if (!this.#found.has(name)) this.#found.set(name, found)
  }

  #decide(collection: string, id: string): void {
    const name = nameOf(collection, id)
    const version = this.#found.get(name)?.version
    this.#decisive.set(name, { collection, id, version })
  }

  /** The documents of a list, together with the documents that this pass wrote. */
  #merged<T>(
    collection: string,
    list: {
      readonly limit: number
      readonly isMeant: (document: Document) => boolean
      readonly order: (a: Document, b: Document) => number
    },
    ask: (limit: number) => readonly Versioned[],
  ): Document<T>[] {
    const own = this.#written.get(collection)
    // Each document that this pass wrote may be in the stored list too, so the limit is higher.
    const found = ask(list.limit + (own?.size ?? 0))
    for (const each of found) this.#note(collection, each)
    const kept = found.map(({ document }) => document)
    if (own === undefined) return kept.slice(0, list.limit) as Document<T>[]
    const others = kept.filter(({ id }) => !own.has(id))
    const all = [...others, ...this.#ownOf(collection, list.isMeant)].sort(list.order)
    return all.slice(0, list.limit) as Document<T>[]
  }

  *#ownOf(collection: string, isMeant: (document: Document) => boolean): Generator<Document> {
    for (const { document } of this.#written.get(collection)?.values() ?? []) {
      if (document !== undefined && isMeant(document)) yield document
    }
  }

  #write(change: DocumentChange): void {
    const { collection, id } = change
    const changes = this.#written.get(collection) ?? new Map<string, DocumentChange>()
    const before = changes.get(id)
    changes.set(id, change)
    this.#written.set(collection, changes)
    this.#undo.push(() => {
      if (before === undefined) changes.delete(id)
      else changes.set(id, before)
      if (changes.size === 0) this.#written.delete(collection)
    })
  }

  /** The state of a log without the entries of this pass. The log's end counts as used. */
  #baseOf(log: string): Pick<LogHead, 'length' | 'isSealed'> {
    if (this.#logs.get(log)?.isDeleted === true) return NO_LOG
    const part = this.#part(log, 0, 0)
    this.#heads.get(log)!.isExact = true
    return part
  }

  #part(log: string, after: number, limit: number): StoreAnswers['log'] {
    const part = this.#snapshot.part({ log, after, limit })
    const known = part === undefined ? this.#knownHead(log, limit) : undefined
    if (known !== undefined) this.#isTrusting = true
    else if (part?.isEnough !== true) {
      this.#hasMissed = true
      // A work that reads page by page gets larger and larger parts.
      const from = part?.ask.after ?? after
      const wanted = Math.max(after + limit - from, part === undefined ? 0 : 2 * part.ask.limit)
      this.#questions.add({ what: 'log', log, after: from, limit: wanted })
    } else this.#questions.add(part.ask)
    const answer = known ?? part?.answer ?? NO_LOG
    if (!this.#heads.has(log)) {
      const { version, length, isSealed } = answer
      this.#heads.set(log, { version, length, isSealed, isExact: false })
    }
    return answer
  }

  /** The end of a log, if it needs no question. Entries do, unless there is no log. */
  #knownHead(log: string, limit: number): StoreAnswers['log'] | undefined {
    const head = this.#known?.head(log)
    if (head === undefined) return this.#new.has(log) ? NO_LOG : undefined
    return limit === 0 ? { ...head, entries: [] } : undefined
  }

  #open(log: string): OwnLog {
    const own = this.#logs.get(log) ?? { isDeleted: false, entries: [], isSealed: false }
    this.#logs.set(log, own)
    return own
  }

  #close(log: string, own: OwnLog): void {
    if (own.entries.length === 0 && !own.isDeleted) this.#logs.delete(log)
  }
}

function newestFirst(a: Document, b: Document): number {
  return comparePositions(b, a)
}
