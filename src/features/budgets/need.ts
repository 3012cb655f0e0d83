/**
 * What a call of a model costs at most: it is reserved before the call.
 *
 * @module
 */

import type { ServableAgent } from '../../agents/contract.ts'
import type { CostOf } from '../../runs/numbers.ts'
import type { Target } from '../../runs/target.ts'
import { type Amount, amountOf, both, NOTHING, sum } from './amount.ts'
import type { Budget } from './options.ts'

/** The largest of each number that calls had: billionths of a USD, tokens, and tokens of a prompt. */
export type Seen = readonly [usd: number, tokens: number, prompt: number]

/** What a call costs at most, of each number that somebody says. */
export type Stated = readonly [usd: number | undefined, tokens: number | undefined]

/** What a run asks for: its next call. */
export interface Ask {
  /** What is run, as its kind and name: its calls are alike. */
  readonly of: string
  readonly stated: Stated
  /** Tokens of a prompt in what is stated, and what each further one costs. */
  readonly prompt: number
  readonly perToken: Amount
  /** The largest call that this process has seen of it, whoever ran it. */
  readonly seen?: Seen | undefined
}

/** What a call of which nobody says anything, and of which none was seen, may cost: this part of the limit. */
const UNKNOWN = 10

/** What a run holds beyond its next call, as far as that is left: this part of the limit. So it asks less often. */
const FURTHER = 100

/** What an agent or its budget says of a call with a prompt of so many tokens. */
export function askOf(
  { kind, name, servable }: Pick<Target, 'kind' | 'name' | 'servable'>,
  { reserve }: Pick<Budget, 'reserve'>,
  prompt: number,
  costOf: CostOf,
): Ask {
  const of = callsOf({ kind, name })
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

/** The name of what is run: its calls are alike. */
export function callsOf({ kind, name }: Pick<Target, 'kind' | 'name'>): string {
  return `${kind}:${name}`
}

/** What a run reserves for its next call. */
export function needOf(max: Amount, { stated, prompt, perToken }: Ask, seen: Seen | undefined): Amount {
  const unknown = part(max, UNKNOWN)
  const of = (at: 0 | 1) => {
    const known = stated[at]
    // One that took more than all of it may take all of it again: else nobody would be let in any more.
    if (known === undefined) return seen === undefined ? unknown[at] : Math.min(seen[at], max[at])
    if (perToken[1] === 0) return known
    // What an agent says of its answers leaves its prompts open: until one was seen, and where one was longer.
    if (seen === undefined) return Math.max(known, unknown[at])
    return known + Math.ceil(Math.max(0, seen[2] - prompt) * perToken[at])
  }
  return [of(0), of(1)]
}

/** What a run holds beyond its next call. */
export function furtherOf(max: Amount): Amount {
  return part(max, FURTHER)
}

/** Whether a run that has used so much may make a call that needs so much. A call that needs nothing is made until all is used. */
export function fits(used: Amount, need: Amount, room: Amount): boolean {
  const after = sum(used, need)
  const isFree = (at: 0 | 1) => (need[at] > 0 ? after[at] <= room[at] : used[at] < room[at])
  return isFree(0) && isFree(1)
}

/** The larger one of each number. */
export function largest(a: Seen | undefined, b: Seen | undefined): Seen | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.max(a[2], b[2])]
}

function part(max: Amount, of: number): Amount {
  return both(max, NOTHING, most => (Number.isFinite(most) ? Math.ceil(most / of) : 0))
}
