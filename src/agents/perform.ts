/**
 * Runs the body of a first-party agent, team or workflow: turns what it yields and returns into run events, and
 * tells its event bus.
 *
 * @module
 */

import { isServableError, messageOf, redact, reportError, ServableError } from '../errors.ts'
import type { BusPayload, EventBus } from './bus.ts'
import type { Kind, RunEvent, RunInput, RunOptions, RunOutcome, RunResult } from './contract.ts'
import { eventsOfOutcome, isAsyncIterable, isIterable, isOutcome } from './derive.ts'
import { elapsedSince } from './elapsed.ts'
import { errorOf, isRunEvent, isTerminal } from './event.ts'
import { Fold, NO_USAGE } from './fold.ts'
import { isPromisedTo } from './promised.ts'
import { closeQuietly, Reading } from './reading.ts'
import { secretsOf } from './redacted.ts'

/** The options of a run with what a body may count on. */
export interface RunContext extends RunOptions {
  readonly runId: string
  readonly signal: AbortSignal
}

/** What a generator body may yield: text as it is, or any run event. */
export type Yielded = string | RunEvent

/** Events and text as they come, with an outcome at the end. */
type BodyStream =
  | AsyncGenerator<Yielded, RunOutcome | void>
  | AsyncIterable<Yielded>
  | Generator<Yielded, RunOutcome | void>
  | IterableIterator<Yielded>

/** What a body may give back: events and text with an outcome at the end, or the outcome alone; now or later. */
export type BodyResult = BodyStream | Promise<BodyStream | RunOutcome | void> | RunOutcome | void

/** Who runs. */
export interface Performer {
  readonly kind: Kind
  readonly name: string
  readonly events: EventBus
}

/**
 * Starts `body` (lazily, at the first `next()`) and gives its events. The context is one of {@link leavable}, whose signal
 * fires when the caller's does, when the reader leaves and when the body throws.
 */
export function perform<C extends RunContext>(
  performer: Performer,
  input: RunInput,
  context: C,
  body: (input: RunInput, context: C) => BodyResult,
  leaving: Leaving,
): AsyncIterableIterator<RunEvent> {
  return new Performance(performer, input, context, () => body(input, context), leaving)
}

/** What fires the signal of a body, and the caller's own signal, which is passed on. */
export interface Leaving {
  readonly left?: AbortController
  readonly caller?: AbortSignal | undefined
}

/** The context of a performer's body, with a signal of its own: nothing that the body started outlives its run. */
export function leavable(
  performer: Performer,
  options: RunOptions | undefined,
): { run: RunContext; leaving: Leaving } {
  if (isPromisedTo(performer, options)) return { run: options, leaving: {} }
  const left = new AbortController()
  const run = contextOf({ ...options, signal: left.signal })
  return { run, leaving: { left, caller: options?.signal } }
}

/** Fills in what a body may count on. */
export function contextOf(options: RunOptions | undefined): RunContext {
  return {
    ...options,
    runId: options?.runId ?? crypto.randomUUID(),
    signal: options?.signal ?? new AbortController().signal,
  }
}

/** Runs a first-party servable to its end. Rejects with a `ServableError` when the run fails. */
export function runThrough(
  servable: { stream(input: RunInput, options?: RunOptions): AsyncIterable<RunEvent> },
  input: RunInput,
  options: RunOptions | undefined,
): Promise<RunResult> {
  const context = contextOf(options)
  return collect(servable.stream(input, context), context.runId)
}

/** Runs events to their end and folds them. Rejects with a `ServableError` when they end in an error. */
export async function collect(events: AsyncIterable<RunEvent>, runId: string): Promise<RunResult> {
  const startedAt = performance.now()
  const fold = new Fold()
  for await (const event of events) {
    if (event.type === 'error') throw errorOf(event)
    fold.add(event)
  }
  return fold.result({ runId, durationMs: elapsedSince(startedAt) })
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** A hand-written iterator: a generator around the body's own would cost three more promises an event. */
class Performance extends Reading implements AsyncIterableIterator<RunEvent> {
  readonly #performer: Performer
  readonly #input: RunInput
  readonly #context: RunContext
  readonly #body: () => BodyResult
  readonly #leaving: Leaving
  readonly #startedAt = performance.now()
  readonly #toolNames = new Map<string, string>()
  #source: AsyncIterator<Yielded, unknown> | undefined
  /** What is left of the outcome's events. */
  #tail: RunEvent[] | undefined
  #state: 'new' | 'running' | 'ended' = 'new'
  #spoke = false

  constructor(
    performer: Performer,
    input: RunInput,
    context: RunContext,
    body: () => BodyResult,
    leaving: Leaving,
  ) {
    super()
    this.#leaving = leaving
    this.#performer = performer
    this.#input = input
    this.#context = context
    this.#body = body
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RunEvent>> {
    if (this.#state === 'ended') return END
    try {
      return { done: false, value: this.look(await this.pull()) }
    } catch (error) {
      this.failed(error)
      throw error
    }
  }

  pull(): unknown {
    if (this.#state === 'new') return this.#begin()
    return this.#tail === undefined ? this.#source!.next() : undefined
  }

  look(item: unknown): RunEvent {
    if (this.#tail === undefined) {
      const { done, value } = item as IteratorResult<Yielded, unknown>
      if (!done) return typeof value === 'string' ? this.#say(value) : this.#pass(value)
      this.#source = undefined
      this.#finishWith(value)
    }
    return this.#pass(this.#tail!.shift() as RunEvent)
  }

  failed(error: unknown): void {
    this.#conclude({ threw: error })
  }

  leave(): void {
    if (this.#state === 'ended') return
    this.#conclude('left')
    closeQuietly(this.#source)
  }

  return(): Promise<IteratorResult<RunEvent>> {
    this.leave()
    return Promise.resolve(END)
  }

  /** Starts the body. Gives its first item, or nothing where it has an outcome at once. */
  #begin(): unknown {
    this.#state = 'running'
    // `AbortSignal.any` would cost half as much again as all else of a short run.
    const { caller } = this.#leaving
    if (caller?.aborted) this.#passOn()
    else caller?.addEventListener('abort', this.#passOn)
    const { events } = this.#performer
    const { sessionId, userId } = this.#context
    if (events.size > 0) events.emit('run.start', { ...this.#who(), input: this.#input, sessionId, userId })
    const result: unknown = this.#body()
    this.#source = sourceOf(result)
    return this.#source === undefined ? this.#settle(result) : this.#source.next()
  }

  async #settle(result: unknown): Promise<unknown> {
    const settled = await result
    this.#source = sourceOf(settled)
    if (this.#source !== undefined) return this.#source.next()
    this.#finishWith(settled)
    return undefined
  }

  #finishWith(outcome: unknown): void {
    if (!isOutcome(outcome)) {
      throw new ServableError(
        'invalid_event',
        `${this.#performer.kind} \`${this.#performer.name}\` must return text, a partial RunResult, a stream of events or nothing`,
      )
    }
    this.#tail = eventsOfOutcome(outcome, !this.#spoke)
  }

  #say(text: string): RunEvent {
    const event: RunEvent = { type: 'text', text }
    this.#spoke = true
    if (this.#performer.events.size > 0) this.#tell(event)
    return event
  }

  #pass(event: RunEvent): RunEvent {
    // What is no event goes on untouched: the run pipeline says so, in one place.
    if (!isRunEvent(event)) return event
    if (event.type === 'text') this.#spoke = true
    if (this.#performer.events.size > 0) this.#tell(event)
    if (isTerminal(event)) {
      this.#end()
      closeQuietly(this.#source)
    }
    return event
  }

  /** The bus's view of one event. */
  #tell(event: RunEvent): void {
    const bus = this.#performer.events
    const who = this.#who()
    switch (event.type) {
      case 'text':
        return bus.emit('run.stream.chunk', { ...who, text: event.text })
      case 'tool_call_start':
        this.#toolNames.set(event.toolCall.id, event.toolCall.name)
        return bus.emit('tool.call', { ...who, toolCallId: event.toolCall.id, toolName: event.toolCall.name })
      case 'tool_call_end': {
        const toolName = this.#toolNames.get(event.toolCallId) ?? 'unknown'
        this.#toolNames.delete(event.toolCallId)
        const tool = { ...who, toolCallId: event.toolCallId, toolName }
        if (event.error === undefined) return bus.emit('tool.result', { ...tool, result: event.result })
        return bus.emit('tool.error', { ...tool, error: this.#clean(event.error) })
      }
      case 'finish': {
        const { finishReason, usage = NO_USAGE } = event
        const durationMs = elapsedSince(this.#startedAt)
        return bus.emit('run.complete', { ...who, finishReason, usage, durationMs })
      }
      case 'error':
        return bus.emit('run.error', {
          ...who,
          error: this.#clean(event.error),
          code: event.code,
          durationMs: elapsedSince(this.#startedAt),
        })
    }
  }

  /** Ends a run that had no terminal event: it threw, was cancelled, or its reader left. */
  #conclude(how: 'left' | { readonly threw: unknown }): void {
    if (this.#state === 'ended') return
    this.#end()
    const { signal } = this.#context
    if (how !== 'left' && !signal.aborted) this.#tellError(how.threw)
    else if (isServableError(signal.reason)) this.#tellError(signal.reason)
    else this.#tell({ type: 'finish', finishReason: 'cancelled' })
    this.#leaving.left?.abort()
  }

  #end(): void {
    this.#state = 'ended'
    this.#leaving.caller?.removeEventListener('abort', this.#passOn)
  }

  readonly #passOn = (): void => {
    const { left, caller } = this.#leaving
    left?.abort(caller?.reason)
  }

  #tellError(error: unknown): void {
    const { code } = reportError(error, false, 'agent_failed')
    this.#tell({ type: 'error', error: messageOf(error), code })
  }

  #clean(text: string): string {
    return redact(text, secretsOf(this.#context))
  }

  #who(): BusPayload {
    const { kind, name } = this.#performer
    return { kind, name, runId: this.#context.runId }
  }
}

/** What a stream gives; undefined for what is none. Text and arrays are none. */
function sourceOf(value: unknown): AsyncIterator<Yielded, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (isAsyncIterable(value)) return value[Symbol.asyncIterator]()
  return isIterable(value) ? later(value) : undefined
}

/** Gives the items of a stream that waits for nothing. */
async function* later(items: Iterable<Yielded, unknown>): AsyncGenerator<Yielded, unknown> {
  return yield* items
}
