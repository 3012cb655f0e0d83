/**
 * What a run is started with, beside its servable and its input.
 *
 * @module
 */

import type { RunOptions } from '../agents/contract.ts'
import type { MemoryStorage } from '../agents/memory.ts'
import type { Journal, KeptWork } from '../agents/work/work.ts'
import type { RunFailure } from './failures.ts'
import type { Observer } from './observer.ts'
import type { RunMiddleware } from './run-middleware.ts'
import type { WorkingRuns } from './stored/working.ts'
import type { Continued, WaitingRun } from './waiting/waiting.ts'

/** What holds for every run of a handler. */
export interface RunSettings {
  /** Masks the text of server errors. */
  readonly production: boolean
  /** Milliseconds that a run may take. */
  readonly timeoutMs: number
  /** Most events of one run; more fail it with `run_too_large`. */
  readonly maxEvents: number
  /** Most characters that a JSON answer may hold. */
  readonly maxLength: number
  /** Keeps what agents remember; undefined where they remember nothing. */
  readonly memory?: MemoryStorage | undefined
  /** Told of all that fails, each once, with the text before masking but without keys. */
  readonly onFailure?: (failure: RunFailure) => void
  /** Is told of every run, and never throws. */
  readonly observer?: Pick<Observer, 'start'> | undefined
  /** Those at work, for a server that closes. */
  readonly working?: WorkingRuns | undefined
  /** What is around every run. */
  readonly runMiddleware?: RunMiddleware | undefined
}

/** Who has asked for a run. */
export interface Caller {
  /** Cancels it; it is looked at once the run is armed. */
  readonly signal?: AbortSignal | undefined
  /** What the request held that must stand in no log, beside the keys of the run. */
  readonly secrets?: (() => readonly string[]) | undefined
  /** The run has a record. */
  readonly isStored?: boolean
  /** How it asks, where that is known. */
  readonly transport?: string | undefined
  /** The run that this one continues. */
  readonly continues?: Continued | undefined
  /** The run goes on where its process died: with this work, so many milliseconds after it began. */
  readonly cut?: { readonly work: KeptWork; readonly sinceMs: number } | undefined
  /** Keeps the run's work as it is done. */
  readonly journal?: Journal | undefined
  /** Why a run that waits for someone cannot be kept, if so. */
  readonly whyUnkept?: string | undefined
  /**
   * Keeps a run that waits for someone, before that is told. Absent where whoever reads the run keeps it.
   */
  readonly keep?: ((run: KeptRun) => Promise<void>) | undefined
}

/** A run that waits, to be kept. */
export type KeptRun = Pick<WaitingRun, 'id' | 'waiting' | 'event'>

/** What is known of a run before it starts. */
export type PlainOptions = Omit<RunOptions, 'signal'>
