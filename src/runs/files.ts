/**
 * The files of stored runs, as the run host sees them: what a run says holds their addresses instead of their data.
 *
 * @module
 */

import type { RunEvent, RunInput } from '../agents/contract.ts'
import type { SessionKey } from '../agents/memory.ts'
import type { Transaction } from '../stores/store.ts'

/** Whose files they are. */
export interface FileOwner {
  /** The run that they are from. */
  readonly runId: string
  /** The identity that owns it; null where there is none. */
  readonly owner: string | null
}

/** Whose input it is. */
export interface InputOwner extends FileOwner {
  readonly isStored: boolean
}

/** Stores files apart from the runs that refer to them. */
export interface FileStorage {
  /** The files of one run that begins. */
  of(run: FileOwner): RunFiles
  /**
   * Stores the files of a run's input, and gives the input with their addresses. The turn of the run in its session refers to them
   * while it is kept, and so does a stored run.
   */
  input(run: InputOwner, input: RunInput, session: SessionKey): Promise<RunInput>
  /** An input with the data of its files again; one that is gone keeps its address. */
  restore(run: FileOwner, input: RunInput): Promise<RunInput>
  /** Turns of that owner, as this JSON, are in another session too: the files of their inputs stay while one of both is kept. */
  share?(turns: string, owner: string | null, session: SessionKey): Promise<void>
  /** A run is deleted, in this transaction: where files are in the store of runs. */
  forgetIn?(tx: Transaction, runId: string): void
  /** The same, before it is deleted: where files are elsewhere. */
  forget?(run: FileOwner): Promise<void>
  /** The turns of these runs, of that owner, are about to be deleted from a session. */
  forgetTurns?(runIds: readonly string[], owner: string | null, session: SessionKey): Promise<void>
}

/** The files of one run. */
export interface RunFiles {
  /**
   * Stores the files of an event, and gives what is to be written instead of it; undefined where the event stays as it is. Rejects
   * where a file cannot be stored, and once `signal` says that the run has ended.
   */
  take(event: RunEvent, signal: AbortSignal): Promise<readonly RunEvent[]> | undefined
}
