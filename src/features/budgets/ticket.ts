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
import { askOf, fits, largest, needOf, type Seen } from './need.ts'
import type { Budget } from './options.ts'
import type { Held, KeyBudget } from './transactions.ts'

/** What is held for a run in one window of a budget. */
export interface Entry {
  readonly budget: Budget
  readonly at: KeyBudget
  readonly startsAt: number
  /** The largest call of the same that was seen when the run began. */
  readonly seen: Seen | undefined
  held: Amount
}

/** A run that is paid for. */
export type PayingRun = Pick<StartingRun, 'id' | 'target' | 'input'>

/** What tickets of a handler have in common. */
export interface TicketParts {
  readonly costOf: CostOf
  /** Asks the store to hold so much more than the run has used. */
  grow(entry: Entry, run: string, used: Amount, need: Amount): Promise<Held>
  /** Counts what the run used. `largest` is its largest call. */
  settle(ticket: Ticket, used: Amount, largest?: Seen): void
}

/** What a run holds in its budgets, and what it has used. */
export class Ticket {
  readonly id: string
  readonly entries: readonly Entry[]
  readonly target: Target
  readonly #by: TicketParts
  /** What it used before it was cut off. */
  readonly #before: Amount
  /** What its calls of models used, as far as they are told. */
  #used: Amount = NOTHING
  #largest: Seen | undefined
  /** Tokens of its next prompt, as far as they are known: a character counts as one. */
  #prompt: number
  /** Its last call was answered as one is that nothing comes after. */
  #hasAnswered = false
  /** It goes on from another run, whose part of the usage is counted. */
  #goesOn = false
  #isChecked = true
  /** Calls of its tools without an end. While there are some, an agent does not call its model again. */
  readonly #calling = new Set<string>()
  #unpriced: string | undefined

  constructor(run: PayingRun, entries: readonly Entry[], by: TicketParts, before: Amount = NOTHING) {
    this.id = run.id
    this.#prompt = promptOf(run.input)
    this.target = run.target
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
    if (event.type === 'tool_call_start' && event.agent === undefined) this.#calling.add(event.toolCall.id)
    if (event.type === 'tool_call_end') this.#calling.delete(event.toolCallId)
    if (event.type === 'tool_call_end') this.#prompt += charactersOf(event.result)
    if (event.type !== 'model_call' || event.usage === undefined) return
    // It has called a model all the same: then these calls say nothing.
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

  /** Whether the agent answers with this, and calls no model again: then its answer, which is paid for, is told. */
  #isLast({ finishReason = 'tool_calls', agent }: ModelCallEvent & EventFacts): boolean {
    const isOwn = this.target.kind === 'agent' && agent === undefined
    const isFirst = !this.#hasAnswered
    this.#hasAnswered = isOwn && finishReason !== 'tool_calls'
    return isFirst && this.#hasAnswered
  }

  /** Whether it is to be checked that the run may go on: it has called a model, and may call it again. */
  get isDue(): boolean {
    const isWaiting = this.target.kind === 'agent' && this.#calling.size > 0
    return !this.#isChecked && !isWaiting
  }

  /** Throws `budget_exceeded` where a budget is used up, and `invalid_options` for a model whose price nobody knows. */
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

  /** What its next call costs at most. */
  #needOf({ budget, seen }: Entry): Amount {
    const all = largest(seen, this.#largest)
    return needOf(budget.max, askOf(this.target, budget, this.#prompt, this.#by.costOf), all)
  }

  /** The run has ended, however that was: what it used is counted. */
  end(event: FinishEvent | ErrorEvent): void {
    const used = this.#usedBy(event)
    this.#by.settle(this, used, this.#largest ?? this.#whole(event, used))
  }

  /** What tells no calls is one. That a run used nothing says something only of an agent that names no model. */
  #whole(event: FinishEvent | ErrorEvent, used: Amount): Seen | undefined {
    if (event.type !== 'finish') return undefined
    const isFree = this.target.kind === 'agent' && this.#model === undefined && event.finishReason === 'stop'
    return used[1] > 0 || isFree ? [...used, event.usage?.promptTokens ?? 0] : undefined
  }

  /** What the run used in all. */
  #usedBy(event: FinishEvent | ErrorEvent): Amount {
    const live = sum(this.#before, this.#used)
    const usage = event.type === 'finish' ? event.usage : undefined
    // What it went on from is in its usage a second time.
    if (usage === undefined || (this.#goesOn && this.#largest !== undefined)) return live
    return larger(live, spentBy(usage, [this.#model], this.#by.costOf).amount)
  }

  get #model(): string | undefined {
    return nameOf(this.target.servable.model)
  }
}

/** What is held for a run, of all that is limited. */
function limited({ held, budget: { max } }: Entry): Amount {
  return both(held, max, (part, most) => (Number.isFinite(most) ? part : most))
}

function charactersOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (sizeOf(value) ?? 0) / 2
}

/** Tokens of a run's first prompt, as far as they are known: a character counts as one. */
export function promptOf(input: RunInput): number {
  return textOf(input).length
}

/** Seconds after which a run may fit that others left nothing for. */
const RESERVED_S = 5

/** What a client is told of a budget that has too little left for a run. */
export function exceeded({ name, max }: Budget, { left, resetAt, mayFit }: Held): ServableError {
  const [usd, tokens] = left
  const at = new Date(resetAt).toISOString()
  const told = {
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
    details: { budget: name, ...told, resetAt: at, retryAfter },
  })
}

/** What says that a budget cannot count something. */
export function unpriced({ name }: Budget, what: string): ServableError {
  const text = `\`budgets\`: \`${name}\` counts USD, and nobody knows what ${what} costs`
  const fix = "give its model a price in `pricing`, or say `unpriced: 'ignore'`"
  return new ServableError('invalid_options', `${text}: ${fix}`)
}
