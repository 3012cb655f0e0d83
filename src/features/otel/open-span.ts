/**
 * A span that has begun, with what is known of it so far.
 *
 * @module
 */

import { type Attributes, type Context, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Usage } from '../../agents/contract.ts'
import { ATTR, errorType } from './conventions.ts'

/** What failed: its code, and what it said where that is to be told. */
export interface Failure {
  readonly code: string | undefined
  readonly text?: string | undefined
}

/** A span until it ends. */
export class OpenSpan {
  readonly span: Span
  /** In which spans inside of it begin. */
  readonly context: Context
  readonly startedAt: number = performance.now()
  /** The keys of agents' spans that end with it. */
  readonly inner: string[] = []
  /** The keys under which it is the turn of a member. */
  readonly turns: string[] = []
  /** When something last happened inside of it, where nothing tells its end. */
  lastAt: Date | undefined
  /** When the first chunk of a model came inside of it, since the last call of a model ended. */
  firstChunkAt: number | undefined
  #usage: { input: number; output: number } | undefined

  constructor(span: Span, parent: Context) {
    this.span = span
    this.context = trace.setSpan(parent, span)
  }

  get durationMs(): number {
    return performance.now() - this.startedAt
  }

  /** Adds what a model call inside of it has used. */
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
