/**
 * The histograms of the conventions.
 *
 * @module
 */

import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import type { Usage } from '../../agents/contract.ts'
import { ATTR, METRICS, type ModelName, OTHER, type SpanOperation } from './conventions.ts'

/** Most models with series of their own. */
const MAX_MODELS = 100

/** The labels of an operation. They contain no id, no name of an agent and no content. */
export interface Measured {
  readonly operation: SpanOperation
  readonly model?: ModelName | undefined
  /** The `error.type` of a failed operation. */
  readonly error?: string | undefined
}

/** Measures runs. */
export class Measures {
  readonly #duration: Histogram
  readonly #tokens: Histogram
  readonly #firstChunk: Histogram
  readonly #models = new Set<string>()

  constructor(meter: Meter) {
    const histogram = ({ name, description, unit, boundaries }: (typeof METRICS)[keyof typeof METRICS]) =>
      meter.createHistogram(name, {
        description,
        unit,
        advice: { explicitBucketBoundaries: [...boundaries] },
      })
    this.#duration = histogram(METRICS.duration)
    this.#tokens = histogram(METRICS.tokens)
    this.#firstChunk = histogram(METRICS.firstChunk)
  }

  /** Records the duration of an ended operation. */
  ended(measured: Measured, durationMs: number): void {
    this.#duration.record(durationMs / 1000, this.#attributes(measured))
  }

  /** Records the time to the first chunk of its answer. */
  began(measured: Measured, durationMs: number): void {
    this.#firstChunk.record(durationMs / 1000, this.#attributes(measured))
  }

  used(measured: Measured, { promptTokens, completionTokens }: Usage): void {
    const attributes = this.#attributes(measured)
    this.#tokens.record(promptTokens, { ...attributes, [ATTR.tokenType]: 'input' })
    this.#tokens.record(completionTokens, { ...attributes, [ATTR.tokenType]: 'output' })
  }

  #attributes({ operation, model, error }: Measured): Attributes {
    return {
      [ATTR.operation]: operation,
      ...(model && this.#bounded(model)),
      ...(error !== undefined && { [ATTR.errorType]: error }),
    }
  }

  #bounded({ provider, model }: ModelName): Attributes {
    const key = `${provider}/${model}`
    if (!this.#models.has(key) && this.#models.size >= MAX_MODELS)
      return { [ATTR.provider]: OTHER, [ATTR.model]: OTHER }
    this.#models.add(key)
    return { [ATTR.provider]: provider, [ATTR.model]: model }
  }
}
