/**
 * The options of budgets.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/run-types.ts'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, count, func } from '../../base/schemas.ts'
import type { Authenticate } from '../../http/security/gate.ts'
import { type Amount, amountOf, both, NOTHING } from './amount.ts'

/** The name of the plugin and of its object service. */
export const NAME = 'budgets'

/** A run, as the function `key` gets it. */
export interface BudgetRun {
  readonly kind: Kind
  /** The name under which it was requested. */
  readonly name: string
  /** The id of the identity that middleware set. Null without one. */
  readonly owner: string | null
  /** The caller: `owner:` and the identity, else `address:` and a digest of the address, or `anonymous`. */
  readonly client: string
}

/** A limit for each time window. */
export interface BudgetOptions {
  /** The name of the budget. Default: its `key`, or `custom` if that is a function. Several budgets need different names. */
  readonly name?: string | undefined
  /** Most USD in a window, up to 1,000,000. Default: no limit. One of `maxCostUsd` and `maxTokens` is required. */
  readonly maxCostUsd?: number | undefined
  /** Most tokens in a window. Default: no limit. */
  readonly maxTokens?: number | undefined
  /** Milliseconds of a window, at least 1,000. Windows begin at whole multiples of it since 1970 (UTC). */
  readonly windowMs: number
  /**
   * Which runs are counted together: all runs of an owner (the identity, else the address), of an agent, team or workflow, or
   * all. A function returns a text of 1 to 200 characters for a run, or undefined if the budget does not count it. It must return
   * the same for the same run.
   */
  readonly key: 'owner' | 'agent' | 'all' | ((run: BudgetRun) => string | undefined)
  /**
   * The most USD that one model call costs: each run reserves this amount before each of its calls. 0 reserves nothing. Default:
   * what the agent's `maxOutputTokens` allows, else the largest call of the agent so far, and a tenth of `maxCostUsd` before the
   * first one.
   */
  readonly reserveUsd?: number | undefined
  /** The same in tokens. */
  readonly reserveTokens?: number | undefined
  /**
   * What happens to agents of unknown cost, with `maxCostUsd`. `refuse`: such an agent is `invalid_options` when the handler is
   * made, or when it is first called. `ignore`: only the reported cost counts. Default: `refuse`.
   */
  readonly unpriced?: 'refuse' | 'ignore' | undefined
}

/** Options of the plugin. */
export interface BudgetsOptions {
  /**
   * Who may see all budgets at `GET /budgets/all`. Default: nobody in production, and elsewhere only requests from this machine.
   */
  readonly authenticate?: Authenticate | undefined
}

/** A budget with its defaults. */
export interface Budget extends Pick<BudgetOptions, 'windowMs' | 'key'> {
  readonly name: string
  readonly max: Amount
  /** The most that a call costs. `undefined` where the options do not state it. */
  readonly reserve: readonly [usd: number | undefined, tokens: number | undefined]
  /** Whether it refuses agents of unknown cost. */
  readonly needsPrices: boolean
}

const amount = v.pipe(
  v.number('must be a number'),
  v.check(value => value > 0 && value <= 1e6, 'must be more than 0, and 1,000,000 at the most'),
)

const reserve = (most: number) =>
  v.pipe(v.number('must be a number'), v.minValue(0, 'must be 0 or more'), v.maxValue(most))

const BudgetSchema = v.strictObject({
  name: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits or ._-'))),
  maxCostUsd: v.optional(amount),
  maxTokens: v.optional(v.pipe(count, v.maxValue(1e12, 'must be 1e12 at the most'))),
  windowMs: v.pipe(
    count,
    v.minValue(1000, 'must be 1000 or more'),
    v.maxValue(1e12, 'must be 1e12 at the most'),
  ),
  key: v.union(
    [v.picklist(['owner', 'agent', 'all']), func],
    "must be 'owner', 'agent', 'all' or a function",
  ),
  reserveUsd: v.optional(reserve(1e6)),
  reserveTokens: v.optional(reserve(1e12)),
  unpriced: v.optional(v.picklist(['refuse', 'ignore'], "must be 'refuse' or 'ignore'")),
})

const BudgetsSchema = v.pipe(
  v.array(BudgetSchema),
  v.minLength(1, 'must have one budget at the least'),
  v.maxLength(20, 'must have 20 budgets at the most'),
)

const OptionsSchema = v.strictObject({ authenticate: v.optional(func) })

/** Checks the options and fills in the defaults. Throws `invalid_options`. */
export function resolveBudgets(
  given: BudgetOptions | readonly BudgetOptions[],
  options: BudgetsOptions,
): readonly Budget[] {
  const isList = Array.isArray(given)
  checkOptions(NAME, isList ? BudgetsSchema : BudgetSchema, given)
  checkOptions(NAME, OptionsSchema, options)
  const budgets = (isList ? given : [given]).map(toBudget)
  const names = budgets.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw wrong(`two budgets are called \`${twice}\`: give each a \`name\` of its own`)
  return budgets
}

function toBudget(options: BudgetOptions): Budget {
  const { maxCostUsd, maxTokens, windowMs, key, unpriced } = options
  const name = options.name ?? (typeof key === 'string' ? key : 'custom')
  if (maxCostUsd === undefined && maxTokens === undefined)
    throw wrong(`\`${name}\` has no limit: give \`maxCostUsd\` or \`maxTokens\``)
  const { reserveUsd, reserveTokens } = options
  const reserve = amountOf(reserveUsd, reserveTokens)
  if ((reserveUsd ?? 0) > (maxCostUsd ?? 0) || (reserveTokens ?? 0) > (maxTokens ?? 0))
    throw wrong(`the reserve of \`${name}\` is more than its limit, so that no run could start`)
  return {
    ...{ name, windowMs, key },
    max: both(amountOf(maxCostUsd, maxTokens), NOTHING, max => max || Number.POSITIVE_INFINITY),
    reserve: [reserveUsd && reserve[0], reserveTokens && reserve[1]],
    needsPrices: maxCostUsd !== undefined && unpriced !== 'ignore',
  }
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `\`${NAME}\`: ${what}`)
}
