/**
 * The most that a model call costs, which is reserved before the call.
 *
 * @module
 */

import type { ServableAgent } from '../../agents/contract.ts'
import type { CostOf } from '../../runs/numbers.ts'
import type { Target } from '../../runs/target.ts'
import { type Amount, amountOf, both, NOTHING, sum } from './amount.ts'
import type { Budget } from './options.ts'

/** The largest values of calls: billionths of a USD, tokens, and tokens of a prompt. */
export type LargestCall = readonly [usd: number, tokens: number, prompt: number]

/** The most that a call costs. `undefined` where neither the options nor the agent state it. */
export type Stated = readonly [usd: number | undefined, tokens: number | undefined]

/** The next call of a run. */
export interface NextCall {
  /** The kind and name of the target, whose calls are similar. */
  readonly of: string
  readonly stated: Stated
  /** The tokens of a prompt that `stated` includes, and the price of each further one. */
  readonly prompt: number
  readonly perToken: Amount
  /** The largest call of the target that this process has seen, of any caller. */
  readonly seen?: LargestCall | undefined
}

/** A call without a stated cost and without earlier calls reserves this fraction of the limit. */
const UNKNOWN = 10

/** A run holds this fraction of the limit beyond its next call, if available. So it asks the store less often. */
const FURTHER = 100

/** The stated cost of a call with a prompt of so many tokens. */
export function nextCallOf(
  { kind, name, servable }: Pick<Target, 'kind' | 'name' | 'servable'>,
  { reserve }: Pick<Budget, 'reserve'>,
  prompt: number,
  costOf: CostOf,
): NextCall {
  const of = targetNameOf({ kind, name })
  const most = kind === 'agent' ? (servable as ServableAgent).maxOutputTokens : undefined
  if (most === undefined) return { of, stated: reserve, prompt, perToken: NOTHING }
  const amount = (promptTokens: number, completionTokens: number) => {
    const totalTokens = promptTokens + completionTokens
    const usd = costOf({ promptTokens, completionTokens, totalTokens }, servable.model)
    return { usd, all: amountOf(usd, totalTokens) }
  }
  const { usd, all } = amount(prompt, most)
  const million = amount(1e6, 0).all
  return {
    of,
    stated: [usd === undefined ? reserve[0] : all[0], all[1]],
    prompt,
    perToken: [million[0] / 1e6, 1],
  }
}

/** The name of the target, whose calls are similar. */
export function targetNameOf({ kind, name }: Pick<Target, 'kind' | 'name'>): string {
  return `${kind}:${name}`
}

/** What a run reserves for its next call. */
export function needOf(
  max: Amount,
  { stated, prompt, perToken }: NextCall,
  seen: LargestCall | undefined,
): Amount {
  const unknown = part(max, UNKNOWN)
  const of = (at: 0 | 1) => {
    const known = stated[at]
    // A call that took more than the limit may take all of it again. Otherwise no run could start any more.
    if (known === undefined) return seen === undefined ? unknown[at] : Math.min(seen[at], max[at])
    if (perToken[1] === 0) return known
    // The limit of an agent's answers leaves its prompts open: until one was seen, and if one was longer.
    if (seen === undefined) return Math.max(known, unknown[at])
    return known + Math.ceil(Math.max(0, seen[2] - prompt) * perToken[at])
  }
  return [of(0), of(1)]
}

/** What a run holds beyond its next call. */
export function furtherOf(max: Amount): Amount {
  return part(max, FURTHER)
}

/**
 * Whether a run that has used so much may make a call that needs so much. A call that needs nothing is allowed until everything
 * is used.
 */
export function fits(used: Amount, need: Amount, room: Amount): boolean {
  const after = sum(used, need)
  const isFree = (at: 0 | 1) => (need[at] > 0 ? after[at] <= room[at] : used[at] < room[at])
  return isFree(0) && isFree(1)
}

/** The larger one of each number. */
export function largest(a: LargestCall | undefined, b: LargestCall | undefined): LargestCall | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.max(a[2], b[2])]
}

function part(max: Amount, of: number): Amount {
  return both(max, NOTHING, most => (Number.isFinite(most) ? Math.ceil(most / of) : 0))
}
