/**
 * Amounts in whole numbers, so that a sum is exact: billionths of a USD, and tokens.
 *
 * @module
 */

import type { Usage } from '../../agents/contract.ts'
import { partsOf } from '../../agents/usage.ts'
import type { CostOf } from '../../runs/numbers.ts'

/** Billionths of a USD, and tokens. */
export type Amount = readonly [usd: number, tokens: number]

/** Zero. */
export const NOTHING: Amount = [0, 0]

/** Billionths in a USD. */
const BILLION = 1e9

/** Bounds above the cost of any run, so that sums stay exact integers. */
const MAX_USD = 1e6
const MAX_TOKENS = 1e12

/** An amount of USD and tokens, rounded to whole numbers. A value that is negative or not a number is 0. */
export function amountOf(usd: unknown, tokens: unknown): Amount {
  return [Math.round(bounded(usd, MAX_USD) * BILLION), Math.round(bounded(tokens, MAX_TOKENS))]
}

function bounded(value: unknown, max: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, max) : 0
}

/** The USD of an amount. */
export function toUsd(billionths: number): number {
  return billionths / BILLION
}

/** Applies `work` to both numbers of two amounts. */
export function both(a: Amount, b: Amount, work: (a: number, b: number) => number): Amount {
  return [work(a[0], b[0]), work(a[1], b[1])]
}

/** The sum of two amounts. */
export function sum(a: Amount, b: Amount): Amount {
  return both(a, b, (one, other) => one + other)
}

/** The difference of two amounts. It may be negative. */
export function minus(a: Amount, b: Amount): Amount {
  return both(a, b, (one, other) => one - other)
}

/** The larger one of each number. */
export function larger(a: Amount, b: Amount): Amount {
  return both(a, b, Math.max)
}

/** The smaller one of each number. */
export function smaller(a: Amount, b: Amount): Amount {
  return both(a, b, Math.min)
}

/** The cost of a usage, and whether it is known. */
export interface Spent {
  readonly amount: Amount
  readonly isPriced: boolean
}

/** The cost of a usage. A part without a model or a price costs as much as the first of `models` that has a price. */
export function spentBy(usage: Usage, models: readonly (string | undefined)[], costOf: CostOf): Spent {
  const parts = partsOf(usage)
  const costs = (parts.length > 0 ? parts : [usage]).map(part => {
    const { promptTokens, completionTokens, totalTokens, cost } = part
    const own = 'model' in part ? [part.model, ...models] : models
    const tokens = { promptTokens, completionTokens, totalTokens }
    if (totalTokens === 0) return cost ?? 0
    for (const model of [...own, undefined]) {
      const used = { ...tokens, ...(model !== undefined && { model }), ...(cost !== undefined && { cost }) }
      const known = costOf({ ...tokens, models: [used] }, undefined)
      if (known !== undefined) return known
    }
    return undefined
  })
  const isReported = usage.cost !== undefined && costs.every(cost => cost === undefined)
  const usd = isReported ? usage.cost : costs.reduce<number>((all, cost = 0) => all + cost, 0)
  return { amount: amountOf(usd, usage.totalTokens), isPriced: isReported || !costs.includes(undefined) }
}
