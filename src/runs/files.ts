/**
 * The files of stored runs, as the run host uses them: events and inputs hold the files' addresses instead of their data.
 *
 * @module
 */

import type { RunEvent, RunInput } from '../agents/contract.ts'
import type { SessionKey } from '../agents/memory.ts'
import type { Transaction } from '../stores/store.ts'

/** The owner of files. */
export interface FileOwner {
  /** The run that the files are from. */
  readonly runId: string
  /** The identity that owns the run; null if there is none. */
  readonly owner: string | null
}

/** The owner of an input's files. */
export interface InputOwner extends FileOwner {
  readonly isStored: boolean
}

/** Stores files apart from the runs that refer to them. */
export interface FileStorage {
  /** Opens the files of a run that begins. */
  of(run: FileOwner): RunFiles
  /**
   * Stores the files of a run's input, and returns the input with their addresses. The turn of the run in its session refers to
   * them as long as it is stored, and so does a stored run.
   */
  input(run: InputOwner, input: RunInput, session: SessionKey): Promise<RunInput>
  /** Restores the data of an input's files. A deleted file keeps its address. */
  restore(run: FileOwner, input: RunInput): Promise<RunInput>
  /** The owner's turns, as this JSON, are now in another session too. The files of their inputs stay until both are deleted. */
  share?(turns: string, owner: string | null, session: SessionKey): Promise<void>
  /** Called in the transaction that deletes a run, if files are in the store of runs. */
  forgetIn?(tx: Transaction, runId: string): void
  /** Called before a run is deleted, if files are elsewhere. */
  forget?(run: FileOwner): Promise<void>
  /** Called before the turns of these runs, of that owner, are deleted from a session. */
  forgetTurns?(runIds: readonly string[], owner: string | null, session: SessionKey): Promise<void>
}

/** The files of one run. */
export interface RunFiles {
  /**
   * Stores the files of an event, and returns the events to write instead; undefined if the event stays as it is. Rejects if a
   * file cannot be stored, and when `signal` fires because the run has ended.
   */
  take(event: RunEvent, signal: AbortSignal): Promise<readonly RunEvent[]> | undefined
}
