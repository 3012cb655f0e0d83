/**
 * The settings and the caller of a run, beside its servable and its input.
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

/** The settings of all runs of a handler. */
export interface RunSettings {
  /** Masks the text of server errors. */
  readonly production: boolean
  /** The most milliseconds that a run may take. */
  readonly timeoutMs: number
  /** The most events of one run. More fail it with `run_too_large`. */
  readonly maxEvents: number
  /** The most characters of a JSON answer. */
  readonly maxLength: number
  /** Stores the memory of agents; undefined if there is none. */
  readonly memory?: MemoryStorage | undefined
  /** Called once for each failure, with the text before masking but without keys. */
  readonly onFailure?: (failure: RunFailure) => void
  /** Called for every run. Never throws. */
  readonly observer?: Pick<Observer, 'start'> | undefined
  /** The runs at work, for a server that closes. */
  readonly working?: WorkingRuns | undefined
  /** The middleware of every run. */
  readonly runMiddleware?: RunMiddleware | undefined
}

/** The caller of a run. */
export interface Caller {
  /** Cancels the run. The run listens to it once it is armed. */
  readonly signal?: AbortSignal | undefined
  /** Secrets of the request, beside the keys of the run, that must not be logged. */
  readonly secrets?: (() => readonly string[]) | undefined
  /** Whether the run has a record. */
  readonly isStored?: boolean
  /** The transport of the request, if it is known. */
  readonly transport?: string | undefined
  /** The run that this one continues. */
  readonly continues?: Continued | undefined
  /** Set if the run goes on after its process died: its work, and the milliseconds since it began. */
  readonly cut?: { readonly work: KeptWork; readonly sinceMs: number } | undefined
  /** Stores the run's work as it is done. */
  readonly journal?: Journal | undefined
  /** Whether its log has what models were sent and replied. */
  readonly keepsCalls?: boolean | undefined
  /** Why a waiting run cannot be stored, if so. */
  readonly whyUnkept?: string | undefined
  /**
   * Stores a waiting run before its end is sent. Absent if the reader of the run stores it.
   */
  readonly keep?: ((run: KeptRun) => Promise<void>) | undefined
}

/** A waiting run to store. */
export type KeptRun = Pick<WaitingRun, 'id' | 'waiting' | 'event'>

/** The options of a run before it starts. */
export type PlainOptions = Omit<RunOptions, 'signal'>
