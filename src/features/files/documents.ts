/**
 * The documents about files.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'

/** Files by their ids. A partition has the files of an owner. */
export const FILES = 'file'
/** References: the referrer and the part in it. A partition has the references of a file. */
export const REFERENCES = 'file-reference'
/** Pieces of files in base64. */
export const PIECES = 'file-piece'
/** Bytes of each owner. */
export const OWNERS = 'file-owner'
/** Names to delete from a custom store. */
export const LEFT_OVER = 'file-left-over'

/** A stored file. */
export interface StoredFile {
  /** Its name in a custom store, and of its pieces in the state. */
  readonly name: string
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
  readonly size: number
  /** The number of its pieces in the state; 0 if it is in a custom store. */
  readonly pieces: number
  /** Whether all of its bytes are stored. */
  readonly isComplete: boolean
}

/** The metadata of a file in a reference. */
export interface FileMetadata {
  readonly mimeType: string
  readonly filename: string
}

/** A reference to a file. */
export interface Reference extends FileMetadata {
  readonly fileId: string
  /** The session, if a turn is the referrer. */
  readonly session?: SessionKey | undefined
}

/** The run or turn that refers, in the id of a reference. */
export function referrerOf(id: string): string {
  return id.slice(0, id.lastIndexOf('/'))
}
