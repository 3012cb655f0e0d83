/**
 * What this process knows of a remote store without asking: the documents and the ends of logs that it wrote or saw last, and recent
 * counts. A work may use it, since its commit checks all versions. If another process has changed something, the commit fails, and the
 * work runs again on what the store answers.
 *
 * @module
 */

import { sizeOf } from '../size.ts'
import type { Document } from '../store.ts'
import type {
  Commit,
  DocumentChange,
  LogChange,
  LogHead,
  StoreAnswers,
  StoreQueries,
  StoreQuery,
  Version,
  Versioned,
} from './remote.ts'

/** Most documents, logs and counts that are known, and most characters of the documents as JSON. */
const MAX_KNOWN = 10_000
const MAX_LENGTH = 8_000_000

/** Most bytes of a document's value that is remembered, by estimate. */
const MAX_VALUE_BYTES = 65_536

/** Milliseconds after which a count is asked for again, so that the writes of other processes are in it. */
const COUNT_MS = 250

/** A remembered document, as JSON, since works must not share objects. */
interface KnownDocument {
  readonly text: string
  readonly partition: string
  readonly version: Version
}

/** A count, and when the store gave it. */
interface KnownCount {
  count: number
  readonly at: number
}

/** The end of a log that is not there. */
const NO_LOG: LogHead = { version: undefined, length: 0, isSealed: false }

/** The knowledge of one process. */
export class Known {
  readonly #documents = new Map<string, KnownDocument>()
  readonly #heads = new Map<string, LogHead>()
  readonly #counts = new Map<string, KnownCount>()
  #length = 0

  document(collection: string, id: string): Versioned | undefined {
    const name = nameOf(collection, id)
    const known = this.#documents.get(name)
    if (known === undefined) return undefined
    // The documents that nobody uses are forgotten first.
    this.#documents.delete(name)
    this.#documents.set(name, known)
    return { document: JSON.parse(known.text) as Document, version: known.version }
  }

  /** The end of a log. */
  head(log: string): LogHead | undefined {
    return this.#heads.get(log)
  }

  /** A count that is not older than {@link COUNT_MS}. */
  count(collection: string, partition: string | undefined): number | undefined {
    const known = this.#counts.get(countOf(collection, partition))
    return known !== undefined && performance.now() - known.at < COUNT_MS ? known.count : undefined
  }

  /** Remembers answers that were asked for at a time. */
  learn(
    asks: readonly StoreQuery[],
    answers: readonly StoreAnswers[keyof StoreQueries][],
    askedAt: number,
  ): void {
    for (const [index, ask] of asks.entries()) {
      if (ask.what === 'count')
        this.#setCount(countOf(ask.collection, ask.partition), {
          count: answers[index] as number,
          at: askedAt,
        })
      else if (ask.what === 'get') this.#learnDocument(ask, answers[index] as StoreAnswers['get'])
    }
  }

  #learnDocument({ collection, id }: StoreQueries['get'], found: StoreAnswers['get']): void {
    if (found === undefined) this.#drop(nameOf(collection, id))
    else this.#remember(collection, found.document, found.version)
  }

  /** Remembers what a commit wrote, and what it has confirmed. */
  wrote({ seen, documents, logs, assumed = [] }: Commit, version: Version): void {
    for (const id of assumed) this.#setHead(id, NO_LOG)
    const existed = new Set(
      seen.documents.flatMap(({ collection, id, version: before }) =>
        before === undefined ? [] : nameOf(collection, id),
      ),
    )
    for (const change of documents) this.#wroteDocument(change, version, existed)
    const heads = new Map(seen.logs.map(each => [each.log, each]))
    for (const { log, version: before, head } of seen.logs)
      if (head !== undefined) this.#setHead(log, { version: before, ...head })
    for (const change of logs) this.#wroteLog(change, version, heads.get(change.log)?.version)
  }

  #wroteDocument(
    { collection, id, document }: DocumentChange,
    version: Version,
    existed: ReadonlySet<string>,
  ): void {
    const name = nameOf(collection, id)
    const before = this.#documents.get(name)
    if (document === undefined) {
      if (before !== undefined) this.#addToCounts(collection, before.partition, -1)
      return this.#drop(name)
    }
    if (before === undefined && !existed.has(name)) this.#addToCounts(collection, document.partition, 1)
    this.#remember(collection, document, version)
  }

  #wroteLog(
    { log, isDeleted, entries, isSealed }: LogChange,
    version: Version,
    seen: Version | undefined,
  ): void {
    const before = isDeleted ? 0 : this.#heads.get(log)?.length
    this.#heads.delete(log)
    // Nothing is added to a sealed log, so nobody asks for its end.
    if (isSealed || before === undefined || entries.length === 0) return
    const length = before + entries.length
    this.#setHead(log, { version: isDeleted ? version : (seen ?? version), length, isSealed })
  }

  /** Forgets what a commit has seen that was not written: something of it has changed. */
  forget({ seen, documents, logs }: Commit): void {
    for (const { collection, id } of [...seen.documents, ...documents]) this.#drop(nameOf(collection, id))
    for (const { log } of [...seen.logs, ...logs]) this.#heads.delete(log)
  }

  #remember(collection: string, document: Document, version: Version): void {
    const name = nameOf(collection, document.id)
    this.#drop(name)
    if ((sizeOf(document.value) ?? 0) > MAX_VALUE_BYTES) return
    const text = JSON.stringify(document)
    this.#documents.set(name, { text, partition: document.partition, version })
    this.#length += text.length
    for (const [oldest] of this.#documents) {
      if (this.#documents.size <= MAX_KNOWN && this.#length <= MAX_LENGTH) return
      this.#drop(oldest)
    }
  }

  #drop(name: string): void {
    this.#length -= this.#documents.get(name)?.text.length ?? 0
    this.#documents.delete(name)
  }

  #setHead(log: string, head: LogHead): void {
    this.#heads.delete(log)
    this.#heads.set(log, head)
    dropOldest(this.#heads)
  }

  #setCount(key: string, count: KnownCount): void {
    this.#counts.delete(key)
    this.#counts.set(key, count)
    dropOldest(this.#counts)
  }

  #addToCounts(collection: string, partition: string, more: number): void {
    for (const key of [countOf(collection, undefined), countOf(collection, partition)]) {
      const known = this.#counts.get(key)
      if (known !== undefined) known.count += more
    }
  }
}

function dropOldest(map: Map<string, unknown>): void {
  if (map.size <= MAX_KNOWN) return
  for (const [oldest] of map) {
    map.delete(oldest)
    return
  }
}

/** One text for two names. JSON separates them unambiguously. */
export function nameOf(collection: string, id: string): string {
  return JSON.stringify([collection, id])
}

function countOf(collection: string, partition: string | undefined): string {
  return nameOf(collection, partition === undefined ? '' : `p${partition}`)
}
