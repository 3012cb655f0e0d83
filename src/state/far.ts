/**
 * What a store that is far away must do: answer questions as of one moment, and write what was decided on the answers where
 * they still hold. `replay.ts` makes a store of it, in which works stay synchronous (decision 31).
 *
 * @module
 */

import type { Document, Filter, Footing, ListQuery, LogEntry, Place, SearchQuery } from './store.ts'

/** Tells one state of a thing from all others: it is never the same again once the thing has changed. */
export type Version = string | number

/** What a store can be asked, by name. */
export interface Asks {
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
  /** Entries after a place, and how the log stands; of no entries, the latter alone. */
  readonly log: { readonly log: string; readonly after: number; readonly limit: number }
}

/** A document as it was found. */
export interface Versioned {
  readonly document: Document
  readonly version: Version
}

/** How a log stands. */
export interface LogHead {
  /** Undefined where there is no log. A log that is deleted and written again is another one. */
  readonly version: Version | undefined
  readonly length: number
  readonly isSealed: boolean
}

/** What it answers. */
export interface Answers {
  readonly get: Versioned | undefined
  readonly list: readonly Versioned[]
  readonly search: { readonly documents: readonly Versioned[]; readonly next: Place | undefined }
  readonly count: number
  readonly countMatching: number
  readonly withPrefix: readonly Versioned[]
  readonly expired: readonly Versioned[]
  readonly oldest: readonly Versioned[]
  readonly log: LogHead & { readonly entries: readonly LogEntry[] }
}

/** One question. */
export type Ask<K extends keyof Asks = keyof Asks> = { readonly [N in K]: { readonly what: N } & Asks[N] }[K]

/** A document that was looked at: the same version must be there, or none where there was none. */
export interface SeenDocument {
  readonly collection: string
  readonly id: string
  readonly version: Version | undefined
}

/** A log that was looked at: it must be the same one. */
export interface SeenLog {
  readonly log: string
  readonly version: Version | undefined
  /** It must be as long, and sealed or not as it was. Undefined where its end was not looked at: then it may have grown. */
  readonly head: Pick<LogHead, 'length' | 'isSealed'> | undefined
}

/** A document to write; to delete where there is none. */
export interface DocumentChange {
  readonly collection: string
  readonly id: string
  readonly document: Document | undefined
  readonly footing: Footing | undefined
}

/** What happens to a log: it is deleted, and then written to. */
export interface LogChange {
  readonly log: string
  readonly isDeleted: boolean
  readonly entries: readonly string[]
  /** The last of the entries seals it. */
  readonly isSealed: boolean
}

/** What is written as one, where all that was seen is as it was. */
export interface Commit {
  /** Its own: what comes again with it is what was not answered, and may be written already. */
  readonly id: string
  readonly seen: { readonly documents: readonly SeenDocument[]; readonly logs: readonly SeenLog[] }
  readonly documents: readonly DocumentChange[]
  readonly logs: readonly LogChange[]
}

/** A store that is far away. Rejects where it cannot be reached. */
export interface Far {
  /** Answers all questions as of one moment, in their order. None: it can be reached. */
  look(asks: readonly Ask[]): Promise<readonly Answers[keyof Asks][]>
  /** Writes all; false, and nothing is written, where something is no longer as it was seen. Throws `state_full`. */
  commit(commit: Commit): Promise<boolean>
  /** Its clock, as far as it is known here: milliseconds since 1970. */
  now(): number
}
