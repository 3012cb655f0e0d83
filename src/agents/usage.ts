/**
 * Adds up the usage of the servables inside a run.
 *
 * @module
 */

import type { ModelUsage, Servable, Usage } from './contract.ts'

/** The usage of a run that reports none. */
export const NO_USAGE: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }

/** The most parts of a usage. Later ones are added to the last, which then has no model. */
const MAX_PARTS = 100

/** Adds up two usages. The cost is known if one of them has it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const models = addModels(partsOf(a), partsOf(b))
  return { ...sum(a, b), ...(models.length > 0 && { models }) }
}

/** The usage of a servable, with its model as a part unless the usage has parts. */
export function usageOf({ model }: Pick<Servable, 'model'>, usage: Usage): Usage {
  const { promptTokens, completionTokens, totalTokens, cost } = usage
  const name = nameOf(model)
  // Without a model and a cost no price can be found.
  if ((name === undefined && cost === undefined) || partsOf(usage).length > 0) return usage
  const part: ModelUsage = {
    ...(name !== undefined && { model: name }),
    promptTokens,
    completionTokens,
    totalTokens,
    ...(cost !== undefined && { cost }),
  }
  return { ...usage, models: [part] }
}

/** How a model is named: `provider/id`. Other code's object may hold anything. */
export function nameOf(model: Servable['model']): string | undefined {
  const { provider, id } = Object(model) as Partial<NonNullable<Servable['model']>>
  return typeof provider === 'string' && typeof id === 'string' ? `${provider}/${id}` : undefined
}

/** The usage per model, if it is reported. The value comes from other code: anything but a list counts as none. */
export function partsOf({ models }: Usage): readonly ModelUsage[] {
  return Array.isArray(models) ? models.filter(isPart) : []
}

function isPart(part: unknown): boolean {
  const { promptTokens, completionTokens, totalTokens } = Object(part) as Partial<ModelUsage>
  return [promptTokens, completionTokens, totalTokens].every(Number.isFinite)
}

function addModels(a: readonly ModelUsage[], b: readonly ModelUsage[]): readonly ModelUsage[] {
  if (a.length === 0) return b
  const all = [...a]
  for (const part of b) {
    const at = all.findIndex(each => isAlike(each, part))
    const index = at === -1 && all.length >= MAX_PARTS ? MAX_PARTS - 1 : at
    const before = all[index]
    if (before === undefined) all.push(part)
    else if (at === -1) all[index] = sum(before, part)
    else all[index] = { ...sum(before, part), ...(part.model !== undefined && { model: part.model }) }
  }
  return all
}

/** A part with a reported cost is not mixed with one that is still to be priced. */
function isAlike(a: ModelUsage, b: ModelUsage): boolean {
  return a.model === b.model && (a.cost === undefined) === (b.cost === undefined)
}

function sum(a: Usage | ModelUsage, b: Usage | ModelUsage): Usage {
  const cost = a.cost === undefined && b.cost === undefined ? undefined : (a.cost ?? 0) + (b.cost ?? 0)
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cost !== undefined && { cost }),
  }
}
