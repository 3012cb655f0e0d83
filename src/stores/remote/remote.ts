/**
 * The interface of a remote store. It answers questions as of one moment, and writes changes if the answers are still valid.
 * `replay.ts` makes it a store whose works stay synchronous (decision 31).
 *
 * @module
 */

import type {
  Counted,
  Document,
  Eviction,
  Filter,
  ListQuery,
  Position,
  SearchQuery,
  StoredLogEntry,
} from '../store.ts'

/** Identifies one state of a document or log. Every change gives a new version, and no version returns. */
export type Version = string | number

/** The questions to a store, by name. */
export interface StoreQueries {
  readonly get: { readonly collection: string; readonly id: string }
  readonly list: { readonly collection: string } & ListQuery
  readonly search: { readonly collection: string } & SearchQuery
  readonly count: { readonly collection: string; readonly partition?: string | undefined }
  readonly countMatching: { readonly collection: string } & Filter
  readonly withPrefix: { readonly collection: string; readonly prefix: string; readonly limit: number }
  readonly expired: { readonly collection: string; readonly now: number; readonly limit: number }
  readonly oldest: {
    readonly collection: string
    readonly partition?: string | undefined
    readonly limit: number
  }
  /** Entries after a position, and the state of the log. A limit of 0 asks for the state alone. */
  readonly log: { readonly log: string; readonly after: number; readonly limit: number }
}

/** A document as it was found. */
export interface Versioned {
  readonly document: Document
  readonly version: Version
}

/** The state of a log. */
export interface LogHead {
  /** Undefined if there is no log. A log that is deleted and written again has another version. */
  readonly version: Version | undefined
  readonly length: number
  readonly isSealed: boolean
}

/** The answers to the questions, by name. */
export interface StoreAnswers {
  readonly get: Versioned | undefined
  readonly list: readonly Versioned[]
  readonly search: { readonly documents: readonly Versioned[]; readonly next: Position | undefined }
  readonly count: number
  readonly countMatching: Counted
  readonly withPrefix: readonly Versioned[]
  readonly expired: readonly Versioned[]
  readonly oldest: readonly Versioned[]
  readonly log: LogHead & { readonly entries: readonly StoredLogEntry[] }
}

/** One question. */
export type StoreQuery<K extends keyof StoreQueries = keyof StoreQueries> = {
  readonly [N in K]: { readonly what: N } & StoreQueries[N]
}[K]

/** A document that a work has read. At the commit it must have the same version, or still be absent. */
export interface SeenDocument {
  readonly collection: string
  readonly id: string
  readonly version: Version | undefined
}

/** A log that a work has read. At the commit it must be the same log. */
export interface SeenLog {
  readonly log: string
  readonly version: Version | undefined
  /**
   * The length and seal that must not have changed. Undefined if the work did not use the log's end; then the log may have
   * grown.
   */
  readonly head: Pick<LogHead, 'length' | 'isSealed'> | undefined
}

/** A document to write. Without a value, the document is deleted. */
export interface DocumentChange {
  readonly collection: string
  readonly id: string
  readonly document: Document | undefined
  /** The text by which it is found. */
  readonly text?: string | undefined
  readonly eviction: Eviction | undefined
}

/** A change of a log. It is deleted first, then written to. */
export interface LogChange {
  readonly log: string
  readonly isDeleted: boolean
  readonly entries: readonly string[]
  /** Whether the last of the entries seals the log. */
  readonly isSealed: boolean
}

/** Changes that are written together, if everything that was read is unchanged. */
export interface Commit {
  /** An id of its own. A repeated commit has the same id, since the first one may be written already. */
  readonly id: string
  /** The name of this process when the works ran, if it has one: they may have written it. */
  readonly by: string | undefined
  readonly seen: { readonly documents: readonly SeenDocument[]; readonly logs: readonly SeenLog[] }
  readonly documents: readonly DocumentChange[]
  readonly logs: readonly LogChange[]
  /** Ids of which the works have assumed that they are new. */
  readonly assumed?: readonly string[]
  /** Instances to notify after the commit, because this commit has ended work of theirs. */
  readonly calls: readonly string[]
}

/** The result of a commit that was written. */
export interface Committed {
  /** The version of all documents that it wrote, and of the logs that it began. */
  readonly version: Version
}

/** A remote store. It rejects if it cannot be reached. */
export interface RemoteStore {
  /** Answers all questions in order, as of one moment. Without questions, it only confirms that the store can be reached. */
  look(asks: readonly StoreQuery[]): Promise<readonly StoreAnswers[keyof StoreQueries][]>
  /** Writes everything. If anything that was read has changed, it writes nothing and returns undefined. Throws `state_full`. */
  commit(commit: Commit): Promise<Committed | undefined>
  /** The name of this process. Undefined if it never changes. */
  readonly instance?: string | undefined
  /** The store's clock, as this process estimates it: milliseconds since 1970. */
  now(): number
}
