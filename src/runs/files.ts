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

/** A file that a run made, and that is kept apart from it. */
export interface MadeFile {
  readonly runId: string
  /** Where it is in the run. Letters, digits, hyphens and a dot. */
  readonly place: string
  readonly filename: string
  /** A valid media type. It comes from the agent; the content was not checked. */
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
}

/** A file to read. */
export interface OpenedFile extends MadeFile {
  /** The address from which it is downloaded. It begins with `publicUrl`, if that is set. */
  readonly address: string
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
  /** Undefined if it is deleted. */
  read(): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined>
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
  /** Files that runs of an owner made, newest first: at most `limit`. A file of several runs is in it once. */
  made?(owner: string, limit: number): Promise<readonly MadeFile[]>
  /** A file that a run made. Undefined if there is none, or it belongs to somebody else. */
  open?(run: FileOwner, place: string): Promise<OpenedFile | undefined>
  /** The file of an address that a part of a run has. Undefined for any other address. */
  placeOf?(address: string): Promise<Pick<MadeFile, 'runId' | 'place'> | undefined>
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
