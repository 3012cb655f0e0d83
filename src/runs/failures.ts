/**
 * Failures of a run, for the log. Each is logged once, although a tool's error may fail its step, and the step's error may fail
 * the run.
 *
 * @module
 */

import type { Kind, RunEvent, RunOptions } from '../agents/contract.ts'
import { secretsOf } from '../agents/redacted.ts'
import { thrownWith } from '../agents/thrown.ts'
import { messageOf } from '../base/errors.ts'

/** A failure of a run or in it, for the log. */
export interface RunFailure {
  /**
   * The run failed; or a tool or a step failed and the run went on; or the end of a run could not be stored.
   */
  readonly event: 'run.failed' | 'tool.failed' | 'step.failed' | 'run.not_stored'
  readonly kind: Kind
  readonly name: string
  readonly runId: string
  /** The identity that owns the run. Null if there is none: then the id alone gives access. */
  readonly owner: string | null
  /** The id of the request that started the run. */
  readonly requestId: string | undefined
  /** The A2A task that the run works on. */
  readonly taskId?: string
  /** The tool or the step. */
  readonly of?: string
  readonly code: string
  /** The text of the error, without provider keys. */
  readonly message: string
  /** The thrown value. Undefined if only the text is known, and if it was reported before. */
  readonly thrown: unknown
  /** Secrets to remove from the log. */
  readonly secrets: readonly string[]
}

/** The failure to store the end of a run. */
export function notStored(
  runId: string,
  { kind, name }: Pick<RunFailure, 'kind' | 'name'>,
  about: Pick<RunFailure, 'thrown' | 'secrets'> & { readonly options: RunOptions },
): RunFailure {
  const { thrown, secrets, options } = about
  const { identity: owner = null, requestId } = options
  const how = { event: 'run.not_stored', code: 'internal_error', message: messageOf(thrown) } as const
  return { ...how, kind, name, runId, owner, requestId, thrown, secrets: [...secretsOf(options), ...secrets] }
}

/** A failure inside a run. */
export interface InnerFailure {
  readonly event: 'tool.failed' | 'step.failed'
  readonly of: string
  readonly code: string | undefined
  readonly message: string | undefined
  readonly thrown: unknown
}

/** The most running tools that are remembered, by the ids of their calls. */
const MAX_CALLS = 1000

/** The most causes that are searched. */
const MAX_DEPTH = 5

/**
 * Finds failures in the events of a run. A failure is reported when the run goes on. If it makes the run fail, the run's own end
 * reports it.
 */
export class FailureNotes {
  readonly #report: (failure: InnerFailure) => void
  #calls: Map<string, string> | undefined
  #noted: InnerFailure | undefined
  #reported: WeakSet<object> | undefined

  constructor(report: (failure: InnerFailure) => void) {
    this.#report = report
  }

  /** Reads an event, before any other reader. */
  see(event: RunEvent): void {
    if (event.type === 'tool_call_start') this.#remember(event.toolCall)
    const failure = this.#failureIn(event)
    const noted = this.#noted
    if (noted === undefined) this.#noted = failure
    else if (failure === undefined || !isPartOf(noted.thrown, failure.thrown)) {
      this.settle()
      this.#noted = failure
    } else if (noted.thrown !== failure.thrown) this.#noted = failure
  }

  /** The run goes on or has ended well: reports the noted failure on its own. */
  settle(): void {
    const noted = this.#noted
    this.#noted = undefined
    if (noted === undefined) return
    const thrown = this.#once(noted.thrown)
    // A step failed because of a tool whose failure was reported.
    if (thrown === undefined && noted.thrown !== undefined) return
    this.#report({ ...noted, thrown })
  }

  /** The run fails. Returns the thrown value for the report; undefined if it was reported. */
  end(thrown: unknown): unknown {
    if (this.#noted !== undefined && isPartOf(this.#noted.thrown, thrown)) this.#noted = undefined
    this.settle()
    return this.#once(thrown)
  }

  /** Returns the value the first time, then undefined. */
  #once(thrown: unknown): unknown {
    if (typeof thrown !== 'object' || thrown === null) return thrown
    if (this.#reported?.has(thrown)) return undefined
    this.#reported ??= new WeakSet()
    this.#reported.add(thrown)
    return thrown
  }

  #failureIn(event: RunEvent): InnerFailure | undefined {
    if (event.type === 'tool_call_end') {
      const of = this.#calls?.get(event.toolCallId) ?? 'unknown'
      this.#calls?.delete(event.toolCallId)
      // A denied call is not a failure.
      if (event.error === undefined || event.code === 'approval_denied') return undefined
      return { event: 'tool.failed', of, code: event.code, message: event.error, thrown: thrownWith(event) }
    }
    if (event.type !== 'step' || event.status !== 'failed') return undefined
    const thrown = thrownWith(event)
    if (thrown === undefined && event.error === undefined) return undefined
    return { event: 'step.failed', of: event.name, code: undefined, message: event.error, thrown }
  }

  #remember({ id, name }: { readonly id: string; readonly name: string }): void {
    this.#calls ??= new Map()
    if (this.#calls.size < MAX_CALLS) this.#calls.set(id, name)
  }
}

/** Whether `inner` is among the causes of `outer`. */
function isPartOf(inner: unknown, outer: unknown): boolean {
  if (typeof inner !== 'object' || inner === null) return false
  try {
    for (let error = outer, depth = 0; depth < MAX_DEPTH; depth++) {
      if (error === inner) return true
      error = Object(error).cause
    }
  } catch {
    // A value of other code that throws when it is read.
  }
  return false
}
