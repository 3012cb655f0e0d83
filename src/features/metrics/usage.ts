import type { ModelUsage, Usage } from '../../agents/contract.ts'
import { partsOf } from '../../agents/usage.ts'

/** Bounds above the numbers of any run. They keep sums within the safe range of numbers. */
const MAX_TOKENS = 1e12
const MAX_COST = 1e6

/** Returns only the valid numbers of a usage. A usage comes from other code and may contain anything. */
export function cleanUsage({ promptTokens, completionTokens, totalTokens, cost }: Usage): Usage {
  const usage = {
    promptTokens: bounded(promptTokens, MAX_TOKENS),
    completionTokens: bounded(completionTokens, MAX_TOKENS),
    totalTokens: bounded(totalTokens, MAX_TOKENS),
  }
  return isAmount(cost) ? { ...usage, cost: Math.min(cost, MAX_COST) } : usage
}

/** The same, with the usage of each model for pricing. */
export function cleanParts(usage: Usage): Usage {
  const models = partsOf(usage).slice(0, MAX_PARTS).map(cleanPart)
  return { ...cleanUsage(usage), ...(models.length > 0 && { models }) }
}

/** More models than any run uses. */
const MAX_PARTS = 1000

function cleanPart(part: ModelUsage): ModelUsage {
  return { ...cleanUsage(part), ...(typeof part.model === 'string' && { model: part.model }) }
}

/** Returns a cost in USD. Undefined if it is not valid. */
export function cleanCost(cost: unknown): number | undefined {
  return isAmount(cost) ? Math.min(cost, MAX_COST) : undefined
}

/** Returns a duration in milliseconds. 0 if it is not valid. */
export function cleanDuration(durationMs: unknown): number {
  return isAmount(durationMs) ? durationMs : 0
}

function bounded(value: unknown, max: number): number {
  return isAmount(value) ? Math.min(value, max) : 0
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
