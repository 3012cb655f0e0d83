/**
 * A stored run at work in this process. It writes its log, and ends when its followers leave, if the disconnect policy requires it.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunResult, Servable } from '../../agents/contract.ts'
import { isTerminal, isWaiting } from '../../agents/event.ts'
import { patienceOf, type Store, type Transaction } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'
import { numbersOf } from '../numbers.ts'
import type { Run } from '../run.ts'
import type { HostSettings, Viewer } from './host.ts'
import type { StoredJournal } from './journal.ts'
import { writeLog } from './log-writer.ts'
import type { LogWriterOptions, LogWriting, WrittenRun } from './log-writing.ts'
import { encoderOf } from './logged-calls.ts'
import { isRunOf, type RunRecord } from './record.ts'
import { sealRun } from './retention.ts'
import { createWatch, type Watch } from './watch.ts'

/** The log of a run that is a part of something else: a turn of a task. */
export interface OwnLog extends Pick<LogWriterOptions, 'log' | 'length' | 'encode' | 'finish'> {
  readonly watch: Watch
  readonly gatherMs: number
  /** Whether this worker still has the run, which has not ended. */
  isOurs(tx: Transaction): boolean
}

/** The options of a live run. */
export interface LiveRunOptions {
  readonly store: Store
  readonly settings: HostSettings
  /** The identity that owns the run. */
  readonly owner: string | null
  /** The model of the servable. */
  readonly model: Servable['model']
  /** Milliseconds for which the record is kept once the run has ended, or while it waits for answers. */
  readonly keepMs: (isWaiting: boolean) => number
  readonly isBackground: boolean
  /** The worker that has the run. */
  readonly instance: string
  /** Its journal. With one, another worker may take it over. */
  readonly journal?: StoredJournal | undefined
  /** Whether its journal stays until the store is emptied. */
  readonly keepsJournal: boolean
  /** What the log has already, if its process died before. */
  readonly before?: (NonNullable<LogWriterOptions['before']> & { readonly length: number }) | undefined
  /** The client whose slot it takes. */
  readonly client?: string | undefined
  /** Leaves the run to another worker. Returns false if it cannot go on there. */
  readonly leave: (tx: Transaction) => boolean
  /** Whether another worker goes on with it if its output cannot be written here for a while. Else it fails. */
  readonly leavesWhenAway: boolean
  /** Called for an end that cannot be written. The write is retried until it succeeds. */
  readonly onStuck: (error: unknown) => void
  /** Default: the run has a log and a record of its own. */
  readonly own?: OwnLog | undefined
}

/** A run at work and its followers. */
export class LiveRun {
  readonly watch: Watch
  /** Resolves once the last event is stored. Never rejects. */
  readonly ended: Promise<void>
  readonly #writing: LogWriting
  readonly #run: Run
  readonly #options: LiveRunOptions
  #isLeft = false
  #hasEnded = false
  /** What the last attempt to store the end has written. */
  #record: RunRecord | undefined
  #grace: ReturnType<typeof setTimeout> | undefined

  constructor(run: Run, options: LiveRunOptions) {
    this.#run = run
    this.#options = options
    this.watch =
      options.own?.watch ??
      createWatch(options.settings.maxFollowers, {
        onCount: count => this.#onFollowers(count),
        onReader: () => this.#writing.flush(),
        // If its end could not be written, others end it.
        tellsAll: () => !this.#hasEnded,
      })
    this.#writing = this.#work()
    this.ended = this.#writing.ended.then(() => this.#end())
  }

  /** Cancels the run and waits until its end is stored. Rejects where it cannot be stored now. */
  async cancel(): Promise<void> {
    this.stop()
    await this.#writing.tried({ withinMs: patienceOf(this.#options.store) })
  }

  /** Cancels the run. With a reason, it fails. */
  stop(why?: unknown): void {
    if (why === undefined) this.#run.cancel()
    else this.#run.fail(why)
  }

  /** Ends the run here if another worker may go on with it. */
  leave(): void {
    if (this.#options.journal === undefined) return
    this.#isLeft = true
    this.#run.lose()
  }

  /** Whether a caller may read it. */
  isFor(viewer: Viewer): boolean {
    const { owner } = this.#options
    return owner === null || owner === viewer
  }

  /**
   * Follows the run until its end is stored, and returns its record. Returns undefined if only the store has that: `signal` fires, the
   * run waits for answers, or another worker ends it. Rejects if the end cannot be stored now. Throws `too_many_followers`.
   */
  async waited(signal: AbortSignal): Promise<RunRecord | undefined> {
    // A caller that has left already leaves the run, too.
    this.watch.attach(false)
    try {
      if (signal.aborted) return undefined
      await this.#writing.tried({ signal })
      return this.#record
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    } finally {
      this.watch.detach(false)
    }
  }

  /** Writes something together with the run's output, while it is at work. */
  readonly keep: LogWriting['keep'] = (write, mayWait) => this.#writing.keep(write, mayWait)

  /**
   * Leaves the run if its server ends soon, nothing of it is at work, and another worker may go on with it. Then it rejects once the run is
   * left: what comes next is for that worker.
   */
  async leaveBetween(): Promise<void> {
    const { settings, leavesWhenAway } = this.#options
    if (settings.working?.isRetiring !== true || !leavesWhenAway || !this.#writing.isBetween) return
    // One that cannot be left now goes on here until the server ends.
    if ((await this.#run.onRetire?.().catch(() => false)) !== true) return
    this.#run.lose()
    throw new DOMException('The run goes on elsewhere', 'AbortError')
  }

  /** Writes what waits, now. */
  flush(): void {
    this.#writing.flush()
  }

  /** The most entries of its journal; undefined without one. */
  get journalled(): number | undefined {
    return this.#options.journal?.most
  }

  /** As `LogWriting.tried`. */
  tried(): Promise<void> {
    return this.#writing.tried()
  }

  #work(): LogWriting {
    const { store, settings, onStuck, instance, journal, before, leavesWhenAway, own } = this.#options
    const { id } = this.#run
    return writeLog(this.#run, {
      ...this.#logOf(own),
      store,
      watch: this.watch,
      maxBytes: settings.maxBytes,
      maxLength: settings.maxLength,
      working: settings.working,
      onStuck,
      before,
      ...(leavesWhenAway && { leave: () => this.leave() }),
      ...(journal && { isOurs: own?.isOurs ?? ((tx: Transaction) => isRunOf(tx, id, instance)) }),
      finish: (tx, event, result, written) => {
        // The next worker needs what was done.
        const isLeft = this.#isLeft && written.writeNotes(tx) && this.#options.leave(tx)
        // Of a journal that is kept no entry may be missing.
        if (!isLeft && settings.keepJournal === true) written.writeNotes(tx)
        if (isLeft) this.#record = undefined
        else if (own === undefined) this.#record = this.#seal(tx, event, result, written)
        else own.finish(tx, event, result, written)
      },
    })
  }

  #logOf(
    own: OwnLog | undefined,
  ): Pick<LogWriterOptions, 'log' | 'length' | 'encode' | 'gatherMs' | 'files'> {
    if (own !== undefined) return own
    const { settings, owner, before } = this.#options
    const { id } = this.#run
    const encode = encoderOf(settings.maxBytes)
    return {
      log: id,
      gatherMs: settings.gatherMs,
      files: settings.files?.of({ runId: id, owner }),
      length: before?.length,
      encode: event => (isTerminal(event) ? [] : [encode(event)]),
    }
  }

  /** Writes the end. Returns its record, unless another worker has ended the run, or the run waits. */
  #seal(
    tx: Transaction,
    event: FinishEvent | ErrorEvent,
    result: RunResult | undefined,
    { fold, bytes }: WrittenRun,
  ): RunRecord | undefined {
    const { settings, keepMs, client, model, instance, journal, keepsJournal, before } = this.#options
    const { approvals, notices, measure, costOf, piecesMs, keepJournal } = settings
    const { id } = this.#run
    const waiting = isWaiting(event) && this.#run.waiting ? { ...this.#run.waiting, client } : undefined
    const durationMs = result?.durationMs ?? this.#run.durationMs
    const record = sealRun(tx, id, {
      event,
      json: eventToJson(event),
      result,
      keepMs: keepMs(waiting !== undefined),
      waiting,
      approvals,
      notices,
      instance,
      // Without a journal there is none to delete.
      keepsJournal: keepsJournal || keepJournal || journal === undefined,
      journal: before === undefined ? journal?.most : undefined,
      numbers: measure ? numbersOf(fold, durationMs, model, costOf) : undefined,
      bytes,
      piecesMs,
      searched: { hasTexts: settings.hasTexts, input: this.#run.input },
    })
    // What a run waits for is read from the store.
    return waiting === undefined && record ? { ...record, ...(result && { result }) } : undefined
  }

  /** Applies the disconnect policy when the last follower has left. */
  #onFollowers(count: number): void {
    const { disconnect } = this.#options.settings
    this.#stopGrace()
    if (this.#hasEnded || count > 0 || this.#options.isBackground || disconnect === 'continue') return
    if (disconnect === 'cancel') this.#run.cancel()
    else this.#grace = setTimeout(this.#run.cancel, disconnect.graceMs)
  }

  #end(): void {
    this.#hasEnded = true
    this.#stopGrace()
  }

  #stopGrace(): void {
    if (this.#grace !== undefined) clearTimeout(this.#grace)
  }
}
