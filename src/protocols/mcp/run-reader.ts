/**
 * Reads a run for the answer to one call: its current activity, and its outcome.
 *
 * @module
 */

import type {
  ErrorEvent,
  FinishEvent,
  InputRequest,
  RunEvent,
  RunResult,
  StepEvent,
} from '../../agents/contract.ts'
import { endMessageOf, Fold } from '../../agents/fold.ts'
import { ignoring, ServableError } from '../../base/errors.ts'
import type { StartedRun } from '../../http/runs/start-run.ts'
import type { RunHost, Viewer } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'

/** The outcome of a run. */
export type CallOutcome = { readonly result: RunResult } | { readonly error: ErrorEvent }

/** Starts the run that continues a waiting run. Resolves with undefined if none does. */
export type ContinueRun = (
  requests: readonly InputRequest[],
  runId: string,
) => Promise<StartedRun | undefined>

/** Most characters of the run's text in a notification of progress. */
const MAX_LAST = 100

/** Options of a reader. */
export interface RunReaderOptions {
  readonly continueRun: ContinueRun
  /** Most characters of an answer. */
  readonly maxLength: number
  /** Whether the client wants progress. */
  readonly tracksChanges: boolean
  /** Is called as a step begins or ends. */
  readonly onStep?: ((event: StepEvent) => void) | undefined
}

/** The id of the artifact that collects the parts of messages that are not text. */
const IN_MESSAGES = 'message'

/** Reads a run, and the runs that continue it, as one. */
export class RunReader {
  /** The id of the run that is read. */
  runId: string
  readonly done: Promise<CallOutcome>
  /** How many changes of the run are worth a notification of progress. */
  changes = 0
  /** Is called once, at the next change. */
  onChange: (() => void) | undefined
  /** The current step or tool. Undefined while the run emits text. */
  #doing: string | undefined
  readonly #tracksChanges: boolean
  readonly #fold: Fold
  readonly #onStep: RunReaderOptions['onStep']
  #events: AsyncIterableIterator<RunEvent>
  /** Whether `leave` was called. */
  isClosed = false

  constructor(started: StartedRun, { continueRun, maxLength, tracksChanges, onStep }: RunReaderOptions) {
    this.#onStep = onStep
    this.#tracksChanges = tracksChanges
    this.#fold = new Fold(maxLength)
    this.runId = started.id
    this.#events = started.events()
    this.done = this.#read(continueRun)
    // The rejection is handled by the code that awaits `done`.
    this.done.catch(() => {})
  }

  /** The text of the run so far. */
  get text(): string {
    return this.#fold.text
  }

  /** The current activity: the step or the tool at work, or the end of the text. */
  get news(): string {
    return this.#doing ?? this.#fold.text.slice(-MAX_LAST).trim()
  }

  /** Stops reading. This ends a run that is not stored. */
  leave(): void {
    this.isClosed = true
    void this.#events.return?.()
  }

  async #read(continueRun: ContinueRun): Promise<CallOutcome> {
    for (;;) {
      const end = await this.#readOne()
      if (end?.type === 'error') return { error: end }
      // The run was deleted while it was read.
      if (!end && !this.isClosed) throw new ServableError('run_not_found', 'The run is gone')
      const result = this.#fold.result({ runId: this.runId, durationMs: 0 })
      const next =
        result.requests && !this.isClosed ? await continueRun(result.requests, this.runId) : undefined
      if (next === undefined) return { result }
      this.runId = next.id
      this.#events = next.events()
      if (this.isClosed) this.leave()
    }
  }

  /** Reads one run to its last event. */
  async #readOne(): Promise<FinishEvent | ErrorEvent | undefined> {
    let end: FinishEvent | ErrorEvent | undefined
    for await (const event of this.#events) {
      this.#take(event)
      if (event.type === 'finish' || event.type === 'error') end = event
    }
    return end
  }

  #take(event: RunEvent): void {
    const words = event.type === 'finish' ? endMessageOf(event) : undefined
    if (words !== undefined) this.#take(words)
    const fold = this.#fold
    fold.add(event)
    // Results have no member for files of messages, so these files become an artifact.
    if (event.type === 'message' || event.type === 'resumed') {
      const parts = event.type === 'message' ? event.parts.filter(({ type }) => type !== 'text') : []
      const append = event.type === 'message'
      if (parts.length > 0 || !append) fold.add({ type: 'artifact', artifactId: IN_MESSAGES, parts, append })
    }
    if (event.type === 'step') this.#onStep?.(event)
    const doing = doingIn(event)
    if (!this.#tracksChanges || (doing === undefined && event.type !== 'text')) return
    this.#doing = doing
    this.changes++
    this.wake()
  }

  /** Calls `onChange`, if it is set. */
  wake(): void {
    this.onChange?.()
    this.onChange = undefined
  }
}

function doingIn(event: RunEvent): string | undefined {
  if (event.type === 'tool_call_start') return `Calls ${event.toolCall.name}`
  return event.type === 'step' && event.status === 'started' ? event.name : undefined
}

/** Most runs that continue each other in one call. */
const MAX_CHAIN = 100

/** The newest of the runs that continue a run. It is the run itself if none has begun. */
export async function lastOf(
  host: Pick<RunHost, 'get'>,
  first: RunRecord,
  viewer: Viewer,
): Promise<RunRecord> {
  let record = first
  for (let count = 0; record.continuedBy && count < MAX_CHAIN; count++) {
    const next = await host.get(record.continuedBy, viewer).catch(ignoring('run_not_found'))
    if (next === undefined) break
    record = next
  }
  return record
}
