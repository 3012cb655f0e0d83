/**
 * `GET /budgets`: the state of the caller's budgets. `GET /budgets/all`: the state of all keys, for an administrator.
 *
 * @module
 */

import * as v from 'valibot'
import type { Kind } from '../../agents/run-types.ts'
import { paging, validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { createStoredClientOf } from '../../http/security/client-of.ts'
import { jsonReply } from '../../web/reply.ts'
import { type Amount, toUsd } from './amount.ts'
import type { Budget } from './options.ts'
import type { Spending } from './spending.ts'
import type { KeyBudget, WindowState } from './transactions.ts'

/** The state of a budget in its window. USD and tokens are present if they are limited. */
export interface BudgetState {
  readonly name: string
  /** The key of the budget. Only for administrators. */
  readonly key?: string
  readonly windowMs: number
  /** The window's start and end, as ISO 8601. */
  readonly startsAt: string
  readonly resetAt: string
  readonly maxCostUsd?: number
  /** The amount that ended runs have spent. */
  readonly spentUsd?: number
  /** The amount held for running runs, and for runs whose process has crashed. */
  readonly heldUsd?: number
  readonly remainingUsd?: number
  readonly maxTokens?: number
  readonly spentTokens?: number
  readonly heldTokens?: number
  readonly remainingTokens?: number
}

const name = v.optional(v.string())
const OwnSchema = v.object({ agent: name, team: name, workflow: name })

const PageSchema = v.object({
  ...paging,
})

const NO_STORE = { headers: { 'cache-control': 'no-store' } }

/** Keys to read at the same time. Each has an address of its own. */
const AT_ONCE = 10

/** The path of the route for administrators. */
export function allPath(prefix: string): string {
  return joinPath(prefix, 'budgets/all')
}

/** Makes the routes. */
export function budgetRoutes(
  { prefix, catalog }: Pick<Core, 'prefix' | 'catalog'>,
  spending: Spending,
  decidesItself: boolean,
): Route[] {
  const storedClientOf = createStoredClientOf()
  return [
    {
      method: 'GET',
      path: joinPath(prefix, 'budgets'),
      part: 'budgets',
      async endpoint(request, state) {
        const query = validate(OwnSchema, Object.fromEntries(queryOf(request.url)), 'invalid_query', 'query')
        const owner = state.owner ?? undefined
        const client = await storedClientOf(state)
        const asked = (Object.entries(query) as [Kind, string | undefined][]).find(([, given]) => given)
        const target = asked?.[1] === undefined ? undefined : catalog.resolve(asked[0], asked[1])
        const found = target ? spending.of({ target, owner, client }) : spending.ofCaller(owner, client)
        const states = found.map(async each => stateOf(each.budget, await spending.standing(each.at)))
        return jsonReply({ budgets: await Promise.all(states) }, NO_STORE)
      },
    },
    {
      method: 'GET',
      path: allPath(prefix),
      part: 'budgets',
      decidesItself,
      async endpoint(request) {
        const query = validate(PageSchema, Object.fromEntries(queryOf(request.url)), 'invalid_query', 'query')
        const { values, next = null } = await spending.list(query)
        const budgets: BudgetState[] = []
        for (let from = 0; from < values.length; from += AT_ONCE) {
          const some = values.slice(from, from + AT_ONCE)
          budgets.push(...(await Promise.all(some.map(each => listed(spending, each)))).flat())
        }
        return jsonReply({ budgets, nextCursor: next }, NO_STORE)
      },
    },
  ]
}

/** The state of a key. Nothing for a budget that was removed. */
async function listed(
  spending: Spending,
  { name, key }: Pick<KeyBudget, 'name' | 'key'>,
): Promise<BudgetState[]> {
  const found = spending.named(name, key)
  return found ? [{ ...stateOf(found.budget, await spending.standing(found.at)), key }] : []
}

function stateOf({ name, windowMs, max }: Budget, standing: WindowState): BudgetState {
  const { startsAt, resetAt, spent, held, left } = standing
  const of = (at: 0 | 1, amount: Amount) => (at === 0 ? toUsd(amount[0]) : amount[1])
  return {
    ...{
      name,
      windowMs,
      startsAt: new Date(startsAt).toISOString(),
      resetAt: new Date(resetAt).toISOString(),
    },
    ...(Number.isFinite(max[0]) && {
      ...{ maxCostUsd: of(0, max), spentUsd: of(0, spent) },
      ...{ heldUsd: of(0, held), remainingUsd: of(0, left) },
    }),
    ...(Number.isFinite(max[1]) && {
      ...{ maxTokens: of(1, max), spentTokens: of(1, spent) },
      ...{ heldTokens: of(1, held), remainingTokens: of(1, left) },
    }),
  }
}
