/**
 * What one run may spend, and what it has spent so far.
 *
 * @module
 */

import type {
  ErrorEvent,
  EventFacts,
  FinishEvent,
  ModelCallEvent,
  RunEvent,
  RunOptions,
} from '../agents/contract.ts'
import { nameOf } from '../agents/usage.ts'
import { ServableError } from '../errors.ts'
import type { CostOf } from '../runs/numbers.ts'
import type { Target } from '../runs/target.ts'
import { type Amount, isBelow, larger, NOTHING, spentBy, sum, toUsd } from './amount.ts'
import type { Budget } from './options.ts'
import type { Held, KeyBudget, Standing } from './transactions.ts'

/** What is held for a run in one window of a budget. */
export interface Entry {
  readonly budget: Budget
  readonly at: KeyBudget
  readonly startsAt: number
  held: Amount
}

/** What tickets of a handler have in common. */
export interface TicketParts {
  readonly costOf: CostOf
  /** Asks the store to hold more. */
  grow(entry: Entry, run: string, used: Amount): Promise<Held>
  /** Counts what the run used. */
  settle(ticket: Ticket, used: Amount): void
}

/** What a run holds in its budgets, and what it has used. */
export class Ticket {
  readonly id: string
  readonly entries: readonly Entry[]
  readonly #target: Target
  readonly #by: TicketParts
  /** What it used before it was cut off. */
  readonly #before: Amount
  /** What its calls of models used, as far as they are told. */
  #used: Amount = NOTHING
  #hasCalls = false
  /** Its last call was answered as one is that nothing comes after. */
  #hasAnswered = false
  /** It goes on from another run, whose part of the usage is counted. */
  #goesOn = false
  #isChecked = true
  #unpriced: string | undefined

  constructor(
    run: { readonly id: string; readonly target: Target },
    entries: readonly Entry[],
    by: TicketParts,
    before: Amount = NOTHING,
  ) {
    this.id = run.id
    this.#target = run.target
    this.entries = entries
    this.#by = by
    this.#before = before
  }

  /** The run begins. */
  begin({ answers }: Pick<RunOptions, 'answers'>): void {
    this.#goesOn = answers !== undefined
  }

  /** Sees an event before anyone else does. */
  see(event: RunEvent): void {
    if (event.type !== 'model_call' || event.usage === undefined) return
    const { amount, isPriced } = spentBy(event.usage, [event.model, this.#model], this.#by.costOf)
    this.#hasCalls = true
    this.#used = sum(this.#used, amount)
    this.#isChecked = this.#isLast(event) && isPriced
    if (!isPriced) this.#unpriced = event.model ?? this.#model ?? 'of no name'
  }

  /** Whether the agent answers with this, and calls no model again: then its answer, which is paid for, is told. */
  #isLast({ finishReason = 'tool_calls', agent }: ModelCallEvent & EventFacts): boolean {
    const isOwn = this.#target.kind === 'agent' && agent === undefined
    const isFirst = !this.#hasAnswered
    this.#hasAnswered = isOwn && finishReason !== 'tool_calls'
    return isFirst && this.#hasAnswered
  }

  /** Whether it is to be checked that the run may go on: it has called a model, and may call it again. */
  get isDue(): boolean {
    return !this.#isChecked
  }

  /** Throws `budget_exceeded` where a budget is used up, and `invalid_options` for a model whose price nobody knows. */
  async check(): Promise<void> {
    this.#isChecked = true
    const used = sum(this.#before, this.#used)
    for (const entry of this.entries) {
      const { budget } = entry
      if (this.#unpriced !== undefined && budget.needsPrices)
        throw unpriced(budget, `model \`${this.#unpriced}\``)
      if (isWithin(used, entry)) continue
      const grown = await this.#by.grow(entry, this.id, used)
      if (grown.hold === undefined) throw exceeded(budget, grown)
      entry.held = grown.hold.held
    }
  }

  /** The run has ended, however that was: what it used is counted. */
  end(event: FinishEvent | ErrorEvent): void {
    this.#by.settle(this, this.#usedBy(event))
  }

  /** What the run used in all. */
  #usedBy(event: FinishEvent | ErrorEvent): Amount {
    const live = sum(this.#before, this.#used)
    const usage = event.type === 'finish' ? event.usage : undefined
    // What it went on from is in its usage a second time.
    if (usage === undefined || (this.#goesOn && this.#hasCalls)) return live
    return larger(live, spentBy(usage, [this.#model], this.#by.costOf).amount)
  }

  get #model(): string | undefined {
    return nameOf(this.#target.servable.model)
  }
}

/** Whether a run has something left of what is held for it, of all that is limited. */
function isWithin(used: Amount, { held, budget: { max } }: Entry): boolean {
  return isBelow(used, [limited(held[0], max[0]), limited(held[1], max[1])])
}

function limited(held: number, max: number): number {
  return Number.isFinite(max) ? held : max
}

/** What a client is told of a budget that is used up. */
export function exceeded({ name, max }: Budget, { left, resetAt }: Standing): ServableError {
  const [usd, tokens] = left
  const at = new Date(resetAt).toISOString()
  const told = {
    ...(Number.isFinite(max[0]) && { remainingUsd: toUsd(usd) }),
    ...(Number.isFinite(max[1]) && { remainingTokens: tokens }),
  }
  const retryAfter = Math.max(1, Math.ceil((resetAt - Date.now()) / 1000))
  const text = `The budget \`${name}\` is used up. It begins anew in ${retryAfter} s`
  return new ServableError('budget_exceeded', text, {
    details: { budget: name, ...told, resetAt: at, retryAfter },
  })
}

/** What says that a budget cannot count something. */
export function unpriced({ name }: Budget, what: string): ServableError {
  const text = `\`budgets\`: \`${name}\` counts USD, and nobody knows what ${what} costs`
  const fix = "give its model a price in `pricing`, or say `unpriced: 'ignore'`"
  return new ServableError('invalid_options', `${text}: ${fix}`)
}
