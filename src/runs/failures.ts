/**
 * Failures of a run, for the log. Each is logged once, although a tool's error may fail its step, and the step's error the run.
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
   * The run failed; a tool or a step did, and the run went on; or the end of a run could not be stored.
   */
  readonly event: 'run.failed' | 'tool.failed' | 'step.failed' | 'run.not_stored'
  readonly kind: Kind
  readonly name: string
  readonly runId: string
  /** The identity that owns the run; null where there is none, and the id alone is enough to read it. */
  readonly owner: string | null
  /** The id of the request that started the run. */
  readonly requestId: string | undefined
  /** The A2A task that the run works on. */
  readonly taskId?: string
  /** The tool or the step. */
  readonly of?: string
  readonly code: string
  /** The text of what was thrown, provider keys removed. */
  readonly message: string
  /** As it was thrown; undefined where nobody knows more than the text, and where it was told before. */
  readonly thrown: unknown
  /** What must not stand in the log. */
  readonly secrets: readonly string[]
}

/** The store could not take how a run has ended. */
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

/** What failed inside a run. */
export interface InnerFailure {
  readonly event: 'tool.failed' | 'step.failed'
  readonly of: string
  readonly code: string | undefined
  readonly message: string | undefined
  readonly thrown: unknown
}

/** Tools at work that are remembered by the ids of their calls. */
const MAX_CALLS = 1000

/** Causes that are looked at. */
const MAX_DEPTH = 5

/**
 * Looks at the events of a run for what failed in it. It is told when the run goes on; where the run fails of it, the run's
 * own end tells it.
 */
export class FailureNotes {
  readonly #tell: (failure: InnerFailure) => void
  #calls: Map<string, string> | undefined
  #noted: InnerFailure | undefined
  #told: WeakSet<object> | undefined

  constructor(tell: (failure: InnerFailure) => void) {
    this.#tell = tell
  }

  /** Takes an event, before anyone else does. */
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

  /** The run goes on, or has ended by itself: what failed in it is a story of its own. */
  settle(): void {
    const noted = this.#noted
    this.#noted = undefined
    if (noted === undefined) return
    const thrown = this.#once(noted.thrown)
    // A step that failed of a tool that was told.
    if (thrown === undefined && noted.thrown !== undefined) return
    this.#tell({ ...noted, thrown })
  }

  /** The run fails; gives what is to be told of the throw. */
  end(thrown: unknown): unknown {
    if (this.#noted !== undefined && isPartOf(this.#noted.thrown, thrown)) this.#noted = undefined
    this.settle()
    return this.#once(thrown)
  }

  /** The value, the first time. */
  #once(thrown: unknown): unknown {
    if (typeof thrown !== 'object' || thrown === null) return thrown
    if (this.#told?.has(thrown)) return undefined
    this.#told ??= new WeakSet()
    this.#told.add(thrown)
    return thrown
  }

  #failureIn(event: RunEvent): InnerFailure | undefined {
    if (event.type === 'tool_call_end') {
      const of = this.#calls?.get(event.toolCallId) ?? 'unknown'
      this.#calls?.delete(event.toolCallId)
      // That a person denies a call is no failure.
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

/** Whether the story of `outer` has that of `inner` in it. */
function isPartOf(inner: unknown, outer: unknown): boolean {
  if (typeof inner !== 'object' || inner === null) return false
  try {
    for (let error = outer, depth = 0; depth < MAX_DEPTH; depth++) {
      if (error === inner) return true
      error = Object(error).cause
    }
  } catch {
    // Other code's value, which does not want to be looked at.
  }
  return false
}
