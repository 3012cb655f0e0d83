/**
 * The budget of one run: what it may spend, and what it has spent so far.
 *
 * @module
 */

import type {
  ErrorEvent,
  EventFacts,
  FinishEvent,
  ModelCallEvent,
  RunEvent,
  RunInput,
  RunOptions,
} from '../../agents/contract.ts'
import { textOf } from '../../agents/input.ts'
import { nameOf } from '../../agents/usage.ts'
import { ServableError } from '../../base/errors.ts'
import type { StartingRun } from '../../runs/admit.ts'
import type { CostOf } from '../../runs/numbers.ts'
import type { Target } from '../../runs/target.ts'
import { sizeOf } from '../../stores/size.ts'
import { type Amount, both, larger, NOTHING, spentBy, sum, toUsd } from './amount.ts'
import { fits, type LargestCall, largest, needOf, nextCallOf } from './need.ts'
import type { Budget } from './options.ts'
import type { Held, KeyBudget } from './transactions.ts'

/** The amount held for a run in one window of a budget. */
export interface TicketEntry {
  readonly budget: Budget
  readonly at: KeyBudget
  readonly startsAt: number
  /** The largest call of the target when the run began. */
  readonly seen: LargestCall | undefined
  held: Amount
}

/** A run with a budget. */
export type PayingRun = Pick<StartingRun, 'id' | 'target' | 'input'>

/** The common parts of a handler's tickets. */
export interface TicketParts {
  readonly costOf: CostOf
  /** Asks the store to hold this much more than the run has used. */
  grow(entry: TicketEntry, run: string, used: Amount, need: Amount): Promise<Held>
  /** Counts the spending of the run. `largest` is its largest call. */
  settle(ticket: Ticket, used: Amount, largest?: LargestCall): void
}

/** The amounts that a run holds in its budgets, and its spending. */
export class Ticket {
  readonly id: string
  readonly entries: readonly TicketEntry[]
  readonly target: Target
  readonly #by: TicketParts
  /** Its spending before an interruption. */
  readonly #before: Amount
  /** The reported spending of its model calls. */
  #used: Amount = NOTHING
  #largest: LargestCall | undefined
  /** Known tokens of its next prompt. A character counts as one. */
  #prompt: number
  /** Whether its last call gave the final answer. */
  #hasAnswered = false
  /** Whether it continues another run, whose part of the usage is already counted. */
  #goesOn = false
  #isChecked = true
  /** Its open tool calls. While there are some, an agent does not call its model again. */
  readonly #calling = new Set<string>()
  #unpriced: string | undefined

  constructor(run: PayingRun, entries: readonly TicketEntry[], by: TicketParts, before: Amount = NOTHING) {
    this.id = run.id
    this.#prompt = promptOf(run.input)
    this.target = run.target
    this.entries = entries
    this.#by = by
    this.#before = before
  }

  /** Called when the run begins. */
  begin({ answers }: Pick<RunOptions, 'answers'>): void {
    this.#goesOn = answers !== undefined
  }

  /** Handles an event before it is passed on. */
  see(event: RunEvent): void {
    if (event.type === 'tool_call_start' && event.agent === undefined) this.#calling.add(event.toolCall.id)
    if (event.type === 'tool_call_end') this.#calling.delete(event.toolCallId)
    if (event.type === 'tool_call_end') this.#prompt += charactersOf(event.result)
    if (event.type !== 'model_call' || event.usage === undefined) return
    // The agent has called a model despite open tool calls, so these are no longer a sign.
    if (!this.#isChecked) this.#calling.clear()
    const { promptTokens, totalTokens } = event.usage
    const { amount, isPriced } = spentBy(event.usage, [event.model, this.#model], this.#by.costOf)
    this.#largest = largest(this.#largest, [...amount, promptTokens])
    this.#prompt = totalTokens
    this.#used = sum(this.#used, amount)
    const lacksPrice = !isPriced && this.entries.some(({ budget }) => budget.needsPrices)
    this.#isChecked = this.#isLast(event) && !lacksPrice
    if (!isPriced) this.#unpriced = event.model ?? this.#model ?? 'of no name'
  }

  /** Whether this call gives the final answer. The answer is paid for, so it is passed on. */
  #isLast({ finishReason = 'tool_calls', agent }: ModelCallEvent & EventFacts): boolean {
    const isOwn = this.target.kind === 'agent' && agent === undefined
    const isFirst = !this.#hasAnswered
    this.#hasAnswered = isOwn && finishReason !== 'tool_calls'
    return isFirst && this.#hasAnswered
  }

  /** Whether a check is due: the run has called a model, and may call it again. */
  get isDue(): boolean {
    const isWaiting = this.target.kind === 'agent' && this.#calling.size > 0
    return !this.#isChecked && !isWaiting
  }

  /** Throws `budget_exceeded` if a budget is used up, and `invalid_options` for a model of unknown price. */
  async check(): Promise<void> {
    this.#isChecked = true
    const used = sum(this.#before, this.#used)
    for (const entry of this.entries) {
      const { budget } = entry
      if (this.#unpriced !== undefined && budget.needsPrices)
        throw unpriced(budget, `model \`${this.#unpriced}\``)
      const need = this.#needOf(entry)
      if (fits(used, need, limited(entry))) continue
      const grown = await this.#by.grow(entry, this.id, used, need)
      if (grown.hold === undefined) throw exceeded(budget, grown)
      entry.held = grown.hold.held
    }
  }

  /** The most that its next call costs. */
  #needOf({ budget, seen }: TicketEntry): Amount {
    const all = largest(seen, this.#largest)
    return needOf(budget.max, nextCallOf(this.target, budget, this.#prompt, this.#by.costOf), all)
  }

  /** Called when the run has ended in any way. Counts its spending. */
  end(event: FinishEvent | ErrorEvent): void {
    const used = this.#usedBy(event)
    this.#by.settle(this, used, this.#largest ?? this.#whole(event, used))
  }

  /**
   * The usage of a run without reported calls counts as one call. A run without usage only counts for an agent that names no
   * model.
   */
  #whole(event: FinishEvent | ErrorEvent, used: Amount): LargestCall | undefined {
    if (event.type !== 'finish') return undefined
    const isFree = this.target.kind === 'agent' && this.#model === undefined && event.finishReason === 'stop'
    return used[1] > 0 || isFree ? [...used, event.usage?.promptTokens ?? 0] : undefined
  }

  /** The whole spending of the run. */
  #usedBy(event: FinishEvent | ErrorEvent): Amount {
    const live = sum(this.#before, this.#used)
    const usage = event.type === 'finish' ? event.usage : undefined
    // Its usage includes that of the run it continues, which is already counted.
    if (usage === undefined || (this.#goesOn && this.#largest !== undefined)) return live
    return larger(live, spentBy(usage, [this.#model], this.#by.costOf).amount)
  }

  get #model(): string | undefined {
    return nameOf(this.target.servable.model)
  }
}

/** The held amount, without values that are not limited. */
function limited({ held, budget: { max } }: TicketEntry): Amount {
  return both(held, max, (part, most) => (Number.isFinite(most) ? part : most))
}

function charactersOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (sizeOf(value) ?? 0) / 2
}

/** Known tokens of a run's first prompt. A character counts as one. */
export function promptOf(input: RunInput): number {
  return textOf(input).length
}

/** Seconds after which a run may fit for which the holds of other runs leave no room. */
const RESERVED_S = 5

/** The error for a budget that has too little left for a run. */
export function exceeded({ name, max }: Budget, { left, resetAt, mayFit }: Held): ServableError {
  const [usd, tokens] = left
  const at = new Date(resetAt).toISOString()
  const amounts = {
    ...(Number.isFinite(max[0]) && { remainingUsd: toUsd(usd) }),
    ...(Number.isFinite(max[1]) && { remainingTokens: tokens }),
  }
  const anew = Math.max(1, Math.ceil((resetAt - Date.now()) / 1000))
  const retryAfter = mayFit ? Math.min(RESERVED_S, anew) : anew
  const isUsedUp = Math.min(usd, tokens) <= 0
  const text = mayFit
    ? `What is left of the budget \`${name}\` is reserved for runs at work. Try again in ${retryAfter} s`
    : `The budget \`${name}\` ${isUsedUp ? 'is used up' : 'has too little left'}. It begins anew in ${anew} s`
  return new ServableError('budget_exceeded', text, {
    details: { budget: name, ...amounts, resetAt: at, retryAfter },
  })
}

/** The error for a model or agent of unknown cost. */
export function unpriced({ name }: Budget, what: string): ServableError {
  const text = `\`budgets\`: \`${name}\` counts USD, and nobody knows what ${what} costs`
  const fix = "give its model a price in `pricing`, or say `unpriced: 'ignore'`"
  return new ServableError('invalid_options', `${text}: ${fix}`)
}
