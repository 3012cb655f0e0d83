import type { SessionKey } from '../../agents/memory.ts'
import type { FileOwner } from '../../runs/files.ts'
import type { addressesOf } from './address.ts'
import type { FileMetadata } from './documents.ts'

/** The data that a store gets with a file. */
export interface FileFacts {
  /** A valid media type. It comes from the agent or client; the content was not checked. */
  readonly mimeType: string
}

/** The content of a file, as a store returns it. */
export type FileBytes = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

type Soon<T> = T | Promise<T>

/**
 * A custom store for the bytes of files. The handler's `state` still stores the references to them. A name is 64 hexadecimal
 * digits of the SHA-256, a hyphen and 8 random ones; no part of it comes from a client. The file of a name never changes.
 */
export interface FileStore {
  /** Writes a file, or writes it again. An incomplete file must not be found. */
  put(name: string, bytes: Uint8Array<ArrayBuffer>, facts: FileFacts): Soon<unknown>
  /** Returns the file, or nothing if there is none. */
  get(name: string): Soon<FileBytes | null | undefined>
  /** Deletes a file. A missing file is no error. */
  delete(name: string): Soon<unknown>
  /** Whether there is a file. Called before the second write of an earlier file is skipped. */
  has(name: string): Soon<boolean>
}

/** Files of at most this many bytes stay in the events. */
export const INLINE_BYTES = 4096

/** The options with their defaults. */
export interface FileSettings {
  readonly store: FileStore | undefined
  readonly maxFileBytes: number
  readonly maxBytesPerOwner: number
}

/** The position of a file: its referrer, and the part in it. */
export interface FilePosition extends FileOwner {
  /** The run, or its turn. */
  readonly refId: string
  readonly place: string
  /** The session, if the turn of the run is the referrer. */
  readonly session?: SessionKey | undefined
}

/** Stores files. */
export interface Storing {
  readonly settings: FileSettings
  /** Most characters of a run's output. */
  readonly maxLength: number
  readonly addressOf: ReturnType<typeof addressesOf>
  /** Stores a file for its referrer. Rejects with `run_too_large`, `state_full` or `state_unavailable`. */
  store(position: FilePosition, bytes: Uint8Array<ArrayBuffer>, metadata: FileMetadata): Promise<void>
  /** Throws `run_too_large` if a file of this size exceeds the limit. */
  check(size: number): void
}
