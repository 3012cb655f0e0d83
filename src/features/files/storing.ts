import type { SessionKey } from '../../agents/memory.ts'
import type { FileOwner } from '../../runs/files.ts'
import type { addressesOf } from './address.ts'
import type { FileStore } from './store.ts'
import type { FileMetadata } from './transactions.ts'

/** The options with their defaults. */
export interface FileSettings {
  readonly store: FileStore | undefined
  readonly inlineBytes: number
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
