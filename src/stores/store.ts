/**
 * The storage contract: documents and logs, read and written in synchronous transactions. Every store (memory,
 * SQLite, the storage of a Durable Object) implements this and nothing else.
 *
 * The door `stores` keeps documents and logs. Begin here, then `memory.ts`. SQL is in `sql/`, with `sqlite/` and `postgres/`
 * over it (the schema of PostgreSQL is `postgres/schema.ts`), Durable Objects in `objects/`, what a store far away needs in
 * `remote/`. May import `base` alone.
 *
 * @module
 */

import type { Presence } from './presence.ts'

/** Text values by which documents can be searched. Names have only letters and digits. */
export type Tags = Readonly<Record<string, string>>

/** A value with the data by which it is found. */
export interface Document<T = unknown> {
  readonly id: string
  /** The list that the document is in: of an owner, or of a session. */
  readonly partition: string
  /** The position in lists, newest first. Milliseconds since 1970. */
  readonly at: number
  readonly tags: Tags
  /** From this time on, a sweep may delete the document. Absent: never. */
  readonly expiresAt?: number | undefined
  /** Any JSON value of any size. Stores split values that are too large for a row. */
  readonly value: T
  /** The text by which the document is found. Its first 4,096 characters count. No store returns it. */
  readonly text?: string | undefined
}

/**
 * When a store without room may delete a thing: `first` before others, or `last` if no others are left. `alone`: the document
 * is deleted before all others, without its thing. Use it for documents that are only a convenience.
 */
export type EvictionOrder = 'alone' | 'first' | 'last'

/** How a store of limited size treats a document. Other stores ignore it. No store returns it. */
export interface Eviction {
  /**
   * The thing to which the document belongs. All parts of a thing, and the log with its name, are deleted together. Absent:
   * the document is a thing of its own.
   */
  readonly thing?: string | undefined
  /** When the document allows its thing to be deleted. Absent: it does not. */
  readonly leaves?: EvictionOrder | undefined
  /** Bytes in memory that belong to the document besides its own, such as the input of a running run. */
  readonly weight?: number | undefined
}

/** The position of a document in lists. */
export type Position = Pick<Document, 'at' | 'id'>

/** Which documents to list. */
export interface ListQuery {
  readonly partition: string
  /** The last document of the page before. Only documents after it in the list are returned. */
  readonly after?: Position | undefined
  readonly limit: number
}

/** Which documents match. */
export interface Filter {
  /** Absent: documents of all partitions. */
  readonly partition?: string | undefined
  /** The tags that a document must have, all of them. */
  readonly tags?: Tags | undefined
  /**
   * Only documents whose text contains this, in lower case. A store with an index for texts looks only at documents whose text may contain
   * it. Otherwise a search looks at the text of each document.
   */
  readonly text?: string | undefined
  /** Only documents of this time or later. */
  readonly since?: number | undefined
  /** Only documents after this position in the list. */
  readonly after?: Position | undefined
  /** Most documents to look at. */
  readonly looks: number
}

/** Which documents to search for. */
export interface SearchQuery extends Filter, Omit<ListQuery, 'partition'> {}

/** The result of a search. */
export interface Found<T = unknown> {
  readonly documents: Document<T>[]
  /** The position from which to continue. Undefined at the end. It may exist even if nothing was found. */
  readonly next: Position | undefined
}

/** The result of a count. */
export interface Counted {
  readonly count: number
  /** Whether a search could look at more documents. Then more may match. */
  readonly isCut: boolean
}

/** Characters at the beginning of an id that suffice to find documents. */
export const PREFIX_LENGTH = 8

/** One entry of a log. */
export interface StoredLogEntry {
  /** Position in the log, from 1. */
  readonly seq: number
  readonly data: string
}

/** The reads of a store. A collection or log that was never written is empty. */
export interface Reader {
  /** The store's clock, in milliseconds since 1970. It is constant in a transaction that runs more than once. */
  readonly now: number
  get<T>(collection: string, id: string): Document<T> | undefined
  /** Documents of a partition, newest first (by `at`, then `id`). */
  list<T>(collection: string, query: ListQuery): Document<T>[]
  /**
   * The documents of a list that match a filter. If the store has an index for one of the tags, it looks only at documents
   * with that tag. Otherwise it looks at all documents of the partition, and so it does for all partitions.
   */
  search<T>(collection: string, query: SearchQuery): Found<T>
  /** The number of documents in a partition, or in all partitions. */
  count(collection: string, partition?: string): number
  /** Counts the documents that match a filter, among those that a search would look at. */
  countMatching(collection: string, filter: Filter): Counted
  /**
   * Documents whose id begins with `prefix`, in the order of their ids. `prefix` has at least {@link PREFIX_LENGTH}
   * characters.
   */
  withPrefix<T>(collection: string, prefix: string, limit: number): Document<T>[]
  /** Documents whose `expiresAt` has passed, the earliest first. */
  expired<T>(collection: string, now: number, limit: number): Document<T>[]
  /** The oldest documents of a partition, or of the whole collection. */
  oldest<T>(collection: string, limit: number, partition?: string): Document<T>[]
  /** Entries after a position, in order, at most `limit`. */
  read(log: string, after: number, limit: number): StoredLogEntry[]
  /** The number of entries in a log. */
  length(log: string): number
  /** Whether the log is sealed, so that it takes no more entries. */
  isSealed(log: string): boolean
}

/** The operations inside a transaction. Collections and logs exist from their first write on. */
export interface Transaction extends Reader {
  /** Adds a document or replaces the one of the same id. */
  put<T>(collection: string, document: Document<T>, eviction?: Eviction): void
  delete(collection: string, id: string): void
  /**
   * Adds an entry and returns its position. If the log is sealed, it writes nothing and returns undefined. `seal` makes the
   * entry the last one.
   */
  append(log: string, data: string, seal?: boolean): number | undefined
  deleteLog(log: string): void
  /**
   * The same as `count`, but without what other processes wrote within the last 250 ms. Only stores far away have it, since it asks
   * nothing.
   */
  recentCount?(collection: string, partition?: string): number
  /**
   * States that no document and no log has this id, since it was made at random a moment ago. The commit still checks that. Only
   * stores far away have it: they ask nothing for the id.
   */
  assumeNew?(id: string): void
  /**
   * Notifies another instance after the commit that this transaction has ended work of its own. Only stores that can notify other
   * processes have it.
   */
  call?(instance: string): void
}

/** A value, or a promise of it. */
export type Soon<T> = T | Promise<T>

/** Milliseconds for which a failed read or write is retried. */
export const PATIENCE_MS = 1000

/** The same for a remote store, which may be busy. */
export const REMOTE_PATIENCE_MS: number = 5 * PATIENCE_MS

/** Returns the default milliseconds of retries for a store. */
export function patienceOf({ isRemote = false }: Pick<Store, 'isRemote'>): number {
  return isRemote ? REMOTE_PATIENCE_MS : PATIENCE_MS
}

/**
 * A store. It returns a value if it can answer at once, otherwise a promise. If the store cannot be reached, or another
 * process is writing it, it tries again for `patienceMs` (default {@link PATIENCE_MS}) without blocking. After that it fails
 * with `state_unavailable`. Errors of the work itself are thrown at once.
 */
export interface Store extends Presence {
  /** Whether the store is on another machine. Callers do not wait for its writes where they need not. Default: false. */
  readonly isRemote?: boolean
  /** Reads the store as of one moment. It does not wait for writers. */
  read<T>(work: (tx: Reader) => T, patienceMs?: number): Soon<T>
  /**
   * Runs `work` as one transaction. All of it is written, or nothing if it throws. Writes happen in the order of the calls,
   * except that a retried write may come later. `work` may run more than once; only its last run counts. Throws `state_full`
   * if there is no room.
   */
  write<T>(work: (tx: Transaction) => T, patienceMs?: number): Soon<T>
  /**
   * Calls `wake` when a log may have grown, whichever process wrote it. A caller that reads the log after the promise resolves
   * misses nothing, except for lost notifications, so it reads again after a while. Absent: the store does not notify of the
   * writes of other processes.
   */
  watch?(log: string, wake: () => void): Promise<LogWatch>
  /** Calls `wake` when other processes may have ended work of this one. Absent: this process must check for itself. */
  onCall?(wake: () => void): void
  /** Calls `wake` when this process failed to renew its lease for so long that other processes may take over its work. */
  onLate?(wake: () => void): void
  /** Calls `wake` with the error when the store is lost to this process. Running work can no longer be written. */
  onLost?(wake: (why: unknown) => void): void
  /** Prevents a thing's deletion until the returned function is called. Stores of unlimited size do not have it. */
  hold?(thing: string): () => void
  /** Closes files and handles. */
  close(): void
}

/** The watch of a log. */
export interface LogWatch {
  /** Whether notifications arrive now. If not, the caller must read the log. */
  readonly isLive: boolean
  stop(): void
}

/** A store that answers at once. Each operation is complete when it returns. */
export interface NearStore extends Store {
  read<T>(work: (tx: Reader) => T): T
  write<T>(work: (tx: Transaction) => T): T
  /** The same as `write`, for code that needs the result at once. */
  transact<T>(work: (tx: Transaction) => T): T
}
