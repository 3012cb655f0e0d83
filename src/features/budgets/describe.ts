import type { Builders, BuiltInDescription } from '../../core/builders.ts'
import { PART_SCHEMES } from '../../http/security/part-schemes.ts'

/** The OpenAPI description of the routes. */
export function describeBudgets(build: Builders, hasToken: boolean): BuiltInDescription {
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
