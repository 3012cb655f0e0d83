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
import { errorOf, isRunEvent, isTerminal, isWaiting } from '../agents/event.ts'
import { Fold } from '../agents/fold.ts'
import { type MemoryKeeper, memoryOf, type RunSitting, sessionOf } from '../agents/memory.ts'
import { selectKey } from '../agents/provider-key.ts'
import { type Reading, readingOf } from '../agents/reading.ts'
import { secretsOf } from '../agents/redacted.ts'
import { type Journal, type KeptWork, RunWork } from '../agents/work.ts'
import { asTold, isClientErrorCode, messageOf, redact, reportError, ServableError } from '../errors.ts'
import { RETIRED } from '../retired.ts'
import { breathe, Pace } from '../wake.ts'
import type { Around, AroundRun } from './around.ts'
import { FailureNotes, type InnerFailure, type RunFailure } from './failures.ts'
import type { Observer, RunObserver } from './observer.ts'
import { StepIds } from './step-ids.ts'
import type { Target } from './target.ts'
import { isOfToolCall, ToolArgs } from './tool-args.ts'
import { type Continued, type Waiting, type WaitingRun, waitingOf } from './waiting.ts'
import type { WorkingRuns } from './working.ts'

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
  readonly memory?: MemoryKeeper | undefined
  /** Told of all that fails, each once, with the text before masking but without keys. */
  readonly onFailure?: (failure: RunFailure) => void
  /** Is told of every run, and never throws. */
  readonly observer?: Pick<Observer, 'start'> | undefined
  /** Those at work, for a server that closes. */
  readonly working?: WorkingRuns | undefined
  /** What is around every run. */
  readonly around?: Around | undefined
}

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
  readonly #secrets: Caller['secrets']
  readonly #notes: FailureNotes | undefined
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
  /** What is to be told next, before the source is asked again. */
  #next: RunEvent | undefined
  #args: ToolArgs | undefined
  #steps: StepIds | undefined
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
    this.#secrets = caller?.secrets
    const { sessionId, traceparent, identity = null, requestId } = options
    const continues = caller?.continues
    this.#observer = settings.observer?.start?.({
      ...target,
      ...{ runId: this.id, input, sessionId, traceparent, continues, requestId, owner: identity },
      transport: caller?.transport,
      answers: continues?.answers,
      redact: text => redact(text, this.#allSecrets()),
    })
    this.#caller = caller
    this.#keep = caller?.keep
    this.#work = new RunWork(caller?.cut?.work ?? continues?.work, caller)
    this.#notes = settings.onFailure && new FailureNotes(failure => this.#tellInner(failure))
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
    this.#deliver(this.#end(this.#toErrorEvent(thrown), thrown ?? new Error('The run failed')))
  }

  /** Reads all events and folds them. Rejects with a `ServableError` when the run fails. */
  result(): Promise<RunResult> {
    const fold = new Fold(this.#settings.maxLength)
    return new Promise((resolve, reject) => {
      this.read(event => {
        if (event === undefined) resolve(fold.result({ runId: this.id, durationMs: this.durationMs }))
        else if (event.type === 'error') reject(asTold(errorOf(event)))
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
    const next = this.#next
    if (next === undefined) return false
    this.#next = undefined
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
    this.#work.checkKept()
    const isOwn = event.requests?.every(({ id }) => id.startsWith(`${this.id}/`))
    if (isOwn !== true) {
      throw new ServableError(
        'invalid_event',
        `The ids of requests must begin with the run's: \`${this.id}/…\``,
      )
    }
    const { requests = [] } = event
    const work = this.#work.toKeep(this.#options)
    this.waiting = waitingOf(this.#target, this.#input, this.#options, { requests, work })
    await this.#keep?.({ id: this.id, waiting: this.waiting, event })
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
    const reading = readingOf(this.#settings.around?.(run, begin) ?? begin(run))
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
      const told = this.#withReady(event)
      if (told !== undefined) this.#deliver(this.#toPass(told))
    } catch (error) {
      this.fail(error)
    }
  }

  /** The event, or the `tool_call_ready` that comes before it; undefined for one that was told before. */
  #withReady(event: RunEvent): RunEvent | undefined {
    if (event.type === 'text' || !isOfToolCall(event)) return event
    this.#args ??= new ToolArgs(this.#settings.maxLength)
    const told = this.#args.see(event)
    if (told !== undefined && told !== event) this.#next = event
    return told
  }

  /** What the reader sees of an event of the servable. */
  #toPass(event: RunEvent): RunEvent {
    this.#notes?.see(event)
    if (event.type === 'error') return this.#end(this.#toErrorEvent(errorOf(event)))
    if (isTerminal(event)) return this.#end(checkJson(event))
    const told = this.#at(this.#toTell(event))
    this.#turn?.see(told)
    this.#observer?.event?.(told)
    return told
  }

  /** The event, with the whole milliseconds since the start, by a clock that is never put back. */
  #at<E extends RunEvent>(event: E): E {
    const told = { ...event, at: Math.trunc(performance.now() - this.#startedAt) }
    // Other code's object may have its type where a copy has it not.
    if (told.type !== event.type) throw invalidEvent(this.#target, event)
    return told
  }

  /** The event without what is to be kept from its reader. */
  #toTell(event: RunEvent): RunEvent {
    const { production } = this.#settings
    if (event.type === 'tool_call_end' && event.error !== undefined) {
      const isMasked = production && !isClientErrorCode(event.code)
      return { ...event, error: isMasked ? 'The tool failed' : this.#withoutKeys(event.error) }
    }
    if (event.type === 'tool_call_start')
      return this.#isOfClient(event.toolCall.name) ? { ...event, isClientTool: true } : event
    if (event.type !== 'step') return event
    this.#steps ??= new StepIds()
    const step = this.#steps.see(event)
    if (event.error === undefined) return step
    return { ...step, error: production ? 'The step failed' : this.#withoutKeys(event.error) }
  }

  #isOfClient(tool: string): boolean | undefined {
    return this.#options.clientTools?.some(({ name }) => name === tool)
  }

  #toErrorEvent(thrown: unknown): ErrorEvent {
    const { code, message } = reportError(thrown, this.#settings.production, 'agent_failed')
    if (this.#notes !== undefined) {
      const story = this.#notes.end(thrown)
      this.#tellFailure({ event: 'run.failed', code, message: messageOf(thrown), thrown: story })
    }
    return { type: 'error', error: this.#withoutKeys(message), code }
  }

  /** Tells that a tool or a step failed, and that the run went on. */
  #tellInner({ code, message, thrown, ...failure }: InnerFailure): void {
    const known = code ?? reportError(thrown, false, 'agent_failed').code
    this.#tellFailure({ ...failure, code: known, message: message ?? messageOf(thrown), thrown })
  }

  #tellFailure(failure: Pick<RunFailure, 'event' | 'of' | 'code' | 'message' | 'thrown'>): void {
    const { kind, name } = this.#target
    const { identity = null, requestId } = this.#options
    const message = this.#withoutKeys(failure.message)
    quietly(() => {
      const run = { kind, name, runId: this.id, owner: identity, requestId, secrets: this.#allSecrets() }
      this.#settings.onFailure?.({ ...failure, ...run, message })
    })
  }

  #allSecrets(): string[] {
    return [...secretsOf(this.#options), ...(this.#secrets?.() ?? [])]
  }

  /** Closes everything. With a `reason` the servable's signal fires: it is still at work. */
  #end(last: FinishEvent | ErrorEvent, reason?: unknown): FinishEvent | ErrorEvent {
    const terminal = this.#at(last)
    this.#ended = true
    this.#stopTimer()
    this.#settings.working?.delete(this)
    if (terminal.type === 'finish') this.#notes?.settle()
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

  #withoutKeys(text: string): string {
    return redact(text, secretsOf(this.#options))
  }
}

function begin({ target, input, options }: AroundRun): AsyncIterator<RunEvent> {
  return eventsOf(target.servable, input, options)
}

/** Whether what a servable gave may be the end of a run that waits: a look that costs nothing. */
function mayWait(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'requests' in event
}

/** What `work` gives, if it does not throw. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Throws for an end that no encoder could write: after it, there is no other end to write instead. */
function checkJson(event: FinishEvent): FinishEvent {
  if (event.structured == null) return event
  let json: string | undefined
  try {
    json = JSON.stringify(event.structured)
  } catch (cause) {
    throw new ServableError('invalid_event', 'The structured output cannot be written as JSON', { cause })
  }
  if (json?.startsWith('{') || json?.startsWith('[')) return event
  throw new ServableError('invalid_event', 'The structured output must be an object or an array')
}

function invalidEvent({ kind, name }: Target, event: unknown): ServableError {
  const type: unknown = Object(event).type
  const what = typeof type === 'string' ? `type \`${type.slice(0, 40)}\`` : typeof event
  return new ServableError(
    'invalid_event',
    `${kind} \`${name}\` yielded something that is not a run event (${what})`,
  )
}

function tooManyEvents(max: number): ServableError {
  return new ServableError('run_too_large', `The run has more than ${max} events`)
}
