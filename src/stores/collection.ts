import type { BudgetPart } from './budget.ts'
import { type Document, type Position, PREFIX_LENGTH, type Tags } from './store.ts'
import { comparePositions, Timeline } from './timeline.ts'

/** A document with its data for the budget. */
export interface StoredContent {
  readonly document: Document
  /** The folded text of the document. */
  readonly text: string | undefined
  readonly part: BudgetPart
}

/** A stored document. A later version replaces the content, so that the orders stay as they are. */
class StoredDocument implements Position {
  readonly at: number
  readonly id: string
  content: StoredContent

  constructor(content: StoredContent) {
    this.at = content.document.at
    this.id = content.document.id
    this.content = content
  }

  get document(): Document {
    return this.content.document
  }
}

/** The entry of a document in the order of expiry. */
interface ExpiryEntry extends Position {
  readonly kept: StoredDocument
}

/** The documents of a collection in memory, in each order that queries use. */
export class Collection {
  readonly #byId = new Map<string, StoredDocument>()
  readonly #all = new Timeline<StoredDocument>()
  /** The documents that expire, by the time of expiry. */
  readonly #expiring = new Timeline<ExpiryEntry>()
  /** Documents by the first characters of their ids. Ids of runs share them by chance; all ids of sessions share them. */
  readonly #beginnings = new Map<string, Set<StoredDocument>>()
  readonly #partitions = new Map<string, TagIndex>()

  find(id: string): StoredContent | undefined {
    return this.#byId.get(id)?.content
  }

  /** Adds a document, or replaces the one with the same id. */
  put(content: StoredContent): void {
    const { document } = content
    const kept = this.#byId.get(document.id)
    const before = kept?.document
    if (kept === undefined || before?.at !== document.at || before.partition !== document.partition) {
      this.delete(document.id)
      this.#add(new StoredDocument(content))
      return
    }
    kept.content = content
    this.#partitions.get(before.partition)?.retag(kept, before.tags, document.tags)
    if (before.expiresAt === document.expiresAt) return
    this.#endExpiry(before)
    this.#beginExpiry(kept)
  }

  delete(id: string): void {
    const kept = this.#byId.get(id)
    if (kept === undefined) return
    const { document } = kept
    this.#byId.delete(id)
    this.#all.delete(kept)
    this.#forgetBeginning(kept)
    this.#endExpiry(document)
    const partition = this.#partitions.get(document.partition)
    partition?.delete(kept, document.tags)
    if (partition?.all.size === 0) this.#partitions.delete(document.partition)
  }

  /** The number of documents in a partition, or in all partitions. */
  count(partition: string | undefined): number {
    return this.#timelineOf(partition)?.size ?? 0
  }

  /** Documents, newest first, from the smallest known set that includes all documents with the tags. */
  *newest(
    partition: string | undefined,
    tags: Tags,
    after: Position | undefined,
  ): Generator<Pick<StoredContent, 'document' | 'text'>> {
    const timeline = partition === undefined ? this.#all : this.#partitions.get(partition)?.smallest(tags)
    for (const { content } of timeline?.newest(after) ?? []) yield content
  }

  /** Documents of a partition or of all partitions, oldest first. */
  oldest(partition: string | undefined): Iterable<Document> {
    return documentsOf(this.#timelineOf(partition)?.oldest())
  }

  /** Documents in the order of their expiry. */
  *expiring(): Generator<Document> {
    for (const { kept } of this.#expiring.oldest()) yield kept.document
  }

  /** Documents whose ids begin with the prefix. */
  withPrefix(prefix: string): Document[] {
    const found = [...(this.#beginnings.get(prefix.slice(0, PREFIX_LENGTH)) ?? [])]
      .filter(({ id }) => id.startsWith(prefix))
      .map(({ id, document }) => ({ at: 0, id, document }))
    return found.sort(comparePositions).map(({ document }) => document)
  }

  #timelineOf(partition: string | undefined): Timeline<StoredDocument> | undefined {
    return partition === undefined ? this.#all : this.#partitions.get(partition)?.all
  }

  #add(kept: StoredDocument): void {
    const { id, document } = kept
    this.#byId.set(id, kept)
    this.#all.put(kept)
    const beginning = id.slice(0, PREFIX_LENGTH)
    const alike = this.#beginnings.get(beginning)
    if (alike === undefined) this.#beginnings.set(beginning, new Set([kept]))
    else alike.add(kept)
    this.#beginExpiry(kept)
    let partition = this.#partitions.get(document.partition)
    if (partition === undefined) {
      partition = new TagIndex()
      this.#partitions.set(document.partition, partition)
    }
    partition.put(kept)
  }

  #forgetBeginning(kept: StoredDocument): void {
    const beginning = kept.id.slice(0, PREFIX_LENGTH)
    const alike = this.#beginnings.get(beginning)
    alike?.delete(kept)
    if (alike?.size === 0) this.#beginnings.delete(beginning)
  }

  #beginExpiry(kept: StoredDocument): void {
    const { expiresAt, id } = kept.document
    if (expiresAt !== undefined) this.#expiring.put({ at: expiresAt, id, kept })
  }

  #endExpiry({ expiresAt, id }: Document): void {
    if (expiresAt !== undefined) this.#expiring.delete({ at: expiresAt, id })
  }
}

function* documentsOf(kept: Iterable<StoredDocument> = []): Generator<Document> {
  for (const { document } of kept) yield document
}

/** The documents of a partition in the order of time: all of them, and those of each tag. */
class TagIndex {
  readonly all: Timeline<StoredDocument> = new Timeline()
  /** By the tag's name, then by its value. */
  readonly #tags = new Map<string, Map<string, Timeline<StoredDocument>>>()

  put(kept: StoredDocument): void {
    this.all.put(kept)
    this.retag(kept, {}, kept.document.tags)
  }

  delete(kept: StoredDocument, tags: Tags): void {
    this.all.delete(kept)
    this.retag(kept, tags, {})
  }

  /** Updates the index after a document's tags changed. */
  retag(kept: StoredDocument, before: Tags, tags: Tags): void {
    for (const tag of Object.keys(before)) {
      if (!Object.hasOwn(tags, tag) || tags[tag] !== before[tag]) this.#drop(kept, tag, before[tag]!)
    }
    for (const tag of Object.keys(tags)) {
      if (!Object.hasOwn(before, tag) || tags[tag] !== before[tag]) this.#open(tag, tags[tag]!).put(kept)
    }
  }

  /** The smallest set that includes all documents with these tags. Undefined if there are none. */
  smallest(tags: Tags): Timeline<StoredDocument> | undefined {
    let smallest = this.all
    for (const tag of Object.keys(tags)) {
      const timeline = this.#tags.get(tag)?.get(tags[tag]!)
      if (timeline === undefined) return undefined
      if (timeline.size < smallest.size) smallest = timeline
    }
    return smallest
  }

  #drop(kept: StoredDocument, tag: string, value: string): void {
    const values = this.#tags.get(tag)
    const timeline = values?.get(value)
    timeline?.delete(kept)
    if (timeline?.size === 0) values?.delete(value)
    if (values?.size === 0) this.#tags.delete(tag)
  }

  #open(tag: string, value: string): Timeline<StoredDocument> {
    let values = this.#tags.get(tag)
    if (values === undefined) {
      values = new Map()
      this.#tags.set(tag, values)
    }
    let timeline = values.get(value)
    if (timeline === undefined) {
      timeline = new Timeline()
      values.set(value, timeline)
    }
    return timeline
  }
}
