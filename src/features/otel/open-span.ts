/**
 * An open span, with the data collected so far.
 *
 * @module
 */

import { type Attributes, type Context, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Usage } from '../../agents/contract.ts'
import { ATTR, errorType } from './conventions.ts'

/** A failure: its code, and its text if contents are recorded. */
export interface Failure {
  readonly code: string | undefined
  readonly text?: string | undefined
}

/** A span until it ends. */
export class OpenSpan {
  readonly span: Span
  /** The context in which its child spans begin. */
  readonly context: Context
  readonly startedAt: number = performance.now()
  /** The keys of agents' spans that end with it. */
  readonly inner: string[] = []
  /** The keys under which it is the turn of a member. */
  readonly turns: string[] = []
  /** The name of the tool, of a call of one. */
  tool: string | undefined
  /** The time of the last event inside it, if no event marks its end. */
  lastAt: Date | undefined
  /** The time of a model's first chunk inside it, since the last model call ended. */
  firstChunkAt: number | undefined
  #usage: { input: number; output: number } | undefined

  constructor(span: Span, parent: Context) {
    this.span = span
    this.context = trace.setSpan(parent, span)
  }

  get durationMs(): number {
    return performance.now() - this.startedAt
  }

  /** Adds the usage of a model call inside it. */
  use({ promptTokens, completionTokens }: Usage): void {
    this.#usage ??= { input: 0, output: 0 }
    this.#usage.input += promptTokens
    this.#usage.output += completionTokens
  }

  end(attributes: Attributes = {}, failure?: Failure): void {
    const { span } = this
    span.setAttributes({
      ...(this.#usage && { [ATTR.inputTokens]: this.#usage.input, [ATTR.outputTokens]: this.#usage.output }),
      ...attributes,
    })
    if (failure !== undefined) {
      span.setAttribute(ATTR.errorType, errorType(failure.code))
      const message = failure.text
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
    }
    span.end(this.lastAt)
  }
}
