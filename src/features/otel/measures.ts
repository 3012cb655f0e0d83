/**
 * The metrics of the conventions.
 *
 * @module
 */

import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api'
import type { Usage } from '../../agents/contract.ts'
import {
  ATTR,
  DURATIONS,
  type MetricPlan,
  type ModelName,
  OTHER,
  type SpanOperation,
  USAGE,
} from './conventions.ts'

/** Most values of an attribute that have series of their own: models, agents or tools. */
const MAX_VALUES = 100

/** What is measured. Its labels contain no id and no content. */
export interface Measured {
  readonly operation: SpanOperation
  /** The agent, team or workflow of a run. */
  readonly agent?: string | undefined
  readonly tool?: string | undefined
  readonly model?: ModelName | undefined
  /** The `error.type` of a failed operation. */
  readonly error?: string | undefined
}

/** Measures runs. */
export class Measures {
  readonly #durations: { readonly [K in keyof typeof DURATIONS]: Histogram }
  readonly #tokens: readonly (readonly [keyof Usage, all: Counter, each: Histogram])[]
  readonly #known = new Map<string, Set<string>>()

  constructor(meter: Meter) {
    const make = ({ name, options }: MetricPlan) => meter.createHistogram(name, options)
    const { invocation, tool, inference, firstChunk, firstText } = DURATIONS
    this.#durations = {
      invocation: make(invocation),
      tool: make(tool),
      inference: make(inference),
      firstChunk: make(firstChunk),
      firstText: make(firstText),
    }
    const count = ({ all, each }: (typeof USAGE)['input']) =>
      [meter.createCounter(all.name, all.options), make(each)] as const
    this.#tokens = [
      ['promptTokens', ...count(USAGE.input)],
      ['completionTokens', ...count(USAGE.output)],
    ]
  }

  /** Records the duration of an ended operation. */
  ended(measured: Measured, durationMs: number): void {
    const { invocation, tool, inference } = this.#durations
    const { operation } = measured
    const histogram = operation === 'chat' ? inference : operation === 'execute_tool' ? tool : invocation
    histogram.record(durationMs / 1000, this.#attributes(measured))
  }

  /** Records the time to the first chunk of its answer. */
  began(measured: Measured, durationMs: number): void {
    const { firstChunk, firstText } = this.#durations
    const histogram = measured.operation === 'chat' ? firstChunk : firstText
    histogram.record(durationMs / 1000, this.#attributes(measured))
  }

  /** Counts the tokens of a call of a model, or those of a run whose calls are not known. */
  used({ operation, model }: Measured, usage: Usage): void {
    const attributes = this.#attributes({ operation, model })
    for (const [key, all, each] of this.#tokens) {
      const tokens = Number(usage[key])
      all.add(tokens, { ...attributes, [ATTR.modality]: 'unknown' })
      if (operation === 'chat') each.record(tokens, attributes)
    }
  }

  #attributes({ operation, agent, tool, model, error }: Measured): Attributes {
    return {
      ...(operation !== 'execute_tool' && { [ATTR.operation]: operation }),
      ...(agent !== undefined && { [ATTR.agentName]: this.#bounded(ATTR.agentName, agent) }),
      ...(agent !== undefined && operation !== 'execute_tool' && { [ATTR.isNested]: false }),
      ...(tool !== undefined && { [ATTR.toolName]: this.#bounded(ATTR.toolName, tool) }),
      ...(model && this.#modelAttributes(model, agent === undefined)),
      ...(error !== undefined && { [ATTR.errorType]: error }),
    }
  }

  #modelAttributes({ provider, model }: ModelName, hasProvider: boolean): Attributes {
    const isOther = this.#bounded(ATTR.model, `${provider}/${model}`) === OTHER
    return {
      ...(hasProvider && { [ATTR.provider]: isOther ? OTHER : provider }),
      [ATTR.model]: isOther ? OTHER : model,
    }
  }

  /** The value, or `_OTHER` once the attribute has had as many. */
  #bounded(attribute: string, value: string): string {
    const known = this.#known.get(attribute) ?? new Set()
    this.#known.set(attribute, known)
    if (!known.has(value) && known.size >= MAX_VALUES) return OTHER
    known.add(value)
    return value
  }
}
