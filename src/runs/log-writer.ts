/**
 * Writes a run's events into a log as they come.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunResult } from '../agents/contract.ts'
import { isTerminal } from '../agents/event.ts'
import { Fold } from '../agents/fold.ts'
import { isServableError, ServableError } from '../errors.ts'
import type { Store, Transaction } from '../state/store.ts'
import type { Wake } from '../wake.ts'
import type { Run } from './run.ts'

/** Events that may wait for the end of a turn of the event loop. */
const MAX_BUFFERED = 256

/** What a log writer needs. */
export interface LogWriterOptions {
  readonly store: Store
  /** Name of the log. */
  readonly log: string
  /** Fires when there is something new in the log. */
  readonly changed: Wake
  /** Most characters of the log, and of the result. More fail the run with `run_too_large`. */
  readonly maxBytes: number
  readonly maxLength: number
  /** Milliseconds for which what follows an event may wait, to be written together. Default 0, to the end of the turn. */
  readonly gatherMs?: number | undefined
  /** The entries that an event becomes; throws for an event that cannot be written. */
  encode(event: RunEvent): readonly string[]
  /** Writes the end, in one transaction with what was still to be written. The result is there unless the run failed. */
  finish(tx: Transaction, event: FinishEvent | ErrorEvent, result: RunResult | undefined): void
}

/**
 * Reads `run` to its end and writes what it says. Nobody's reading of the log slows it down. Resolves once the end is
 * stored; rejects when the store cannot be written.
 */
export function writeLog(run: Run, options: LogWriterOptions): Promise<void> {
  return new LogWriter(run, options).pump()
}

class LogWriter {
  readonly #run: Run
  readonly #options: LogWriterOptions
  readonly #fold: Fold
  #buffer: string[] = []
  /** Runs until the end of the turn in which something was written. */
  #turn: ReturnType<typeof setTimeout> | undefined
  #bytes = 0

  constructor(run: Run, options: LogWriterOptions) {
    this.#run = run
    this.#options = options
    this.#fold = new Fold(options.maxLength)
  }

  pump(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#run.read(event => {
        if (event === undefined) {
          this.#options.changed.fire()
          resolve()
          return false
        }
        try {
          this.#take(event)
          return true
        } catch (error) {
          reject(error)
          return false
        }
      })
    })
  }

  /** Takes an event into the buffer; what cannot be written fails the run. */
  #take(event: RunEvent): void {
    try {
      const entries = this.#options.encode(event)
      for (const entry of entries) this.#grow(entry.length)
      this.#fold.add(event)
      this.#buffer.push(...entries)
      if (isTerminal(event)) this.#finish(event)
      else this.#write()
    } catch (error) {
      // After its end a run cannot fail: a store that cannot be written has the last word.
      if (isTerminal(event)) throw error
      this.#run.fail(isFull(error) ? noRoom(error) : error)
    }
  }

  /**
   * An event is written at once, and what follows it within the same turn of the event loop together, at the turn's
   * end: a model's tokens wait for nobody, and a burst costs one transaction and wakes its readers once. With `gatherMs` they
   * wait for so long, and so do those that go on to come.
   */
  #write(): void {
    if (this.#buffer.length === 0) return
    if (this.#buffer.length >= MAX_BUFFERED) this.#flush()
    if (this.#turn !== undefined) return
    this.#flush()
    this.#gather()
  }

  #gather(): void {
    const { gatherMs = 0 } = this.#options
    this.#turn = setTimeout(() => {
      this.#turn = undefined
      if (this.#buffer.length === 0) return
      if (gatherMs > 0) this.#gather()
      this.#tryFlush()
    }, gatherMs)
  }

  #flush(): void {
    const isWritten = this.#options.store.transact(tx => this.#append(tx))
    // Someone else has ended the run: there is nobody to work for.
    if (!isWritten) this.#run.cancel()
    this.#options.changed.fire()
  }

  #tryFlush(): void {
    try {
      this.#flush()
    } catch (error) {
      this.#run.fail(isFull(error) ? noRoom(error) : error)
    }
  }

  #append(tx: Transaction): boolean {
    const isWritten = this.#buffer.every(entry => tx.append(this.#options.log, entry) !== undefined)
    this.#buffer = []
    return isWritten
  }

  #finish(event: FinishEvent | ErrorEvent): void {
    const { store, finish } = this.#options
    const { id, durationMs } = this.#run
    if (this.#turn !== undefined) clearTimeout(this.#turn)
    const result = event.type === 'finish' ? this.#fold.result({ runId: id, durationMs }) : undefined
    try {
      store.transact(tx => {
        this.#append(tx)
        finish(tx, event, result)
      })
    } catch (error) {
      if (!isFull(error)) throw error
      // What it said last, or its result, is too much. There always is room for an end that says so.
      store.transact(tx => finish(tx, NO_ROOM, undefined))
    }
  }

  #grow(by: number): void {
    const { maxBytes } = this.#options
    this.#bytes += by
    if (this.#bytes > maxBytes) {
      throw new ServableError('run_too_large', `The run's events are larger than ${maxBytes} bytes`)
    }
  }
}

const NO_ROOM_TEXT = 'There is no room in memory for all that the run gives'

/** The end of a run that does not fit. */
const NO_ROOM: ErrorEvent = { type: 'error', code: 'run_too_large', error: NO_ROOM_TEXT }

function noRoom(cause: unknown): ServableError {
  return new ServableError('run_too_large', NO_ROOM_TEXT, { cause })
}

function isFull(error: unknown): boolean {
  return isServableError(error) && error.code === 'state_full'
}
