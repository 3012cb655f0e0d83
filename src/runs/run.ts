/**
 * The run pipeline: runs one servable on one input, and yields exactly one terminal event, whatever the servable does. The door
 * `runs` begins here; `stored/host.ts` has stored runs. May import `agents`, `stores` and `base`.
 *
 * @module
 */

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
import { memoryOf, type OpenTurn, sessionOf } from '../agents/memory.ts'
import { selectKey } from '../agents/provider-key.ts'
import { type Reading, readingOf } from '../agents/reading.ts'
import { RunWork } from '../agents/work/work.ts'
import { abortWith, RETIRED } from '../base/abort.ts'
import { asLogged, ServableError } from '../base/errors.ts'
import { breathe, Pace } from '../base/wake.ts'
import { checkJson, EventFilter, invalidEvent, mayWait, quietly, tooManyEvents } from './event-filter.ts'
import type { RunObserver } from './observer.ts'
import type { MiddlewareRun } from './run-middleware.ts'
import type { Caller, PlainOptions, RunSettings } from './run-settings.ts'
import type { Target } from './target.ts'
import type { Waiting } from './waiting/waiting.ts'

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/**
 * Starts a run: chooses its id and its provider key, and returns its events. The servable is called when the run is first read
 * (`next`, `read` or `result`); its time runs from now on. A run has one reader. Leaving (`return`) cancels it.
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
  readonly input: RunInput
  #options: RunOptions
  readonly #settings: RunSettings
  #caller: Caller | undefined
  readonly #filter: EventFilter
  readonly #abort = new AbortController()
  readonly #observer: RunObserver | undefined
  readonly #startedAt: number
  /** When its time is over, by `performance.now()`. */
  readonly #endsAt: number
  /** Its turn in its session. */
  readonly #turn: OpenTurn | undefined
  #source: Reading | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The caller's signal, once it is listened to. */
  #signal: AbortSignal | undefined
  readonly #pace = new Pace()
  readonly #keep: Caller['keep']
  readonly #work: RunWork
  #ended = false
  /** The state to store of a run that waits. Set before the run ends. */
  waiting: Waiting | undefined
  /** Called once, when the servable is called. */
  onBegin: (() => void) | undefined
  /** Called before that if the run has to wait for its session. */
  onWait: (() => void) | undefined
  /** Called once, when the run has ended. */
  onEnd: (() => void) | undefined
  /** Leaves the run to another worker. Resolves with false if none can go on with it. */
  onRetire: (() => Promise<boolean>) | undefined
  /** The terminal event, if the run has ended and its reader has not read it. */
  #unread: FinishEvent | ErrorEvent | undefined
  /** Whether the run has ended and its turn is being stored. The reader gets the end after that. */
  #isKeeping = false
  #take: Take | undefined
  /** Whether the source is being read, or one of its events handled. */
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
    this.input = input
    this.#settings = settings
    this.#options = options
    const filtered = { id: this.id, target, settings, startedAt: this.#startedAt, secrets: caller?.secrets }
    this.#filter = new EventFilter(filtered, options)
    const { sessionId, traceparent, identity = null, requestId } = options
    const continues = caller?.continues
    this.#observer = settings.observer?.start?.({
      ...target,
      ...{ runId: this.id, input, sessionId, traceparent, continues, requestId, owner: identity },
      transport: caller?.transport,
      answers: continues?.from === undefined ? undefined : continues.answers,
      redact: this.#filter.redact,
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
      const about = {
        ...{ id: this.id, input, options: this.#options, isStored: caller?.isStored },
        ...{ cancel: this.cancel, continuedFrom: continues?.from, onWait, goesOn: caller?.cut !== undefined },
      }
      this.#turn = key && memory.sessions?.turnOf(key, target, about)
      this.#options = { ...this.#options, memory: memoryOf(memory, target, this.#options, this.#turn) }
      if (target.servable.steering === true) this.#options = { ...this.#options, inbox: this.#turn }
    }
    this.#filter.options = this.#options
    this.#timer = setTimeout(this.arm, 0)
  }

  /** Milliseconds since the start. */
  get durationMs(): number {
    return elapsedSince(this.#startedAt)
  }

  /** Whether it has ended, even if its reader has not read the end. */
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

  /** Reads until `take` returns false: like `next()`, without a promise for each event. */
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

  /** The reader leaves, which cancels the run. */
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

  /** Called when the server is about to end. Leaves the run to another worker if one may go on with it; else cancels it. */
  async retire(): Promise<void> {
    const isLeft = await this.onRetire?.().catch(() => false)
    if (isLeft === true) this.lose()
    else this.cancel()
  }

  /** Ends the run here because another worker goes on with it and has its turn in the session. */
  lose(): void {
    this.#turn?.abandon()
    this.#stop(RETIRED)
  }

  /** Ends the run with an error, unless it has ended. An encoder calls it for an event that it cannot write. */
  readonly fail = (thrown: unknown): void => {
    if (this.#ended) return
    this.#deliver(this.#end(this.#filter.toErrorEvent(thrown), thrown ?? new Error('The run failed')))
  }

  /** Reads all events and folds them. Rejects with a `ServableError` when the run fails. */
  result(): Promise<RunResult> {
    const fold = new Fold(this.#settings.maxLength)
    return new Promise((resolve, reject) => {
      this.read(event => {
        if (event === undefined) resolve(fold.result({ runId: this.id, durationMs: this.durationMs }))
        else if (event.type === 'error') reject(asLogged(errorOf(event)))
        else return this.#fold(event, fold)
        return false
      })
    })
  }

  /** Folds an event. An event that cannot be folded fails the run, whose reading goes on to the error. */
  #fold(event: RunEvent, fold: Fold): true {
    try {
      fold.add(event)
    } catch (error) {
      this.fail(error)
    }
    return true
  }

  /** Reads the source while a callback waits for events. */
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
    const next = this.#filter.takeNext()
    if (next === undefined) return false
    this.#pass(next)
    return true
  }

  /** Passes on an item of the servable. What may be the end of a waiting run is stored first. */
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

  /** Stores a waiting run before its end is sent, so that an answer finds it. */
  async #keepWaiting(event: unknown): Promise<void> {
    if (!isRunEvent(event) || !isWaiting(event)) return
    this.waiting = this.#filter.waiting(event, this.input, this.#work)
    await this.#keep?.({ id: this.id, waiting: this.waiting, event: knownOf(event) })
  }

  /** Begins once the run has the session. */
  async #beginIn(turn: OpenTurn): Promise<Reading> {
    this.#settings.working?.add(this)
    await turn.enter()
    this.#abort.signal.throwIfAborted()
    return turn.instead === undefined ? this.#begin() : readingOf(turn.instead)
  }

  #begin(): Reading {
    this.#settings.working?.add(this)
    this.onBegin?.()
    const run = { target: this.#target, input: this.input, options: this.#options }
    const reading = readingOf(this.#settings.runMiddleware?.(run, begin) ?? begin(run))
    // This run fires the signal unless it ends by itself.
    reading.adopt()
    return reading
  }

  /**
   * Starts the time limit of the run and listens to its caller. It runs after the turn of the event loop in which the run was
   * started. A run that has ended by then needs neither, and both may cost more than its events (the signal alone up to 17 µs).
   * Bound, for a timer.
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

  /** Passes on an event of the servable. It comes from other code, so reading it may throw. */
  #pass(event: unknown): void {
    try {
      if (!isRunEvent(event) || event.type === 'resumed') throw invalidEvent(this.#target, event)
      if (this.#pace.count > this.#settings.maxEvents && !isTerminal(event))
        throw tooManyEvents(this.#settings.maxEvents)
      const first = this.#filter.ready(event)
      if (first !== undefined) this.#deliver(this.#toPass(first))
    } catch (error) {
      this.fail(error)
    }
  }

  /** Returns the event that the reader gets. */
  #toPass(event: RunEvent): RunEvent {
    this.#filter.see(event)
    if (event.type === 'error') return this.#end(this.#filter.toErrorEvent(errorOf(event)))
    if (isTerminal(event)) return this.#end(checkJson(event))
    const emitted = this.#filter.forReader(event)
    this.#turn?.see(emitted)
    this.#observer?.event?.(emitted)
    return emitted
  }

  /** Ends everything. With a `reason` the servable's signal fires, since it is still at work. */
  #end(last: FinishEvent | ErrorEvent, reason?: unknown): FinishEvent | ErrorEvent {
    const terminal = this.#filter.at(last)
    this.#ended = true
    this.#stopTimer()
    this.#settings.working?.delete(this)
    if (terminal.type === 'finish') this.#filter.settle()
    this.#observer?.end?.(terminal, this.durationMs)
    this.#signal?.removeEventListener('abort', this.cancel)
    if (reason !== undefined) abortWith(this.#abort, reason)
    this.#source?.leave()
    if (this.onEnd !== undefined) quietly(this.onEnd)
    return terminal
  }

  #deliver(event: RunEvent): void {
    const kept = isTerminal(event) ? this.#turn?.leave(event, this.#work.settled()) : undefined
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

function begin({ target, input, options }: MiddlewareRun): AsyncIterator<RunEvent> {
  return eventsOf(target.servable, input, options)
}
