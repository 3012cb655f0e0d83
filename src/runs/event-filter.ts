/**
 * What the reader of a run is told of what its servable gave: with its time, and without what is to be kept from the reader.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunInput, RunOptions } from '../agents/contract.ts'
import { knownOf } from '../agents/event.ts'
import { secretsOf } from '../agents/redacted.ts'
import type { RunWork } from '../agents/work/work.ts'
import { isClientErrorCode, messageOf, redact, reportError, ServableError } from '../base/errors.ts'
import { FailureNotes, type InnerFailure, type RunFailure } from './failures.ts'
import type { RunSettings } from './run-settings.ts'
import { StepIds } from './step-ids.ts'
import type { Target } from './target.ts'
import { isOfToolCall, ToolArgs } from './tool-args.ts'
import { type Waiting, waitingOf } from './waiting/waiting.ts'

/** The run of a {@link EventFilter}. */
export interface ToldRun {
  readonly id: string
  readonly target: Target
  readonly settings: RunSettings
  /** By `performance.now()`. */
  readonly startedAt: number
  /** What the request held that must stand in no log, beside the keys of the run. */
  readonly secrets?: (() => readonly string[]) | undefined
}

/** Makes of the events of a servable what is told of one run. */
export class EventFilter {
  readonly #run: ToldRun
  readonly #notes: FailureNotes | undefined
  #steps: StepIds | undefined
  #args: ToolArgs | undefined
  #next: RunEvent | undefined
  /** Those of the run, once they are complete. */
  options: RunOptions

  constructor(run: ToldRun, options: RunOptions) {
    this.#run = run
    this.options = options
    this.#notes = run.settings.onFailure && new FailureNotes(failure => this.#tellInner(failure))
  }

  /** The event, or the `tool_call_ready` that comes before it; undefined for one that was told before. */
  ready(event: RunEvent): RunEvent | undefined {
    if (event.type === 'text' || !isOfToolCall(event)) return event
    this.#args ??= new ToolArgs(this.#run.settings.maxLength)
    const told = this.#args.see(event)
    if (told !== undefined && told !== event) this.#next = event
    return told
  }

  /** What is to be told next, before the servable is asked again. Told once. */
  takeNext(): RunEvent | undefined {
    const next = this.#next
    this.#next = undefined
    return next
  }

  /** What a run that waits is kept with. Throws where it cannot be kept, and for requests that are not its own. */
  waiting({ requests = [] }: FinishEvent, input: RunInput, work: RunWork): Waiting {
    const { id, target } = this.#run
    work.checkKept()
    if (!requests.every(request => request.id.startsWith(`${id}/`)))
      throw new ServableError('invalid_event', `The ids of requests must begin with the run's: \`${id}/…\``)
    return waitingOf(target, input, this.options, { requests, work: work.toKeep(this.options) })
  }

  /** Notes what failed. Called with each event, before it is told. */
  see(event: RunEvent): void {
    this.#notes?.see(event)
  }

  /** The run has ended well: what failed in it is told. */
  settle(): void {
    this.#notes?.settle()
  }

  /**
   * The event, with the whole milliseconds since the start, by a clock that is never put back, and without what the contract does not
   * know.
   */
  at<E extends RunEvent>(event: E): E {
    const told = { ...event, at: Math.trunc(performance.now() - this.#run.startedAt) }
    // Other code's object may have its type where a copy has it not.
    if (told.type !== event.type) throw invalidEvent(this.#run.target, event)
    return knownOf(told)
  }

  /** The event as it is told. */
  toTell(event: RunEvent): RunEvent {
    return this.at(this.#masked(event))
  }

  #masked(event: RunEvent): RunEvent {
    const { production } = this.#run.settings
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
    return this.options.clientTools?.some(({ name }) => name === tool)
  }

  /** What made the run fail, as its last event. Tells the log. */
  toErrorEvent(thrown: unknown): ErrorEvent {
    const { code, message } = reportError(thrown, this.#run.settings.production, 'agent_failed')
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
    const { id, target, settings } = this.#run
    const { kind, name } = target
    const { identity = null, requestId } = this.options
    const message = this.#withoutKeys(failure.message)
    quietly(() => {
      const run = { kind, name, runId: id, owner: identity, requestId, secrets: this.#allSecrets() }
      settings.onFailure?.({ ...failure, ...run, message })
    })
  }

  #allSecrets(): string[] {
    return [...secretsOf(this.options), ...(this.#run.secrets?.() ?? [])]
  }

  /** A text without any secret of the run or its request. */
  readonly redact = (text: string): string => redact(text, this.#allSecrets())

  #withoutKeys(text: string): string {
    return redact(text, secretsOf(this.options))
  }
}

/** What `work` gives, if it does not throw. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Throws for an end that no encoder could write: after it, there is no other end to write instead. */
export function checkJson(event: FinishEvent): FinishEvent {
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

/** For what is no event of a run. */
export function invalidEvent({ kind, name }: Target, event: unknown): ServableError {
  const type: unknown = Object(event).type
  const what = typeof type === 'string' ? `type \`${type.slice(0, 40)}\`` : typeof event
  return new ServableError(
    'invalid_event',
    `${kind} \`${name}\` yielded something that is not a run event (${what})`,
  )
}

/** For the event after the last one that may come. */
export function tooManyEvents(max: number): ServableError {
  return new ServableError('run_too_large', `The run has more than ${max} events`)
}

/** Whether what a servable gave may be the end of a run that waits: a look that costs nothing. */
export function mayWait(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'requests' in event
}
