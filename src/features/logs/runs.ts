/**
 * Entries of runs: one for each run, when it has ended.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent, Usage } from '../../agents/contract.ts'
import { nameOf } from '../../agents/usage.ts'
import type { Log, LogEntry } from '../../http/log.ts'
import type { CostOf } from '../../runs/numbers.ts'
import type { BegunRun, Observer, RunObserver } from '../../runs/observer.ts'
import { type RunStatus, refOf } from '../../runs/stored/record.ts'
import { plain } from '../../web/plain.ts'

/** Most characters of a name. */
const MAX_NAME = 200

/** Logs each ended run: `run.ended`. */
export function observeRuns(log: Log, costOf: CostOf = ({ cost }) => cost): Pick<Observer, 'start'> {
  return { start: run => new LoggedRun(run, log, costOf) }
}

class LoggedRun implements RunObserver {
  readonly #run: BegunRun
  readonly #log: Log
  readonly #costOf: CostOf
  #toolCalls = 0
  #model: string | undefined

  constructor(run: BegunRun, log: Log, costOf: CostOf) {
    this.#run = run
    this.#log = log
    this.#costOf = costOf
    this.#model = nameOf(run.servable.model)
  }

  event(event: RunEvent): void {
    if (event.type === 'tool_call_start') this.#toolCalls++
    else if (event.type === 'model_call') this.#model ??= event.model
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    const { transport, requestId } = this.#run
    const usage = event.type === 'finish' ? event.usage : undefined
    const cost = usage && this.#costOf(usage, this.#run.servable.model)
    this.#log({
      level: 'info',
      channel: 'runs',
      event: 'run.ended',
      ...subjectOf(this.#run),
      ...outcomeOf(event),
      durationMs,
      ...(usage && { usage: tokensOf(usage) }),
      ...(cost !== undefined && Number.isFinite(cost) && { cost }),
      toolCalls: this.#toolCalls,
      ...(this.#model !== undefined && { model: nameIn(this.#model) }),
      ...(transport !== undefined && { transport }),
      ...(requestId !== undefined && { requestId }),
    })
  }
}

/** The target and the owner of a run. An id that would let others read the run is cut. */
export function subjectOf({ kind, name, runId, owner }: BegunRun): Partial<LogEntry> {
  return {
    kind,
    name: nameIn(name),
    runId: refOf(runId, owner),
    ...(owner !== null && { identity: nameIn(owner) }),
  }
}

/** A name for the log. */
export function nameIn(name: string): string {
  return plain(name.slice(0, MAX_NAME))
}

/** The outcome of a run, in the terms of its record. */
function outcomeOf(event: FinishEvent | ErrorEvent): { readonly status: RunStatus } & Partial<LogEntry> {
  if (event.type === 'error') return { status: 'failed', code: nameIn(event.code) }
  const { finishReason } = event
  if (finishReason === 'cancelled') return { status: 'cancelled' }
  const isWaiting = finishReason === 'input_required' || finishReason === 'auth_required'
  return { status: isWaiting ? 'input_required' : 'completed', finishReason }
}

/** Only the numbers: a servable may add other values, or replace numbers by them. */
function tokensOf({ promptTokens, completionTokens, totalTokens }: Usage): Usage {
  const number = (value: number) => (Number.isFinite(value) ? value : 0)
  return {
    promptTokens: number(promptTokens),
    completionTokens: number(completionTokens),
    totalTokens: number(totalTokens),
  }
}
