import type { SessionKey } from '../../agents/memory.ts'
import type { FileOwner } from '../../runs/files.ts'
import type { addressesOf } from './address.ts'
import type { FileStore } from './store.ts'
import type { Told } from './transactions.ts'

/** The options with every default in place. */
export interface FileSettings {
  readonly store: FileStore | undefined
  readonly inlineBytes: number
  readonly maxFileBytes: number
  readonly maxBytesPerOwner: number
}

/** Where a file stands: who refers to it, and where. */
export interface Standing extends FileOwner {
  /** The run, or its turn. */
  readonly refId: string
  readonly place: string
  /** The session, where the turn of the run refers to it. */
  readonly session?: SessionKey | undefined
}

/** Stores files. */
export interface Storing {
  readonly settings: FileSettings
  /** Most characters that a run may say. */
  readonly maxLength: number
  readonly addressOf: ReturnType<typeof addressesOf>
  /** Stores a file for who refers to it. Rejects with `run_too_large`, `state_full` or `state_unavailable`. */
  store(standing: Standing, bytes: Uint8Array<ArrayBuffer>, told: Told): Promise<void>
  /** Throws `run_too_large` for a file of so many bytes, if it is. */
  check(size: number): void
}
