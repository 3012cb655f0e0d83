/**
 * The storage contract: documents and logs, read and written in synchronous transactions. Every store (memory,
 * SQLite, the storage of a Durable Object) implements this and nothing else.
 *
 * @module
 */

import type { Presence } from './presence.ts'

/** Text values by which documents can be searched for. Their names are of letters and digits. */
export type Tags = Readonly<Record<string, string>>

/** A value with what it takes to find it again. */
export interface Document<T = unknown> {
  readonly id: string
  /** Documents are listed by partition: an owner, a session. */
  readonly partition: string
  /** Lists go by it, newest first. Milliseconds since 1970. */
  readonly at: number
  readonly tags: Tags
  /** From this moment on the document may be swept. Absent: never. */
  readonly expiresAt?: number | undefined
  /** Any JSON value of any size; stores split what is too large for a row. */
  readonly value: T
}

/**
 * When a thing may leave a store that has no room left: before others, or once no others may. `alone`: this document
 * leaves before all others, without its thing; it is a convenience.
 */
export type Leaving = 'alone' | 'first' | 'last'

/** How a document stands in a store of bounded size. Other stores do not look at it, and none gives it back. */
export interface Footing {
  /** The thing that it is a part of. All parts of a thing, and the log of its name, leave together. Absent: it is one. */
  readonly thing?: string | undefined
  /** Absent: not on its account. */
  readonly leaves?: Leaving | undefined
  /** Bytes in memory that it stands for beside itself, such as the input of a run at work. */
  readonly weight?: number | undefined
}

/** The place of a document in lists. */
export type Place = Pick<Document, 'at' | 'id'>

/** Which documents to list. */
export interface ListQuery {
  readonly partition: string
  /** Only documents after this one in the order of the list: the last one of the page before. */
  readonly after?: Place | undefined
  readonly limit: number
}

/** Which documents are meant. */
export interface Filter {
  readonly partition: string
  /** All of these must be equal. */
  readonly tags?: Tags | undefined
  /** Only documents of this moment or later. */
  readonly since?: number | undefined
  /** Most documents that are looked at. */
  readonly looks: number
}

/** Which documents to search for. */
export interface SearchQuery extends Filter, ListQuery {}

/** What a search has found. */
export interface Found<T = unknown> {
  readonly documents: Document<T>[]
  /** The place after which to go on; undefined at the end. It may be there though nothing was found. */
  readonly next: Place | undefined
}

/** Characters of the beginning of an id by which documents are found. */
export const PREFIX_LENGTH = 8

/** One entry of a log. */
export interface LogEntry {
  /** Place in the log, from 1. */
  readonly seq: number
  readonly data: string
}

/** What can be looked at. A collection or a log that was never written is empty. */
export interface Reader {
  /** The store's clock, in milliseconds since 1970. It stands still in a transaction that is played more than once. */
  readonly now: number
  get<T>(collection: string, id: string): Document<T> | undefined
  /** Documents of a partition, newest first (by `at`, then `id`). */
  list<T>(collection: string, query: ListQuery): Document<T>[]
  /**
   * Those of a list that a filter leaves. It looks at the documents that have one of the tags, where the store knows them
   * by it, so that one tag finds at once what has it; otherwise at all of the partition.
   */
  search<T>(collection: string, query: SearchQuery): Found<T>
  /** How many documents a partition holds; of all partitions without one. */
  count(collection: string, partition?: string): number
  /** How many documents a filter leaves, of those that a search would look at. */
  countMatching(collection: string, filter: Filter): number
  /** Documents whose id begins with `prefix`, of {@link PREFIX_LENGTH} characters or more, in the order of their ids. */
  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[]
  /** Documents whose `expiresAt` has come, the earliest first. */
  expired<T>(collection: string, now: number, limit: number): Document<T>[]
  /** The oldest documents of a collection: of a partition, of all without one. */
  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[]
  /** Entries after a place, in order; at most `limit` of them. */
  read(log: string, after: number, limit: number): LogEntry[]
  /** How many entries a log has. */
  length(log: string): number
  /** Whether the log has its last entry. */
  isSealed(log: string): boolean
}

/** What can be done inside a transaction. Collections and logs come into being when they are first written. */
export interface Transaction extends Reader {
  /** Adds a document or replaces the one of the same id. */
  put<T>(collection: string, document: Document<T>, footing?: Footing): void
  delete(collection: string, id: string): void
  /**
   * Adds an entry and returns its place; undefined, and nothing is written, where the log is sealed. `seal` makes
   * the entry the last one for good.
   */
  append(log: string, data: string, seal?: boolean): number | undefined
  deleteLog(log: string): void
}

/** Now, or later. */
export type Soon<T> = T | Promise<T>

/** Milliseconds for which a store that cannot be read or written is tried again. */
export const PATIENCE_MS = 1000

/**
 * A store. What can be done at once gives its value, all else a promise. A store that cannot be reached, or that another one
 * is writing, is tried again for so many milliseconds (default {@link PATIENCE_MS}), while everything else goes on; then it
 * is `state_unavailable`. What the work itself throws comes through at once.
 */
export interface Store extends Presence {
  /** Looks at the store as it is at one moment. Waits for nobody who writes. */
  read<T>(work: (tx: Reader) => T, patienceMs?: number): Soon<T>
  /**
   * Runs `work` as one: all of it is written, or, when it throws, nothing. Writes happen in the order in which they were
   * asked for; what has to be tried again comes later. `work` may run more than once, of which all but the last time is undone. Throws `state_full` where there is no
   * room.
   */
  write<T>(work: (tx: Transaction) => T, patienceMs?: number): Soon<T>
  /** Keeps a thing from leaving, until what this gives is called. Stores of unbounded size have none. */
  hold?(thing: string): () => void
  /** Lets go of files and handles. */
  close(): void
}

/** A store that is at hand: whatever is asked of it has happened when it answers. */
export interface NearStore extends Store {
  read<T>(work: (tx: Reader) => T): T
  write<T>(work: (tx: Transaction) => T): T
  /** `write`, for those who need it at once. */
  transact<T>(work: (tx: Transaction) => T): T
}
