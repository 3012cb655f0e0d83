/**
 * Budgets as a plugin: the entry `servable/budgets`.
 *
 * Begin with `spending.ts`, then `ticket.ts` (one run) and `transactions.ts` (the windows). May import `core` and what is below
 * it, and no other feature.
 *
 * @module
 */

import type { Builders, Description } from '../../core/builders.ts'
import { asPlugin } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { CoreSettings } from '../../core/options.ts'
import type { Plugin } from '../../core/plugin.ts'
import { joinPath } from '../../http/router.ts'
import { operatorsGate } from '../../http/security/gate.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { type BudgetOptions, type BudgetsOptions, NAME, resolveBudgets } from './options.ts'
import { allPath, budgetRoutes } from './routes.ts'
import { Spending } from './spending.ts'
import type { Ticket } from './ticket.ts'
import { BUDGET_TRANSACTIONS } from './transactions.ts'

export type { BudgetOptions, BudgetRun, BudgetsOptions } from './options.ts'
export type { BudgetState } from './routes.ts'

const REFUSAL =
  '`GET /budgets/all` answers only requests from this machine, and none from a web page: give `budgets` an `authenticate`'

/**
 * Limits the cost of runs in a time window, for all processes and isolates together. Above a limit a run is refused with 429
 * `budget_exceeded`, and a running run fails with it before its next model call. Shows callers the state of their budgets at `GET
 * /budgets`, and administrators that of all keys at `GET /budgets/all`. Throws `invalid_options`.
 *
 * @example
 * createHandler({ agents, pricing, plugins: [budgets({ maxCostUsd: 5, windowMs: 86_400_000, key: 'owner' })] })
 */
export function budgets(
  given: BudgetOptions | readonly BudgetOptions[],
  options: BudgetsOptions = {},
): Plugin {
  const all = resolveBudgets(given, options)
  const { authenticate } = options
  // By handler, and by run: several handlers may have the same plugin.
  const spendings = new WeakMap<CoreSettings, Spending>()
  const tickets = new Map<string, Ticket>()
  const of = (settings: CoreSettings) => spendings.get(settings) as Spending
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: BUDGET_TRANSACTIONS },
    admit(settings, callTransactions) {
      stateFor(NAME, settings.state)
      const spending = new Spending(all, tickets, { settings, callTransactions })
      spendings.set(settings, spending)
      return spending.admit
    },
    runMiddleware: settings => (run, next) => of(settings).middleware(run, next),
    observer: {
      start: ({ runId }) => ({
        end(event) {
          const ticket = tickets.get(runId)
          tickets.delete(runId)
          ticket?.end(event)
        },
      }),
    },
    mount(core) {
      const spending = of(core.settings)
      const { costOf } = core.runs
      if (costOf !== undefined) spending.costOf = costOf
      spending.working = core.working
      return {
        routes: budgetRoutes(core, spending, authenticate !== undefined),
        base: {
          path: allPath(core.prefix),
          guard: operatorsGate(authenticate, REFUSAL, core.settings.production, 'budgets'),
        },
        links: { budgets: joinPath(core.prefix, 'budgets') },
        describe: build => describeBudgets(build, authenticate !== undefined),
        begin() {
          for (const { name } of core.catalog.entries('agent'))
            spending.check(core.catalog.resolve('agent', name))
        },
      }
    },
  })
}

/** The OpenAPI description of the routes. */
function describeBudgets(build: Builders, hasToken: boolean): Description {
  const { at, operation, page, answer, json, parameter, ref, object, list, text } = build
  const { amount, count, moment, maybeText } = build
  const token = build.token(
    PART_SCHEMES.budgets,
    'Token of an administrator, for `authenticate` of `budgets`',
  )
  const all = page('admin', 'listBudgets', 'List where all budgets stand, by key', 'BudgetPage', [])
  return {
    paths: {
      [at('budgets')]: {
        get: operation('runs', 'getBudgets', 'Read where the budgets of the caller stand', {
          parameters: ['agent', 'team', 'workflow'].map(kind =>
            parameter('query', kind, `All budgets in which a run of this ${kind} counts`),
          ),
          responses: {
            200: answer('The budgets of the caller', json(object({ budgets: list(ref('BudgetState')) }))),
          },
          problems: [401, 404, 503],
        }),
      },
      [at('budgets/all')]: { get: { ...all, ...(hasToken && { security: token.security }) } },
    },
    ...(hasToken && { securitySchemes: token.securitySchemes }),
    schemas: {
      BudgetState: object({
        name: text,
        'key?': text,
        windowMs: count,
        startsAt: moment,
        resetAt: moment,
        'maxCostUsd?': amount,
        'spentUsd?': amount,
        'heldUsd?': amount,
        'remainingUsd?': amount,
        'maxTokens?': count,
        'spentTokens?': count,
        'heldTokens?': count,
        'remainingTokens?': count,
      }),
      BudgetPage: object({ budgets: list(ref('BudgetState')), nextCursor: maybeText }),
    },
  }
}
