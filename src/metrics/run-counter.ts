import type { ErrorEvent, FinishEvent, Kind, RunEvent, Usage } from '../agents/contract.ts'
import type { RunMeter } from '../runs/meter.ts'
import type { RunSample } from './stats.ts'

/** What a run is, to be counted. */
export interface Subject {
  readonly kind: Kind
  readonly name: string
  readonly model: { readonly provider: string; readonly id: string } | undefined
}

/** Who takes what was counted. */
export interface CountTaker {
  tool(subject: Subject, tool: string): void
  ended(subject: Subject, sample: RunSample, code: string | undefined): void
  costOf(subject: Subject, usage: Usage): number | undefined
}

/** Counts one run. */
export class RunCounter implements RunMeter {
  readonly #subject: Subject
  readonly #taker: CountTaker
  readonly #startedAt = performance.now()
  #firstTextMs: number | undefined
  #tools: string[] | undefined
  #hasEnded = false

  constructor(subject: Subject, taker: CountTaker) {
    this.#subject = subject
    this.#taker = taker
  }

  event(event: RunEvent): void {
    if (event.type === 'text' || event.type === 'message') return this.text()
    if (event.type === 'tool_call_start') this.tool(event.toolCall.name)
  }

  /** The run has said something. */
  text(): void {
    this.#firstTextMs ??= performance.now() - this.#startedAt
  }

  tool(name: string): void {
    this.#tools ??= []
    this.#tools.push(name)
    this.#taker.tool(this.#subject, name)
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const usage = event.type === 'finish' ? event.usage : undefined
    const sample: RunSample = {
      outcome: event.type === 'finish' ? event.finishReason : 'error',
      durationMs,
      firstTextMs: this.#firstTextMs,
      usage,
      cost: usage && this.#taker.costOf(this.#subject, usage),
      tools: this.#tools,
    }
    this.#taker.ended(this.#subject, sample, event.type === 'error' ? event.code : undefined)
  }
}
