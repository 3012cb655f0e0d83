import type {
  Answer,
  ErrorEvent,
  FinishEvent,
  InputRequest,
  Kind,
  RunEvent,
  Usage,
} from '../../agents/contract.ts'
import type { RunObserver } from '../../runs/observer.ts'
import type { Pricing } from '../../runs/pricing.ts'
import { type Approval, type CountedOutcome, OTHER, OUTCOMES, type RunSample } from './stats.ts'
import { cleanCost, cleanDuration, cleanParts, cleanUsage } from './usage.ts'

/** The properties of a run by which it is counted. */
export interface Subject {
  readonly kind: Kind
  readonly name: string
  readonly model: { readonly provider: string; readonly id: string } | undefined
  /** The prices of the handler that serves the run. */
  readonly pricing?: Pricing | undefined
}

/** Receives the counts of runs. */
export interface CountTaker {
  tool(subject: Subject, tool: string): void
  ended(subject: Subject, sample: RunSample, code: string | undefined): void
  costOf(subject: Subject, usage: Usage): number | undefined
}

/** Counts one run. */
export class RunCounter implements RunObserver {
  readonly #subject: Subject
  readonly #taker: CountTaker
  readonly #startedAt = performance.now()
  #firstTextMs: number | undefined
  #tools: string[] | undefined
  #approvals: Approval[] | undefined
  #hasEnded = false

  constructor(subject: Subject, taker: CountTaker) {
    this.#subject = subject
    this.#taker = taker
  }

  event(event: RunEvent): void {
    if (event.type === 'text' || event.type === 'message') return this.text()
    if (event.type === 'tool_call_start') this.tool(event.toolCall.name)
  }

  /** Notes the time of the run's first text. */
  text(): void {
    this.#firstTextMs ??= performance.now() - this.#startedAt
  }

  tool(given: string): void {
    const name = wellFormed(given)
    this.#tools ??= []
    this.#tools.push(name)
    this.#taker.tool(this.#subject, name)
  }

  /** Counts a call that needs approval, or a decision. */
  approval(approval: Approval): void {
    this.#approvals ??= []
    this.#approvals.push(approval)
  }

  /** A call waits. The run that continues makes the call, and counts it. */
  #ask({ toolName }: InputRequest): void {
    this.approval('asked')
    // If the tool is not in the list, -1 becomes an index beyond its end.
    this.#tools?.splice(this.#tools.lastIndexOf(wellFormed(`${toolName}`)) >>> 0, 1)
  }

  /** Called when the run continues with answers. */
  answered(answers: readonly Answer[]): void {
    for (const answer of answers) if ('decision' in answer) this.approval(decided(answer.decision))
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const requests = (event.type === 'finish' && event.requests) || []
    for (const request of requests) if (request.kind === 'approval') this.#ask(request)
    const reported = event.type === 'finish' ? event.usage : undefined
    const usage = reported && cleanUsage(reported)
    const cost = reported && this.#taker.costOf(this.#subject, cleanParts(reported))
    const sample: RunSample = {
      outcome: outcomeOf(event),
      durationMs: cleanDuration(durationMs),
      firstTextMs: this.#firstTextMs,
      usage,
      cost: cleanCost(cost),
      tools: this.#tools,
      approvals: this.#approvals,
    }
    this.#taker.ended(this.#subject, sample, event.type === 'error' ? event.code : undefined)
  }
}

/** The count of a decision. */
export function decided(decision: 'approve' | 'deny'): Approval {
  return decision === 'approve' ? 'approved' : 'denied'
}

function outcomeOf(event: FinishEvent | ErrorEvent): CountedOutcome {
  if (event.type === 'error') return 'error'
  return OUTCOMES.has(event.finishReason) ? event.finishReason : OTHER
}

/** Most characters of a name. */
const MAX_NAME_LENGTH = 200

/** Makes a name well formed and limits its length, so that it can be written in every format. */
export function wellFormed(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed()
}
