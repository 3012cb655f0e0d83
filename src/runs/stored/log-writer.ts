/**
 * Writes a run's events into a log as they come.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunResult } from '../../agents/contract.ts'
import { isTerminal } from '../../agents/event.ts'
import { Fold } from '../../agents/fold.ts'
import { ServableError } from '../../base/errors.ts'
import { deferred, later } from '../../base/wake.ts'
import { isLost, mayPass, unavailable } from '../../stores/remote/patient.ts'
import type { LogEntry, Soon, Store, Transaction } from '../../stores/store.ts'
import type { RunFiles } from '../files.ts'
import type { Run } from '../run.ts'
import { endOf, insteadOf, isFull, NO_ROOM, noRoom } from './other-end.ts'
import type { Watch } from './watch.ts'
import type { WorkingRuns } from './working.ts'

/** Events that may wait to be written, and characters of them; while there are more, the run waits. */
const MAX_BUFFERED = 256
const MAX_BUFFERED_LENGTH = 1_048_576

/** Milliseconds for which a run goes on while what it says cannot be written; then it fails. */
const APPEND_PATIENCE_MS = 10_000

/** Milliseconds between two tries of writing an end: the second one waits so long, the later ones longer and longer. */
const END_RETRY_MS = 50
const MAX_END_RETRY_MS = 1000

/** What a log writer needs. */
export interface LogWriterOptions {
  readonly store: Store
  /** Name of the log. */
  readonly log: string
  /** Those who follow the log. */
  readonly watch: Pick<Watch, 'changed' | 'recent'>
  /** Most characters of the log, and of the result. More fail the run with `run_too_large`. */
  readonly maxBytes: number
  readonly maxLength: number
  /** Told that a run has ended and its end is to be stored. */
  readonly working: WorkingRuns | undefined
  /** Milliseconds for which what follows an event may wait, to be written together. Default: 0, to the end of the turn. */
  readonly gatherMs?: number | undefined
  /** Stores the files of the run; undefined where they stay in its events. */
  readonly files?: RunFiles | undefined
  /** Whether the run is still this process's; absent where no other one can take it over. */
  readonly isOurs?: ((tx: Transaction) => boolean) | undefined
  /** What the log has of the run already, where its process died. */
  readonly before?: { readonly fold: Fold; readonly bytes: number } | undefined
  /** Entries that the log has already. Default: 0. */
  readonly length?: number | undefined
  /** The entries that an event becomes; throws for an event that cannot be written. */
  encode(event: RunEvent): readonly string[]
  /**
   * Writes the end, in one transaction with what was still to be written; again where that fails. The result is there unless
   * the run failed. `told` is all that it has told.
   */
  finish(tx: Transaction, event: FinishEvent | ErrorEvent, result: RunResult | undefined, told: Fold): void
  /** Told once of an end that cannot be written, which is tried again until it can. */
  onStuck(error: unknown): void
}

/** The writing of a log. */
export interface LogWriting {
  /** Resolves once the end is stored, however long that takes, or the store is lost. Never rejects. */
  readonly ended: Promise<void>
  /**
   * The same, for who does not wait for a store that fails: rejects where the next try to write the end fails, and after
   * `withinMs` milliseconds (default: never), and once `signal` fires.
   */
  tried(patience?: { readonly withinMs?: number; readonly signal?: AbortSignal }): Promise<void>
  /**
   * Writes something beside the log, in one transaction with all that the run has said until now. `write` gives false where the run
   * is not this process's any more. Does nothing once the run has ended. Rejects where it cannot be written.
   */
  keep(write: (tx: Transaction) => boolean): Promise<void>
}

/** Something that is written beside the log. */
interface Note {
  readonly write: (tx: Transaction) => boolean
  readonly written: ReturnType<typeof deferred<void>>
}

/** Waits for an end to be stored. */
interface Trier {
  resolve(): void
  reject(error: unknown): void
}

/** Reads `run` to its end and writes what it says. Nobody's reading of the log slows it down; a slow store does. */
export function writeLog(run: Run, options: LogWriterOptions): LogWriting {
  return new LogWriter(run, options)
}

class LogWriter implements LogWriting {
  readonly ended: Promise<void>
  readonly #run: Run
  readonly #options: LogWriterOptions
  readonly #fold: Fold
  readonly #stored = deferred<void>()
  readonly #triers = new Set<Trier>()
  #buffer: string[] = []
  #bufferedLength = 0
  /** Entries that the log has for certain. */
  #length: number
  /** A write failed that may have been done: the log may have more of them. */
  #isUnsure = false
  #notes: Note[] = []
  #isWriting = false
  /** Runs until the end of the turn in which something was written. */
  #turn: ReturnType<typeof setTimeout> | undefined
  /** The run is not read until what it said is written. */
  #isPaused = false
  #end: FinishEvent | ErrorEvent | undefined
  /** The log knows that the end cannot be written. */
  #isStuck = false
  #isStored = false
  /** The run is another worker's by now. */
  #isLost = false
  #bytes = 0
  /** Fires when the run has ended. */
  readonly #over = new AbortController()

  constructor(run: Run, options: LogWriterOptions) {
    this.#run = run
    this.#options = options
    this.#fold = options.before?.fold ?? new Fold(options.maxLength)
    this.#bytes = options.before?.bytes ?? 0
    this.#length = options.length ?? 0
    this.ended = this.#stored.promise
    if (options.files !== undefined) run.onEnd = () => this.#over.abort()
    run.read(this.#take)
  }

  async tried({ withinMs, signal }: Parameters<LogWriting['tried']>[0] = {}): Promise<void> {
    if (this.#isStored) return
    const { promise, resolve, reject } = deferred<void>()
    const trier = { resolve, reject }
    const leave = () => reject(new DOMException('The wait was cancelled', 'AbortError'))
    const timer =
      withinMs === undefined ? undefined : setTimeout(() => reject(unavailable(new Error(LATE))), withinMs)
    this.#triers.add(trier)
    signal?.addEventListener('abort', leave)
    try {
      await promise
    } finally {
      this.#triers.delete(trier)
      signal?.removeEventListener('abort', leave)
      if (timer !== undefined) clearTimeout(timer)
    }
  }

  keep(write: Note['write']): Promise<void> {
    if (this.#run.hasEnded) return Promise.resolve()
    const written = deferred<void>()
    this.#notes.push({ write, written })
    // Nobody may wait for it: the run has failed then.
    written.promise.catch(() => {})
    if (!this.#isWriting) this.#write()
    return written.promise
  }

  /** Takes an event, and says whether to read on. Bound, for the run. */
  readonly #take = (event: RunEvent | undefined): boolean => {
    if (event === undefined) return false
    const taken = this.#options.files?.take(event, this.#over.signal)
    if (taken === undefined) return this.#add(event)
    void this.#addLater(event, taken)
    return false
  }

  /** Whoever closes waits for the end: the run may have ended, and its last event be here. */
  async #addLater(event: RunEvent, taken: Promise<readonly RunEvent[]>): Promise<void> {
    this.#options.working?.keep(this.ended)
    let readsOn = true
    try {
      for (const each of await taken) readsOn = this.#add(each)
    } catch (error) {
      readsOn = this.#refuse(event, error)
    }
    if (readsOn) this.#run.read(this.#take)
  }

  #add(event: RunEvent): boolean {
    try {
      const entries = this.#options.encode(event)
      for (const entry of entries) this.#grow(entry.length)
      this.#fold.add(event)
      this.#buffer.push(...entries)
      for (const entry of entries) this.#bufferedLength += entry.length
      if (isTerminal(event)) this.#end = event
    } catch (error) {
      return this.#refuse(event, error)
    }
    return this.#readsOn()
  }

  /** An event cannot be written. After its end a run cannot fail: the end is another one. */
  #refuse(event: RunEvent, error: unknown): boolean {
    if (isTerminal(event)) this.#end = endOf(error, event)
    else this.#run.fail(error)
    return this.#readsOn()
  }

  #readsOn(): boolean {
    if (this.#end !== undefined) this.#options.working?.keep(this.ended)
    this.#goOn()
    if (this.#end !== undefined) return false
    this.#isPaused = this.#isWriting && this.#isBufferFull
    return !this.#isPaused
  }

  /**
   * An event is written at once, and what follows it within the same turn of the event loop together, at the turn's
   * end: a model's tokens wait for nobody, and a burst costs one transaction and wakes its readers once. With `gatherMs` they
   * wait for so long, and so do those that go on to come. While something is being written, what comes waits for that.
   */
  #goOn(): void {
    if (this.#isWriting) return
    if (this.#end !== undefined) return this.#store(this.#end)
    if (this.#buffer.length === 0 && this.#notes.length === 0) return
    const isDue = this.#turn === undefined || this.#notes.length > 0
    if (isDue || this.#isBufferFull) this.#write()
  }

  get #isBufferFull(): boolean {
    return this.#buffer.length >= MAX_BUFFERED || this.#bufferedLength >= MAX_BUFFERED_LENGTH
  }

  #write(): void {
    const entries = this.#buffer
    const notes = this.#notes
    this.#buffer = []
    this.#bufferedLength = 0
    this.#notes = []
    let written: Soon<readonly LogEntry[] | undefined>
    const work = (tx: Transaction) => {
      this.#isLost = this.#options.isOurs?.(tx) === false
      return !this.#isLost && notes.every(({ write }) => write(tx)) ? this.#append(tx, entries) : undefined
    }
    try {
      written = this.#options.store.write(work, APPEND_PATIENCE_MS)
    } catch (error) {
      return this.#failed(entries, notes, error)
    }
    if (!(written instanceof Promise)) {
      this.#wrote(written, notes)
      this.#turn ??= setTimeout(() => {
        this.#turn = undefined
        this.#goOn()
      }, this.#options.gatherMs ?? 0)
      return
    }
    this.#isWriting = true
    void written.then(
      appended => {
        this.#isWriting = false
        this.#wrote(appended, notes)
        this.#readOn()
      },
      error => {
        this.#isWriting = false
        this.#failed(entries, notes, error)
        this.#readOn()
      },
    )
  }

  /** What was appended; undefined where the log is sealed. */
  #append(tx: Transaction, entries: readonly string[]): readonly LogEntry[] | undefined {
    const appended: LogEntry[] = []
    const done = this.#done(tx)
    for (const [index, data] of entries.entries()) {
      if (index < done) {
        appended.push({ seq: this.#length + index + 1, data })
        continue
      }
      const seq = tx.append(this.#options.log, data)
      if (seq === undefined) return undefined
      appended.push({ seq, data })
    }
    return appended
  }

  /** How many of the entries that wait are written all the same, after a write that seemed to fail. */
  #done(tx: Transaction): number {
    return this.#isUnsure ? Math.max(0, tx.length(this.#options.log) - this.#length) : 0
  }

  #wrote(appended: readonly LogEntry[] | undefined, notes: readonly Note[]): void {
    const { changed, recent } = this.#options.watch
    for (const { written } of notes) {
      if (appended === undefined) written.reject(new DOMException('The run has ended', 'AbortError'))
      else written.resolve()
    }
    if (appended !== undefined) {
      recent.add(appended)
      this.#length = appended.at(-1)?.seq ?? this.#length
      this.#isUnsure = false
    } else {
      // Someone else has ended the run, or goes on with it: there is nobody to work for.
      recent.forget()
      if (this.#isLost) this.#run.lose()
      else this.#run.cancel()
    }
    changed.fire()
  }

  /** What could not be written is written with the end, if it can be. */
  #failed(entries: readonly string[], notes: readonly Note[], error: unknown): void {
    this.#buffer = [...entries, ...this.#buffer]
    for (const entry of entries) this.#bufferedLength += entry.length
    this.#isUnsure = mayPass(error)
    for (const { written } of notes) written.reject(error)
    this.#run.fail(isFull(error) ? noRoom(error) : error)
  }

  /** A run that has ended meanwhile says so first. */
  #readOn(): void {
    if (this.#isPaused) {
      this.#isPaused = false
      this.#run.read(this.#take)
    }
    this.#goOn()
  }

  #store(event: FinishEvent | ErrorEvent): void {
    if (this.#turn !== undefined) clearTimeout(this.#turn)
    for (const { written } of this.#notes.splice(0)) written.resolve()
    this.#isWriting = true
    void this.#storeUntilItIs(event)
  }

  async #storeUntilItIs(said: FinishEvent | ErrorEvent): Promise<void> {
    const { store, finish, watch } = this.#options
    const { id, durationMs } = this.#run
    let event = said
    let result = event.type === 'finish' ? this.#fold.result({ runId: id, durationMs }) : undefined
    const write = (tx: Transaction) => {
      // The end is one more entry.
      if (this.#done(tx) > this.#buffer.length) return
      if (this.#options.isOurs?.(tx) !== false) this.#append(tx, this.#buffer)
      finish(tx, event, result, this.#fold)
    }
    let isOver = false
    for (let tries = 0; !isOver; tries++) {
      try {
        await store.write(write)
        isOver = true
      } catch (error) {
        this.#isUnsure ||= mayPass(error)
        const instead = insteadOf(event, error)
        if (instead !== undefined) {
          this.#buffer = []
          event = instead
          result = undefined
        }
        if (instead !== NO_ROOM) await this.#stuck(error, tries)
        // Who opens the store next finds a run whose worker is gone.
        isOver = isLost(error)
      }
    }
    this.#isStored = true
    watch.recent.forget()
    watch.changed.fire()
    for (const trier of this.#triers) trier.resolve()
    this.#stored.resolve()
  }

  /** Those who wait are told, and the log once. Resolves when the store may be tried again. */
  #stuck(error: unknown, tries: number): Promise<void> {
    if (!this.#isStuck) this.#options.onStuck(error)
    this.#isStuck = true
    for (const trier of this.#triers) trier.reject(error)
    return later(Math.min(END_RETRY_MS * 2 ** tries, MAX_END_RETRY_MS))
  }

  #grow(by: number): void {
    const { maxBytes } = this.#options
    this.#bytes += by
    if (this.#bytes > maxBytes) {
      throw new ServableError('run_too_large', `The run's events are larger than ${maxBytes} bytes`)
    }
  }
}

/** Why nobody is told of an end yet. */
const LATE = 'The end of the run is not written yet'
