/**
 * Turns the events of a servable into the ones that the reader of a run gets: with a time, and without secrets.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, RunInput, RunOptions } from '../agents/contract.ts'
import { knownOf } from '../agents/event.ts'
import { keeping } from '../agents/model-calls.ts'
import { secretsOf, withoutKeys } from '../agents/redacted.ts'
import { Names } from '../agents/work/scope.ts'
import type { RunWork } from '../agents/work/work.ts'
import { isClientErrorCode, messageOf, redact, reportError, ServableError } from '../base/errors.ts'
import { FailureNotes, type InnerFailure, type RunFailure } from './failures.ts'
import type { RunSettings } from './run-settings.ts'
import type { Target } from './target.ts'
import { isOfToolCall, ToolArgs } from './tool-args.ts'
import { type Waiting, waitingOf } from './waiting/waiting.ts'

/** The run of a {@link EventFilter}. */
export interface FilteredRun {
  readonly id: string
  readonly target: Target
  readonly settings: RunSettings
  /** By `performance.now()`. */
  readonly startedAt: number
  /** Secrets of the request, beside the keys of the run, that must not be logged. */
  readonly secrets?: (() => readonly string[]) | undefined
}

/** Makes the reader's events from those of a servable, for one run. */
export class EventFilter {
  readonly #run: FilteredRun
  readonly #notes: FailureNotes | undefined
  #steps: StepIds | undefined
  #args: ToolArgs | undefined
  #next: RunEvent | undefined
  /** The options of the run, once they are complete. */
  options: RunOptions

  constructor(run: FilteredRun, options: RunOptions) {
    this.#run = run
    this.options = options
    this.#notes = run.settings.onFailure && new FailureNotes(failure => this.#reportInner(failure))
  }

  /** Returns the event, or the `tool_call_ready` that comes before it; undefined if it was sent before. */
  ready(event: RunEvent): RunEvent | undefined {
    if (event.type === 'text' || !isOfToolCall(event)) return event
    this.#args ??= new ToolArgs(this.#run.settings.maxLength)
    const first = this.#args.see(event)
    if (first !== undefined && first !== event) this.#next = event
    return first
  }

  /** Returns the next event to send before the servable is read again, once. */
  takeNext(): RunEvent | undefined {
    const next = this.#next
    this.#next = undefined
    return next
  }

  /** Makes the stored state of a run that waits. Throws if it cannot be stored, and for requests that are not the run's own. */
  waiting({ requests = [] }: FinishEvent, input: RunInput, work: RunWork): Waiting {
    const { id, target } = this.#run
    work.checkKept()
    if (!requests.every(request => request.id.startsWith(`${id}/`)))
      throw new ServableError('invalid_event', `The ids of requests must begin with the run's: \`${id}/…\``)
    return waitingOf(target, input, this.options, { requests, work: work.toKeep(this.options) })
  }

  /** Notes failures. Called with each event before it is sent. */
  see(event: RunEvent): void {
    this.#notes?.see(event)
  }

  /** Reports the noted failures of a run that has ended well. */
  settle(): void {
    this.#notes?.settle()
  }

  /**
   * Returns the event with the whole milliseconds since the start, by a monotonic clock, and without members that the contract
   * does not have.
   */
  at<E extends RunEvent>(event: E): E {
    const timed = { ...event, at: Math.trunc(performance.now() - this.#run.startedAt) }
    // An object of other code may lose its type when it is copied.
    if (timed.type !== event.type) throw invalidEvent(this.#run.target, event)
    return knownOf(timed)
  }

  /** Returns the event for the reader. */
  forReader(event: RunEvent): RunEvent {
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
    if (event.type === 'model_call') return keeping(event, () => this.#allSecrets())
    if (event.type !== 'step') return event
    this.#steps ??= new StepIds()
    const step = this.#steps.see(event)
    if (event.error === undefined) return step
    return { ...step, error: production ? 'The step failed' : this.#withoutKeys(event.error) }
  }

  #isOfClient(tool: string): boolean | undefined {
    return this.options.clientTools?.some(({ name }) => name === tool)
  }

  /** Makes the last event of a failed run, and reports the failure to the log. */
  toErrorEvent(thrown: unknown): ErrorEvent {
    const report = reportError(thrown, this.#run.settings.production, 'agent_failed')
    const { code, message } = report
    // What is not JSON is left out.
    const details = report.details && quietly(() => withoutKeys(report.details, this.options))
    if (this.#notes !== undefined) {
      const story = this.#notes.end(thrown)
      this.#report({ event: 'run.failed', code, message: messageOf(thrown), thrown: story })
    }
    return { type: 'error', error: this.#withoutKeys(message), code, ...(details && { details }) }
  }

  /** Reports that a tool or a step failed while the run goes on. */
  #reportInner({ code, message, thrown, ...failure }: InnerFailure): void {
    const known = code ?? reportError(thrown, false, 'agent_failed').code
    this.#report({ ...failure, code: known, message: message ?? messageOf(thrown), thrown })
  }

  #report(failure: Pick<RunFailure, 'event' | 'of' | 'code' | 'message' | 'thrown'>): void {
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

  /** Removes all secrets of the run and its request from a text. */
  readonly redact = (text: string): string => redact(text, this.#allSecrets())

  #withoutKeys(text: string): string {
    return redact(text, secretsOf(this.options))
  }
}

/** Returns the result of `work`, or undefined if it throws. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Throws if the end cannot be written as JSON. Later there would be no other end to write instead. */
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

/** The error for a value that is not a run event. */
export function invalidEvent({ kind, name }: Target, event: unknown): ServableError {
  const type: unknown = Object(event).type
  const what = typeof type === 'string' ? `type \`${type.slice(0, 40)}\`` : typeof event
  return new ServableError(
    'invalid_event',
    `${kind} \`${name}\` yielded something that is not a run event (${what})`,
  )
}

/** The error for more events than a run may have. */
export function tooManyEvents(max: number): ServableError {
  return new ServableError('run_too_large', `The run has more than ${max} events`)
}

/** Whether a value from a servable may be the end of a waiting run. A cheap first check. */
export function mayWait(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'requests' in event
}

/** The most steps that get ids. Later ones have none. */
const MAX_STEPS = 1000

type StepRunEvent = Extract<RunEvent, { type: 'step' }>

/** Gives ids to the steps of a run whose servable sends only their names. */
class StepIds {
  readonly #names = new Map<string, Names>()
  /** Ids of running steps, by parent and name. */
  readonly #open = new Map<string, string>()
  #count = 0

  /** Returns the event with its step's id. */
  see(event: StepRunEvent): StepRunEvent {
    if (typeof event.id === 'string') return event
    const parent = typeof event.parentId === 'string' ? event.parentId : ''
    const key = JSON.stringify([parent, event.name])
    const open = event.status === 'started' ? undefined : this.#open.get(key)
    const id = open ?? this.#next(parent, event.name)
    if (event.status === 'completed' || event.status === 'failed') this.#open.delete(key)
    else if (id !== undefined) this.#open.set(key, id)
    return id === undefined ? event : { ...event, id }
  }

  #next(parent: string, name: string): string | undefined {
    if (++this.#count > MAX_STEPS) return undefined
    const names = this.#names.get(parent) ?? new Names(parent === '' ? '' : `${parent}/`)
    this.#names.set(parent, names)
    return names.next(name)
  }
}
