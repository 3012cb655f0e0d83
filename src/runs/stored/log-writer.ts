/**
 * Writes a run's events into a log as they come.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent } from '../../agents/contract.ts'
import { isTerminal } from '../../agents/event.ts'
import { Fold } from '../../agents/fold.ts'
import { ServableError } from '../../base/errors.ts'
import { deferred, later } from '../../base/wake.ts'
import { isLost, mayPass, unavailable } from '../../stores/remote/retrying.ts'
import type { Soon, StoredLogEntry, Transaction } from '../../stores/store.ts'
import type { Run } from '../run.ts'
import type { LogWriterOptions, LogWriting, WrittenRun } from './log-writing.ts'
import { endOf, insteadOf, isFull, NO_ROOM, noRoom } from './other-end.ts'
import { begunWork, isOfCompleteWork } from './work-events.ts'

/** The most events that may wait to be written, and the most characters of them. When there are more, the run is not read. */
const MAX_BUFFERED = 256
const MAX_BUFFERED_LENGTH = 1_048_576

/** Milliseconds after a write on a remote store in which events are gathered: each commit is a message, and costs the database. */
const REMOTE_GATHER_MS = 25

/** Milliseconds for which a run goes on while its events cannot be written. Then it fails. */
const APPEND_PATIENCE_MS = 10_000

/** Milliseconds before the second attempt to write an end. The delays double up to the maximum. */
const END_RETRY_MS = 50
const MAX_END_RETRY_MS = 1000

/** A write beside the log. */
interface Note {
  readonly write: (tx: Transaction) => boolean
  readonly written: ReturnType<typeof deferred<void>>
}

/** The notes that waited when the run ended. */
type LeftNotes = readonly Pick<Note, 'write'>[]

/** A caller that waits for an end to be stored. */
interface Trier {
  resolve(): void
  reject(error: unknown): void
}

/** Reads `run` to its end and writes its events. Readers of the log do not slow it down; a slow store does. */
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
  /** The number of entries that the log has for certain. */
  #length: number
  /** Whether a failed write may have succeeded, so that the log may have more entries. */
  #isUnsure = false
  #notes: Note[] = []
  /** Whether the last event says that work is complete, whose record comes next: both are stored in one commit. */
  #hasRecordNext = false
  /** Whether what waits is written now. */
  #isUrgent = false
  /** The steps and calls of tools at work. */
  #atWork = 0
  #isWriting = false
  /** Runs while events are gathered: after a write, or since the first event that nobody reads. */
  #turn: ReturnType<typeof setTimeout> | undefined
  /** Whether the run is not read until its output is written. */
  #isPaused = false
  #end: FinishEvent | ErrorEvent | undefined
  /** Whether the log has reported that the end cannot be written. */
  #isStuck = false
  #isStored = false
  /** Whether the run is another worker's by now. */
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

  get isBetween(): boolean {
    return this.#atWork === 0
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

  keep(write: Note['write'], mayWait = false): Promise<void> {
    if (this.#run.hasEnded) return Promise.resolve()
    const written = deferred<void>()
    this.#notes.push({ write, written })
    // Nobody may wait for it if the run has failed.
    written.promise.catch(() => {})
    if (mayWait) this.#goOn()
    else this.flush()
    return written.promise
  }

  flush(): void {
    this.#isUrgent = this.#buffer.length > 0 || this.#notes.length > 0
    this.#goOn()
  }

  /** Takes an event, and returns whether to read on. Bound, as a callback of the run. */
  readonly #take = (event: RunEvent | undefined): boolean => {
    if (event === undefined) return false
    const taken = this.#options.files?.take(event, this.#over.signal)
    if (taken === undefined) return this.#add(event)
    void this.#addLater(event, taken)
    return false
  }

  /** Adds an event after its files are stored. A closing server waits for it, since this may be the last event. */
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
      this.#hasRecordNext = this.#options.isOurs !== undefined && isOfCompleteWork(event)
      // A call may end that began in the run before.
      this.#atWork = Math.max(0, this.#atWork + begunWork(event))
      this.#buffer.push(...entries)
      for (const entry of entries) this.#bufferedLength += entry.length
      if (isTerminal(event)) this.#end = event
    } catch (error) {
      return this.#refuse(event, error)
    }
    return this.#readsOn()
  }

  /** Handles an event that cannot be written: the run fails, or gets another end if it has ended. */
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
   * An event is written at once. The ones that follow in the same turn of the event loop are written together at the end of the
   * turn. So a model's tokens do not wait, and a burst costs one transaction and wakes its readers once. With `gatherMs`, they
   * and later events wait that long. On a remote store, events wait also before the first write if nobody here reads them. While a
   * write is under way, new events wait for it.
   */
  #goOn(): void {
    if (this.#isWriting) return
    if (this.#end !== undefined) return this.#store(this.#end)
    if (this.#buffer.length === 0 && this.#notes.length === 0) return
    if (this.#isUrgent || this.#isBufferFull) this.#write()
    else if (this.#turn === undefined) this.#begin()
  }

  /** Writes what has begun to wait, or gathers it if nobody here reads it, or if its record comes next. */
  #begin(): void {
    const { store, watch } = this.#options
    const isUnread = store.isRemote && watch.readers === 0 && this.#gatherMs > 0
    if (this.#hasRecordNext || isUnread) this.#gather()
    else this.#write()
  }

  /** Gathers events, and then writes them. */
  #gather(): void {
    this.#turn ??= setTimeout(() => {
      this.#turn = undefined
      this.flush()
    }, this.#gatherMs)
  }

  get #gatherMs(): number {
    const { gatherMs, store } = this.#options
    return gatherMs ?? (store.isRemote ? REMOTE_GATHER_MS : 0)
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
    this.#isUrgent = false
    let written: Soon<readonly StoredLogEntry[] | undefined>
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
      return this.#gather()
    }
    this.#isWriting = true
    void written.then(
      appended => {
        this.#isWriting = false
        this.#wrote(appended, notes)
        if (this.#gatherMs > 0) this.#gather()
        this.#readOn()
      },
      error => {
        this.#isWriting = false
        this.#failed(entries, notes, error)
        this.#readOn()
      },
    )
  }

  /** Appends entries; returns undefined if the log is sealed. */
  #append(tx: Transaction, entries: readonly string[]): readonly StoredLogEntry[] | undefined {
    const appended: StoredLogEntry[] = []
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

  /** The number of waiting entries that are written after all, after a write that seemed to fail. */
  #done(tx: Transaction): number {
    return this.#isUnsure ? Math.max(0, tx.length(this.#options.log) - this.#length) : 0
  }

  #wrote(appended: readonly StoredLogEntry[] | undefined, notes: readonly Note[]): void {
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
      // Someone else has ended the run, or goes on with it, so its work here is not needed.
      recent.forget()
      if (this.#isLost) this.#run.lose()
      else this.#run.cancel()
    }
    changed.fire()
  }

  /** Keeps the entries, to write them with the end. The run fails, or is left to another worker. */
  #failed(entries: readonly string[], notes: readonly Note[], error: unknown): void {
    this.#buffer = [...entries, ...this.#buffer]
    for (const entry of entries) this.#bufferedLength += entry.length
    this.#isUnsure = mayPass(error)
    const { leave } = this.#options
    if (this.#isUnsure && leave !== undefined) {
      // They are written with the end: the next worker needs what was done.
      this.#notes = [...notes, ...this.#notes]
      return leave()
    }
    for (const { written } of notes) written.reject(error)
    this.#run.fail(isFull(error) ? noRoom(error) : error)
  }

  /** Reads on after a write. A run that has ended in the meantime delivers its end first. */
  #readOn(): void {
    if (this.#isPaused) {
      this.#isPaused = false
      this.#run.read(this.#take)
    }
    this.#goOn()
  }

  #store(event: FinishEvent | ErrorEvent): void {
    if (this.#turn !== undefined) clearTimeout(this.#turn)
    const notes = this.#notes.splice(0)
    for (const { written } of notes) written.resolve()
    this.#isWriting = true
    void this.#storeUntilItIs(event, notes)
  }

  async #storeUntilItIs(own: FinishEvent | ErrorEvent, notes: LeftNotes): Promise<void> {
    const { store, finish, watch } = this.#options
    const { id, durationMs } = this.#run
    let event = own
    let result = event.type === 'finish' ? this.#fold.result({ runId: id, durationMs }) : undefined
    const write = (tx: Transaction) => {
      // The log already has one more entry, which is the end.
      if (this.#done(tx) > this.#buffer.length) return
      if (this.#options.isOurs?.(tx) !== false) this.#append(tx, this.#buffer)
      finish(tx, event, result, written)
    }
    const written: WrittenRun = {
      fold: this.#fold,
      bytes: this.#bytes,
      writeNotes: tx => notes.every(note => note.write(tx)),
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
        // The next process that opens the store finds a run whose worker is gone.
        isOver = isLost(error)
      }
    }
    this.#isStored = true
    watch.recent.forget()
    watch.changed.fire()
    for (const trier of this.#triers) trier.resolve()
    this.#stored.resolve()
  }

  /** Rejects the waiting callers, and reports to the log once. Resolves when the write may be retried. */
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

/** The error text of a wait that took too long. */
const LATE = 'The end of the run is not written yet'
