/**
 * The run pipeline: one servable, one input, and exactly one terminal event, whatever the servable does.
 *
 * @module
 */

import { abortWith } from '../agents/abort.ts'
import type {
  ErrorEvent,
  FinishEvent,
  RunEvent,
  RunInput,
  RunOptions,
  RunResult,
} from '../agents/contract.ts'
import { eventsOf } from '../agents/derive.ts'
import { elapsedSince } from '../agents/elapsed.ts'
import { errorOf, isRunEvent, isTerminal, isWaiting, knownOf } from '../agents/event.ts'
import { Fold } from '../agents/fold.ts'
import { memoryOf, type RunSitting, sessionOf } from '../agents/memory.ts'
import { selectKey } from '../agents/provider-key.ts'
import { type Reading, readingOf } from '../agents/reading.ts'
import { RunWork } from '../agents/work/work.ts'
import { asTold, ServableError } from '../base/errors.ts'
import { RETIRED } from '../base/retired.ts'
import { breathe, Pace } from '../base/wake.ts'
import { checkJson, EventFilter, invalidEvent, mayWait, quietly, tooManyEvents } from './event-filter.ts'
import type { RunObserver } from './observer.ts'
import type { AroundRun } from './run-middleware.ts'
import type { Caller, PlainOptions, RunSettings } from './run-settings.ts'
import type { Target } from './target.ts'
import type { Waiting } from './waiting/waiting.ts'

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/**
 * Starts a run: chooses its id and its provider key, and gives its events. The servable is called when it is first read
 * (`next`, `read` or `result`), its time runs from now on. Reading is for one reader; leaving (`return`) cancels.
 */
export function startRun(
  target: Target,
  input: RunInput,
  options: PlainOptions,
  settings: RunSettings,
  caller?: Caller,
): Run {
  return new Run(target, input, options, settings, caller)
}

/** Takes one event, or undefined after the terminal one. Returns whether it takes another. Never throws. */
export type Take = (event: RunEvent | undefined) => boolean

/** A run under way. Its terminal event comes exactly once, then it is done. */
export class Run implements AsyncIterableIterator<RunEvent> {
  readonly id: string
  readonly #target: Target
  readonly #input: RunInput
  #options: RunOptions
  readonly #settings: RunSettings
  #caller: Caller | undefined
  readonly #telling: EventFilter
  readonly #abort = new AbortController()
  readonly #observer: RunObserver | undefined
  readonly #startedAt: number
  /** Its time is over then. */
  readonly #endsAt: number
  /** Its turn in its session. */
  readonly #turn: RunSitting | undefined
  #source: Reading | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The caller's, once it is listened to. */
  #signal: AbortSignal | undefined
  readonly #pace = new Pace()
  readonly #keep: Caller['keep']
  readonly #work: RunWork
  #ended = false
  /** What the run waits for, to be kept with it. It is set before the run ends. */
  waiting: Waiting | undefined
  /** Called once, when the servable is called; before that perhaps when it has to wait for its session. */
  onBegin: (() => void) | undefined
  onWait: (() => void) | undefined
  /** Called once, when the run has ended. */
  onEnd: (() => void) | undefined
  /** Gives the run to another worker, where one may go on with it; resolves with false where that cannot be. */
  onRetire: (() => Promise<boolean>) | undefined
  /** The terminal event, once the run has ended without its reader having seen it. */
  #unread: FinishEvent | ErrorEvent | undefined
  /** The run has ended, and its turn is being kept: then its reader is told. */
  #isKeeping = false
  /** Who waits for the next event. */
  #take: Take | undefined
  /** The source is asked for an event, or one of it is being looked at. */
  #isReading = false

  constructor(
    target: Target,
    input: RunInput,
    options: PlainOptions,
    settings: RunSettings,
    caller: Caller | undefined,
  ) {
    this.id = options.runId ?? crypto.randomUUID()
    this.#startedAt = performance.now() - (caller?.cut?.sinceMs ?? 0)
    this.#endsAt = performance.now() + settings.timeoutMs
    this.#target = target
    this.#input = input
    this.#settings = settings
    this.#options = options
    const told = { id: this.id, target, settings, startedAt: this.#startedAt, secrets: caller?.secrets }
    this.#telling = new EventFilter(told, options)
    const { sessionId, traceparent, identity = null, requestId } = options
    const continues = caller?.continues
    this.#observer = settings.observer?.start?.({
      ...target,
      ...{ runId: this.id, input, sessionId, traceparent, continues, requestId, owner: identity },
      transport: caller?.transport,
      answers: continues?.answers,
      redact: this.#telling.redact,
    })
    this.#caller = caller
    this.#keep = caller?.keep
    this.#work = new RunWork(caller?.cut?.work ?? continues?.work, caller)
    this.#options = {
      ...options,
      runId: this.id,
      apiKey: selectKey(target.servable.model?.provider, options.apiKeys) ?? options.apiKey,
      signal: this.#abort.signal,
      work: this.#work,
      ...(continues && { answers: continues.answers }),
      traceparent: this.#observer?.traceparent ?? options.traceparent,
      traceparentOf: this.#observer?.traceparentOf,
    }
    const { memory } = settings
    if (memory !== undefined) {
      const key = sessionOf(memory, target, options)
      const onWait = () => this.onWait?.()
      const continuedFrom = continues?.from
      const about = {
        ...{ id: this.id, input, options: this.#options, isStored: caller?.isStored },
        ...{ cancel: this.cancel, continuedFrom, onWait, goesOn: caller?.cut !== undefined },
      }
      this.#turn = key && memory.sessions?.turnOf(key, target, about)
      this.#options = { ...this.#options, memory: memoryOf(memory, target, this.#options, this.#turn) }
    }
    this.#telling.options = this.#options
    this.#timer = setTimeout(this.arm, 0)
  }

  /** Milliseconds since the start. */
  get durationMs(): number {
    return elapsedSince(this.#startedAt)
  }

  /** Whether it has ended, though its reader may not know yet. */
  get hasEnded(): boolean {
    return this.#ended
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The next event. Never rejects: a failure is an event. */
  next(): Promise<IteratorResult<RunEvent>> {
    return new Promise(resolve => {
      this.read(event => {
        resolve(event === undefined ? END : { done: false, value: event })
        return false
      })
    })
  }

  /** Reads on until `take` returns false: what `next()` does, without a promise for each event. */
  read(take: Take): void {
    if (this.#isKeeping) {
      this.#take = take
      return
    }
    if (this.#ended) {
      const event = this.#unread
      this.#unread = undefined
      if (event === undefined || take(event)) take(undefined)
      return
    }
    this.#take = take
    if (!this.#isReading) void this.#readOn()
  }

  /** The reader leaves: the run is cancelled. */
  return(): Promise<IteratorResult<RunEvent>> {
    this.cancel()
    this.#unread = undefined
    if (this.#isKeeping) this.#take ??= () => false
    return Promise.resolve(END)
  }

  /** Ends the run with `finish` and the reason `cancelled`, unless it has ended. Bound, so that it can be a listener. */
  readonly cancel = (): void => this.#stop('The run was cancelled')

  #stop(why: string): void {
    if (this.#ended) return
    const reason = new DOMException(why, 'AbortError')
    this.#deliver(this.#end({ type: 'finish', finishReason: 'cancelled' }, reason))
  }

  /** The server is about to end. A run that another worker may go on with is left to it; any other one is cancelled. */
  async retire(): Promise<void> {
    const isLeft = await this.onRetire?.().catch(() => false)
    if (isLeft === true) this.lose()
    else this.cancel()
  }

  /** Another worker goes on with the run: its turn in its session is that one's. */
  lose(): void {
    this.#turn?.abandon()
    this.#stop(RETIRED)
  }

  /** Ends the run with an error, unless it has ended. An encoder calls it for an event that it cannot write. */
  readonly fail = (thrown: unknown): void => {
    if (this.#ended) return
    this.#deliver(this.#end(this.#telling.toErrorEvent(thrown), thrown ?? new Error('The run failed')))
  }

  /** Reads all events and folds them. Rejects with a `ServableError` when the run fails. */
  result(): Promise<RunResult> {
    const fold = new Fold(this.#settings.maxLength)
    return new Promise((resolve, reject) => {
      this.read(event => {
        if (event === undefined) resolve(fold.result({ runId: this.id, durationMs: this.durationMs }))
        else if (event.type === 'error') reject(asTold(errorOf(event, this.#abort.signal.reason)))
        else return this.#fold(event, fold)
        return false
      })
    })
  }

  /** What cannot be folded fails the run, which is read on to hear so. */
  #fold(event: RunEvent, fold: Fold): true {
    try {
      fold.add(event)
    } catch (error) {
      this.fail(error)
    }
    return true
  }

  /** Asks the source for events while there is someone to take them. */
  async #readOn(): Promise<void> {
    this.#isReading = true
    while (this.#take !== undefined && !this.#ended) {
      if (this.#pace.isDue) await breathe()
      if (this.#ended) break
      try {
        this.#source ??= this.#turn === undefined ? this.#begin() : await this.#beginIn(this.#turn)
        const startedAt = this.#pace.begin()
        if (this.#passNext()) continue
        const pulled = this.#source.pull()
        this.#pace.end(startedAt)
        const item = await pulled
        const kept = this.#takeIn(this.#source, item)
        if (kept !== undefined) await kept
      } catch (error) {
        this.#source?.failed(error)
        this.fail(error)
      }
    }
    this.#isReading = false
  }

  /** Passes on an event that waited for one before it. */
  #passNext(): boolean {
    const next = this.#telling.takeNext()
    if (next === undefined) return false
    this.#pass(next)
    return true
  }

  /** Passes on what the servable gave. What may be the end of a run that waits is kept first. */
  #takeIn(source: Reading, item: unknown): Promise<void> | undefined {
    if (this.#ended) return undefined
    const event = source.toEvent(item)
    const pass = () => {
      if (!this.#ended) this.#pass(event)
    }
    if (mayWait(event)) return this.#keepWaiting(event).then(pass)
    pass()
    return undefined
  }

  /** Keeps a run that waits, before anyone is told of it: an answer finds it. */
  async #keepWaiting(event: unknown): Promise<void> {
    if (!isRunEvent(event) || !isWaiting(event)) return
    this.waiting = this.#telling.waiting(event, this.#input, this.#work)
    await this.#keep?.({ id: this.id, waiting: this.waiting, event: knownOf(event) })
  }

  /** Begins once the session is this run's. */
  async #beginIn(turn: RunSitting): Promise<Reading> {
    this.#settings.working?.add(this)
    await turn.enter()
    this.#abort.signal.throwIfAborted()
    return this.#begin()
  }

  #begin(): Reading {
    this.#settings.working?.add(this)
    this.onBegin?.()
    const run = { target: this.#target, input: this.#input, options: this.#options }
    const reading = readingOf(this.#settings.runMiddleware?.(run, begin) ?? begin(run))
    // However this run ends but by itself, it fires the signal.
    reading.adopt()
    return reading
  }

  /**
   * From now on the run can take too long, and hears of its caller. It does so by itself after the turn of the event loop in
   * which it was started: one that has ended by then needs neither, and both may cost more than what it says (the signal
   * alone up to 17 µs). Bound, for a timer.
   */
  readonly arm = (): void => {
    if (this.#ended) return
    const { timeoutMs } = this.#settings
    this.#stopTimer()
    this.#timer = setTimeout(
      () => this.fail(new ServableError('run_timeout', `The run took longer than ${timeoutMs} ms`)),
      Math.max(0, this.#endsAt - performance.now()),
    )
    this.#signal = this.#caller?.signal
    this.#caller = undefined
    if (this.#signal?.aborted) this.cancel()
    else this.#signal?.addEventListener('abort', this.cancel)
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
  }

  /** Passes on what the servable gave. It is other code's: looking at it may throw. */
  #pass(event: unknown): void {
    try {
      if (!isRunEvent(event) || event.type === 'resumed') throw invalidEvent(this.#target, event)
      if (this.#pace.count > this.#settings.maxEvents && !isTerminal(event))
        throw tooManyEvents(this.#settings.maxEvents)
      const told = this.#telling.ready(event)
      if (told !== undefined) this.#deliver(this.#toPass(told))
    } catch (error) {
      this.fail(error)
    }
  }

  /** What the reader sees of an event of the servable. */
  #toPass(event: RunEvent): RunEvent {
    this.#telling.see(event)
    if (event.type === 'error') return this.#end(this.#telling.toErrorEvent(errorOf(event)))
    if (isTerminal(event)) return this.#end(checkJson(event))
    const told = this.#telling.toTell(event)
    this.#turn?.see(told)
    this.#observer?.event?.(told)
    return told
  }

  /** Closes everything. With a `reason` the servable's signal fires: it is still at work. */
  #end(last: FinishEvent | ErrorEvent, reason?: unknown): FinishEvent | ErrorEvent {
    const terminal = this.#telling.at(last)
    this.#ended = true
    this.#stopTimer()
    this.#settings.working?.delete(this)
    if (terminal.type === 'finish') this.#telling.settle()
    this.#observer?.end?.(terminal, this.durationMs)
    this.#signal?.removeEventListener('abort', this.cancel)
    if (reason !== undefined) abortWith(this.#abort, reason)
    this.#source?.leave()
    if (this.onEnd !== undefined) quietly(this.onEnd)
    return terminal
  }

  #deliver(event: RunEvent): void {
    const kept = isTerminal(event) ? this.#turn?.leave(event) : undefined
    if (kept === undefined) return this.#hand(event)
    this.#isKeeping = true
    this.#settings.working?.keep(kept)
    void kept.then(() => {
      this.#isKeeping = false
      this.#hand(event)
    })
  }

  #hand(event: RunEvent): void {
    const take = this.#take
    this.#take = undefined
    if (take === undefined) {
      if (isTerminal(event)) this.#unread = event
    } else if (take(event)) this.read(take)
  }
}

function begin({ target, input, options }: AroundRun): AsyncIterator<RunEvent> {
  return eventsOf(target.servable, input, options)
}
