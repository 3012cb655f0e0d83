/**
 * A run as it is read for the answer to one call: what it does now, and what has come of it.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, InputRequest, RunEvent, RunResult } from '../../agents/contract.ts'
import { Fold } from '../../agents/fold.ts'
import { lastWordsOf } from '../../agents/work/last-words.ts'
import { ServableError } from '../../base/errors.ts'
import type { StartedRun } from '../../http/runs/start-run.ts'

/** What came of a run. */
export type Outcome = { readonly result: RunResult } | { readonly error: ErrorEvent }

/** Starts the run that goes on after a run that waits; undefined where nothing does. */
export type GoOn = (requests: readonly InputRequest[], runId: string) => Promise<StartedRun | undefined>

/** Most characters of a text that is told as progress. */
const MAX_LAST = 100

/** How a run is read. */
export interface ReadingOptions {
  readonly goOn: GoOn
  /** Most characters of an answer. */
  readonly maxLength: number
  /** Somebody wants to know what the run does. */
  readonly tellsMoves: boolean
}

/** The artifact that holds what is no text in messages. */
const IN_MESSAGES = 'message'

/** Reads a run, and those that go on from it, as one. */
export class Reading {
  /** The id of the run that is read. */
  runId: string
  readonly done: Promise<Outcome>
  /** How often the run has done something that is worth telling. */
  moves = 0
  /** Called once when it does so again. */
  onMove: (() => void) | undefined
  /** What it does, unless it speaks. */
  #doing: string | undefined
  readonly #tellsMoves: boolean
  readonly #fold: Fold
  #events: AsyncIterableIterator<RunEvent>
  /** Nobody reads on. */
  hasLeft = false

  constructor(started: StartedRun, { goOn, maxLength, tellsMoves }: ReadingOptions) {
    this.#tellsMoves = tellsMoves
    this.#fold = new Fold(maxLength)
    this.runId = started.id
    this.#events = started.events()
    this.done = this.#read(goOn)
    // Whoever waits for it is told.
    this.done.catch(() => {})
  }

  /** What it has said. */
  get text(): string {
    return this.#fold.text
  }

  /** What the run does now: the step or the tool at work, or the end of what was said. */
  get news(): string {
    return this.#doing ?? this.#fold.text.slice(-MAX_LAST).trim()
  }

  /** Leaves the run, which ends a plain one. */
  leave(): void {
    this.hasLeft = true
    void this.#events.return?.()
  }

  async #read(goOn: GoOn): Promise<Outcome> {
    for (;;) {
      const end = await this.#readOne()
      if (end?.type === 'error') return { error: end }
      // It was deleted while it was read.
      if (!end && !this.hasLeft) throw new ServableError('run_not_found', 'The run is gone')
      const result = this.#fold.result({ runId: this.runId, durationMs: 0 })
      const next = result.requests && !this.hasLeft ? await goOn(result.requests, this.runId) : undefined
      if (next === undefined) return { result }
      this.runId = next.id
      this.#events = next.events()
      if (this.hasLeft) this.leave()
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
    const words = event.type === 'finish' ? lastWordsOf(event) : undefined
    if (words !== undefined) this.#take(words)
    const fold = this.#fold
    fold.add(event)
    // Results have no place for the files of messages: they are read as what the run has made.
    if (event.type === 'message' || event.type === 'resumed') {
      const parts = event.type === 'message' ? event.parts.filter(({ type }) => type !== 'text') : []
      const append = event.type === 'message'
      if (parts.length > 0 || !append) fold.add({ type: 'artifact', artifactId: IN_MESSAGES, parts, append })
    }
    const doing = doingIn(event)
    if (!this.#tellsMoves || (doing === undefined && event.type !== 'text')) return
    this.#doing = doing
    this.moves++
    this.wake()
  }

  /** Something is to be told. */
  wake(): void {
    this.onMove?.()
    this.onMove = undefined
  }
}

function doingIn(event: RunEvent): string | undefined {
  if (event.type === 'tool_call_start') return `Calls ${event.toolCall.name}`
  return event.type === 'step' && event.status === 'started' ? event.name : undefined
}
