/**
 * What the writing of a log needs, and what it offers. `log-writer.ts` does it.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunResult } from '../../agents/contract.ts'
import type { Fold } from '../../agents/fold.ts'
import type { Store, Transaction } from '../../stores/store.ts'
import type { RunFiles } from '../files.ts'
import type { Watch } from './watch.ts'
import type { WorkingRuns } from './working.ts'

/** The options of a log writer. */
export interface LogWriterOptions {
  readonly store: Store
  /** Name of the log. */
  readonly log: string
  /** The followers of the log. */
  readonly watch: Pick<Watch, 'changed' | 'recent' | 'readers'>
  /** The most characters of the log, and of the result. More fail the run with `run_too_large`. */
  readonly maxBytes: number
  readonly maxLength: number
  /** Notified when a run has ended and its end is to be stored. */
  readonly working: WorkingRuns | undefined
  /**
   * Milliseconds for which the events after one may wait, to be written together. Default: 0, the end of the turn of the event
   * loop; on a remote store 25.
   */
  readonly gatherMs?: number | undefined
  /** Stores the files of the run; undefined if they stay in its events. */
  readonly files?: RunFiles | undefined
  /** Whether the run is still this process's. Absent if no other process can take it over. */
  readonly isOurs?: ((tx: Transaction) => boolean) | undefined
  /** What the log has of the run already, if its process died before. */
  readonly before?: { readonly fold: Fold; readonly bytes: number } | undefined
  /** Leaves the run to another worker, because its output cannot be written. Absent if it then fails. */
  readonly leave?: (() => void) | undefined
  /** The number of entries that the log has already. Default: 0. */
  readonly length?: number | undefined
  /** Returns the log entries of an event. Throws for an event that cannot be written. */
  encode(event: RunEvent): readonly string[]
  /**
   * Writes the end, in one transaction with the events that are still to be written. Called again if that fails. `result` is set
   * unless the run failed.
   */
  finish(
    tx: Transaction,
    event: FinishEvent | ErrorEvent,
    result: RunResult | undefined,
    written: WrittenRun,
  ): void
  /** Called once for an end that cannot be written. The write is retried until it succeeds. */
  onStuck(error: unknown): void
}

/** What was written of a run, or could be, when it ends. */
export interface WrittenRun {
  /** It has folded all events. */
  readonly fold: Fold
  /** The bytes of the log, but for its end. */
  readonly bytes: number
  /** Writes the notes that waited, which an end makes needless. Returns false if the run is no longer this process's. */
  writeNotes(tx: Transaction): boolean
}

/** The writing of a log. */
export interface LogWriting {
  /** Resolves once the end is stored, however long that takes, or the store is lost. Never rejects. */
  readonly ended: Promise<void>
  /** Whether no step and no call of a tool is at work. */
  readonly isBetween: boolean
  /**
   * Resolves as `ended`, but rejects if the next attempt to write the end fails, after `withinMs` milliseconds (default: never),
   * and when `signal` fires.
   */
  tried(patience?: { readonly withinMs?: number; readonly signal?: AbortSignal }): Promise<void>
  /**
   * Writes something beside the log, in one transaction with all output of the run until now. `write` returns false if the run is
   * no longer this process's. Does nothing once the run has ended. Rejects if it cannot be written. With `mayWait` it is gathered with
   * the events, or until `flush`. If the run ends before, it is not written, and resolves.
   */
  keep(write: (tx: Transaction) => boolean, mayWait?: boolean): Promise<void>
  /** Writes what waits, now. */
  flush(): void
}
