/**
 * Runs the body of a first-party agent, team or workflow: turns what it yields and returns into run events, and emits them on its
 * event bus.
 *
 * @module
 */

import { abortWith } from '../../base/abort.ts'
import { isServableError, messageOf, redact, reportError, ServableError } from '../../base/errors.ts'
import type { ApprovalPayload, BusPayload, EventBus } from '../bus.ts'
import type {
  InputRequest,
  Kind,
  RunEvent,
  RunInput,
  RunOptions,
  RunOutcome,
  RunResult,
} from '../contract.ts'
import { eventsOfOutcome, isAsyncIterable, isIterable, isOutcome } from '../derive.ts'
import { elapsedSince } from '../elapsed.ts'
import { errorOf, isRunEvent, isTerminal, isWaiting } from '../event.ts'
import { Fold } from '../fold.ts'
import { closeQuietly, Reading } from '../reading.ts'
import { secretsOf } from '../redacted.ts'
import type { Yielded } from '../run-types.ts'
import { NO_USAGE } from '../usage.ts'
import { withoutRepeats } from './map-items.ts'
import { Scope } from './scope.ts'
import { pathOf, RunWork } from './work.ts'

/** The options of a run with defaults filled in. */
export interface RunContext extends RunOptions {
  readonly runId: string
  readonly signal: AbortSignal
  readonly work: RunWork
  /** The named work of this body. */
  readonly scope: Scope
}

export type { Yielded } from '../run-types.ts'

/** Events and text as they come, with an outcome at the end. */
type BodyStream =
  | AsyncGenerator<Yielded, RunOutcome | void>
  | AsyncIterable<Yielded>
  | Generator<Yielded, RunOutcome | void>
  | IterableIterator<Yielded>

/** What a body may return: events and text with an outcome at the end, or the outcome alone, directly or as a promise. */
export type BodyResult = BodyStream | Promise<BodyStream | RunOutcome | void> | RunOutcome | void

/** The servable that runs. */
export interface Performer {
  readonly kind: Kind
  readonly name: string
  readonly events: EventBus
}

/**
 * Starts `body` at the first `next()` and yields its events. It gets the options with a signal that fires when the caller's
 * signal does, when the reader leaves and when the body throws. So nothing that it started outlives its run.
 */
export function perform(
  performer: Performer,
  input: RunInput,
  options: RunOptions | undefined,
  body: (run: RunContext) => BodyResult,
): AsyncIterableIterator<RunEvent> {
  return new Performing(performer, input, options, body)
}

/** Fills in the defaults of a run's options. */
export function runContextOf(
  options: RunOptions | undefined,
  signal: AbortSignal | undefined = options?.signal,
): RunContext {
  const work = RunWork.of(options?.work)
  return {
    ...options,
    runId: options?.runId ?? crypto.randomUUID(),
    signal: signal ?? new AbortController().signal,
    work,
    scope: new Scope(work),
  }
}

/** Runs a first-party servable to its end. Rejects with a `ServableError` when the run fails. */
export function runThrough(
  servable: { stream(input: RunInput, options?: RunOptions): AsyncIterable<RunEvent> },
  input: RunInput,
  options: RunOptions | undefined,
): Promise<RunResult> {
  const context = runContextOf(options)
  return collect(servable.stream(input, context), context)
}

/**
 * Reads events to their end and folds them. Rejects with a `ServableError` when they end in an error, and with the signal's
 * reason if another event comes after it has fired.
 */
export async function collect(
  events: AsyncIterable<RunEvent>,
  { runId, signal }: Pick<RunContext, 'runId' | 'signal'>,
): Promise<RunResult> {
  const startedAt = performance.now()
  const fold = new Fold()
  for await (const event of events) {
    if (event.type === 'error') throw errorOf(event)
    fold.add(event)
    if (event.type !== 'finish') signal.throwIfAborted()
  }
  return fold.result({ runId, durationMs: elapsedSince(startedAt) })
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** A hand-written iterator: a generator around the body's own would cost three more promises an event. */
class Performing extends Reading implements AsyncIterableIterator<RunEvent> {
  readonly #performer: Performer
  readonly #input: RunInput
  readonly #options: RunOptions | undefined
  readonly #body: (run: RunContext) => BodyResult
  /** The context of the body, once it has started. */
  #context: RunContext | undefined
  /** Fires the body's signal. Undefined if the reader's signal does that. */
  #left: AbortController | undefined
  #isAdopted = false
  readonly #startedAt = performance.now()
  readonly #toolNames = new Map<string, string>()
  #source: AsyncIterator<Yielded, unknown> | undefined
  /** The events of the outcome that are still to be read. */
  #tail: RunEvent[] | undefined
  #state: 'new' | 'running' | 'ended' = 'new'
  #spoke = false

  constructor(
    performer: Performer,
    input: RunInput,
    options: RunOptions | undefined,
    body: (run: RunContext) => BodyResult,
  ) {
    super()
    this.#performer = performer
    this.#input = input
    this.#options = options
    this.#body = body
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RunEvent>> {
    if (this.#isOver()) return END
    try {
      const item = await this.pull()
      // The reader left in the meantime.
      if (this.#isOver()) return END
      return { done: false, value: this.toEvent(item) }
    } catch (error) {
      this.failed(error)
      throw error
    }
  }

  adopt(): void {
    this.#isAdopted = true
  }

  pull(): unknown {
    if (this.#state === 'new') return this.#begin()
    return this.#tail === undefined ? this.#source!.next() : undefined
  }

  toEvent(item: unknown): RunEvent {
    if (this.#tail === undefined) {
      const { done, value } = item as IteratorResult<Yielded, unknown>
      if (!done) return typeof value === 'string' ? this.#textEvent(value) : this.#pass(value)
      this.#source = undefined
      this.#finishWith(value)
    }
    return this.#pass(this.#tail!.shift() as RunEvent)
  }

  failed(error: unknown): void {
    this.#conclude({ threw: error })
  }

  leave(): void {
    if (this.#isOver()) return
    this.#conclude('left')
    closeQuietly(this.#source)
  }

  return(): Promise<IteratorResult<RunEvent>> {
    this.leave()
    return Promise.resolve(END)
  }

  #isOver(): boolean {
    return this.#state === 'ended'
  }

  /** Starts the body. Returns its first item, or undefined if it returned an outcome. */
  #begin(): unknown {
    this.#state = 'running'
    if (!this.#isAdopted) this.#left = this.#ownSignal()
    this.#context = runContextOf(this.#options, this.#left?.signal)
    const { events } = this.#performer
    const { sessionId, userId } = this.#context
    if (events.size > 0) {
      events.emit('run.start', { ...this.#who(), input: this.#input, sessionId, userId })
      this.#emitDecisions(this.#context)
    }
    const result: unknown = this.#body(this.#context)
    this.#source = this.#sourceOf(result)
    return this.#source === undefined ? this.#settle(result) : this.#source.next()
  }

  async #settle(result: unknown): Promise<unknown> {
    const settled = await result
    const source = this.#sourceOf(settled)
    // The reader left in the meantime, so the stream must not begin.
    if (this.#isOver()) return closeQuietly(source)
    this.#source = source
    if (source !== undefined) return source.next()
    this.#finishWith(settled)
    return undefined
  }

  /** The stream of the body. If the run goes on, its items are dropped until the point that the run before reached. */
  #sourceOf(result: unknown): AsyncIterator<Yielded, unknown> | undefined {
    const source = sourceOf(result)
    const { scope } = this.#context!
    if (source === undefined || !scope.isBehind) return source
    this.#spoke = scope.work.stateAt(spokeAt(scope)) === true
    return withoutRepeats(source, scope)
  }

  #finishWith(outcome: unknown): void {
    this.#context!.scope.end()
    if (!isOutcome(outcome)) {
      throw new ServableError(
        'invalid_event',
        `${this.#performer.kind} \`${this.#performer.name}\` must return text, a partial RunResult, a stream of events or nothing`,
      )
    }
    this.#tail = eventsOfOutcome(outcome, !this.#spoke)
  }

  #textEvent(text: string): RunEvent {
    const event: RunEvent = { type: 'text', text }
    this.#spoke = true
    if (this.#performer.events.size > 0) this.#emit(event)
    return event
  }

  #pass(event: RunEvent): RunEvent {
    // Pass on what is no event: the run pipeline reports the error.
    if (!isRunEvent(event)) return event
    if (event.type === 'text') this.#spoke = true
    if (this.#performer.events.size > 0) this.#emit(event)
    if (isTerminal(event)) {
      const { scope } = this.#context!
      if (isWaiting(event) && this.#spoke) scope.work.keepAt(spokeAt(scope), true)
      this.#end()
      closeQuietly(this.#source)
    }
    return event
  }

  /** Emits the decisions on calls in this part of the run. */
  #emitDecisions({ answers = [], work }: RunContext): void {
    for (const answer of work.isTakenOver ? [] : answers) {
      const path = pathOf(answer)
      const request = path.startsWith(work.prefix) ? work.answeredAt(path)?.request : undefined
      if (request?.kind !== 'approval' || !('decision' in answer)) continue
      const { decision } = answer
      this.#performer.events.emit('tool.approval.response', { ...this.#approval(request), decision })
    }
  }

  #approval({ id, toolCallId = id, toolName = '' }: InputRequest): ApprovalPayload {
    return { ...this.#who(), toolCallId, toolName, requestId: id }
  }

  /** Emits one event on the bus. */
  #emit(event: RunEvent): void {
    const bus = this.#performer.events
    const who = this.#who()
    switch (event.type) {
      case 'text':
        return bus.emit('run.stream.chunk', { ...who, text: event.text })
      case 'tool_call_start':
        this.#toolNames.set(event.toolCall.id, event.toolCall.name)
        return bus.emit('tool.call', {
          ...who,
          ...ofAgent(event),
          toolCallId: event.toolCall.id,
          toolName: event.toolCall.name,
        })
      case 'tool_call_end': {
        const toolName = this.#toolNames.get(event.toolCallId) ?? 'unknown'
        this.#toolNames.delete(event.toolCallId)
        const tool = { ...who, ...ofAgent(event), toolCallId: event.toolCallId, toolName }
        if (event.error === undefined) return bus.emit('tool.result', { ...tool, result: event.result })
        return bus.emit('tool.error', { ...tool, error: this.#clean(event.error) })
      }
      case 'finish': {
        const { finishReason, usage = NO_USAGE, requests = [] } = event
        for (const request of requests) {
          if (request.kind === 'approval') bus.emit('tool.approval.request', this.#approval(request))
        }
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

  /** Ends a run without a terminal event: it threw, was cancelled, or its reader left. */
  #conclude(how: 'left' | { readonly threw: unknown }): void {
    if (this.#isOver()) return
    this.#end()
    // The bus got no start, so it gets no end.
    if (this.#context === undefined) return
    const { signal } = this.#context
    if (how !== 'left' && !signal.aborted) this.#emitError(how.threw)
    else if (isServableError(signal.reason)) this.#emitError(signal.reason)
    else this.#emit({ type: 'finish', finishReason: 'cancelled' })
    this.#left?.abort()
  }

  #end(): void {
    this.#state = 'ended'
    this.#options?.signal?.removeEventListener('abort', this.#passOn)
  }

  /** A controller that fires when the caller's signal does. `AbortSignal.any` would cost half as much again as a short run. */
  #ownSignal(): AbortController {
    const left = new AbortController()
    const caller = this.#options?.signal
    if (caller?.aborted) abortWith(left, caller.reason)
    else caller?.addEventListener('abort', this.#passOn)
    return left
  }

  readonly #passOn = (): void => {
    if (this.#left !== undefined) abortWith(this.#left, this.#options?.signal?.reason)
  }

  #emitError(error: unknown): void {
    const { code } = reportError(error, false, 'agent_failed')
    this.#emit({ type: 'error', error: messageOf(error), code })
  }

  #clean(text: string): string {
    return redact(text, secretsOf(this.#options ?? {}))
  }

  #who(): BusPayload {
    const { kind, name } = this.#performer
    return { kind, name, runId: this.#context!.runId }
  }
}

/** The key of the flag that a body sent text before it waited; its return value is then no answer. No name equals this key. */
function spokeAt({ work }: Scope): string {
  return `${work.prefix}#`
}

/** The agent of a call, if it is not the run's own. */
function ofAgent({ agent }: { readonly agent?: string | undefined }): { readonly agent?: string } {
  return agent === undefined ? {} : { agent }
}

/** The iterator of a stream; undefined for other values. Text and arrays are not streams. */
function sourceOf(value: unknown): AsyncIterator<Yielded, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (isAsyncIterable(value)) return value[Symbol.asyncIterator]()
  return isIterable(value) ? later(value) : undefined
}

/** Makes a synchronous stream an async one. */
async function* later(items: Iterable<Yielded, unknown>): AsyncGenerator<Yielded, unknown> {
  return yield* items
}
