/**
 * The cost of runs.
 *
 * @module
 */

import type { ModelUsage, ServableAgent, Usage } from '../agents/contract.ts'
import { nameOf, partsOf } from '../agents/usage.ts'

/** Prices of a model in USD per million tokens. */
export interface ModelPrice {
  readonly prompt: number
  readonly completion: number
}

/** Prices by `provider/id` or `id` of the model. */
export type Pricing = Readonly<Record<string, ModelPrice>>

/**
 * The cost of a run in USD; undefined if it is unknown. A usage with parts costs their sum, each by its reported cost or else by
 * its price. Any other usage costs what it reports, or else the price of the run's own model. Of several price lists, the first
 * that has a model counts.
 */
export function costOf(
  usage: Usage,
  model: ServableAgent['model'],
  pricings: readonly Pricing[],
): number | undefined {
  const parts = partsOf(usage)
  if (parts.length === 0) return usage.cost ?? priceOf(usage, nameOf(model), pricings)
  const costs = parts.map(part => part.cost ?? priceOf(part, part.model, pricings))
  const known = costs.filter(cost => cost !== undefined)
  return known.length === 0 ? usage.cost : known.reduce((sum, cost) => sum + cost, 0)
}

function priceOf(
  { promptTokens, completionTokens }: Usage | ModelUsage,
  model: string | undefined,
  pricings: readonly Pricing[],
): number | undefined {
  if (model === undefined) return undefined
  const names = [model, model.slice(model.indexOf('/') + 1)]
  for (const pricing of pricings) {
    const name = names.find(each => Object.hasOwn(pricing, each))
    const price = name === undefined ? undefined : pricing[name]
    if (price !== undefined) return (promptTokens * price.prompt + completionTokens * price.completion) / 1e6
  }
  return undefined
}

/** Whether a value is a price. */
export function isPrice(value: unknown): value is ModelPrice {
  const { prompt, completion } = Object(value) as Partial<ModelPrice>
  return [prompt, completion].every(each => typeof each === 'number' && Number.isFinite(each) && each >= 0)
}
