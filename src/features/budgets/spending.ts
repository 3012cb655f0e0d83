/**
 * Reserves amounts before runs start, tracks what they spend, and counts it when they have ended.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'
import { nameOf } from '../../agents/usage.ts'
import { later } from '../../base/wake.ts'
import type { CoreSettings } from '../../core/options.ts'
import type { CallTransactions } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Admit } from '../../runs/admit.ts'
import type { CostOf } from '../../runs/numbers.ts'
import type { MiddlewareRun, RunMiddleware } from '../../runs/run-middleware.ts'
import type { Page } from '../../runs/stored/page.ts'
import type { WorkingRuns } from '../../runs/stored/working.ts'
import type { Target } from '../../runs/target.ts'
import { sha256 } from '../../web/digest.ts'
import { type Amount, NOTHING } from './amount.ts'
import { type LargestCall, largest as largestOf, nextCallOf, targetNameOf } from './need.ts'
import { type Budget, type BudgetRun, NAME } from './options.ts'
import {
  exceeded,
  type PayingRun,
  promptOf,
  Ticket,
  type TicketEntry,
  type TicketParts,
  unpriced,
} from './ticket.ts'
import {
  BUDGET_TRANSACTIONS,
  type BudgetCalls,
  type CountedCall,
  type Held,
  type KeyBudget,
  type ListedKey,
  type WindowState,
} from './transactions.ts'

/** Milliseconds between tries to count the spending of a run. After the last one its held amount stays counted. */
const SETTLE_WAITS = [250, 1000, 5000, 15_000, 60_000]

/**
 * How long a window is kept after its end, in addition to the longest time of a run: milliseconds, and lengths of windows. It
 * tolerates a clock that is set forward and back again.
 */
const KEEP_MS = 24 * 60 * 60 * 1000
const KEEP_WINDOWS = 60

/** Most characters of a key. */
const MAX_KEY = 200

/** Most targets whose largest call a process remembers. */
const MAX_SEEN = 1000

/** The address of the list of all keys. */
const LIST = NAME

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** The client of a run of which only the id is known. */
const NOBODY = 'anonymous'

/** Counts the spending of a handler's runs. */
export class Spending {
  readonly calls: BudgetCalls
  readonly #budgets: readonly Budget[]
  readonly #settings: CoreSettings
  readonly #tickets: Map<string, Ticket>
  readonly #timeoutMs: number
  /** The largest calls seen here, by target. */
  readonly #seen = new Map<string, LargestCall>()
  /** The handler's `costOf`, set once the handler is made. */
  costOf: CostOf = ({ cost }) => cost
  working: Pick<WorkingRuns, 'keep'> | undefined
  readonly #parts: TicketParts = {
    costOf: (usage, model) => this.costOf(usage, model),
    grow: ({ at, startsAt }, id, used, need) => this.calls.grow(addressOf(at), at, startsAt, id, used, need),
    settle: (ticket, used, largest) => this.#settle(ticket, used, largest),
  }

  constructor(
    budgets: readonly Budget[],
    tickets: Map<string, Ticket>,
    {
      settings,
      callTransactions,
    }: { readonly settings: CoreSettings; readonly callTransactions: CallTransactions },
  ) {
    this.#budgets = budgets
    this.#tickets = tickets
    this.#settings = settings
    this.#timeoutMs = settings.runs.timeoutMs
    this.calls = callTransactions(NAME, BUDGET_TRANSACTIONS)
  }

  /** Throws `invalid_options` for a target of unknown cost, if a budget refuses that. */
  check({ kind, name, scope, servable: { model } }: Target): void {
    const budget = this.#budgets.find(({ needsPrices }) => needsPrices)
    // A target with members costs what they cost. A tool that is called directly calls no model.
    if (budget === undefined || kind !== 'agent' || scope !== undefined) return
    const used = { promptTokens: 1, completionTokens: 1, totalTokens: 2 }
    if (nameOf(model) === undefined) throw unpriced(budget, `agent \`${name}\`, which names no \`model\`,`)
    if (this.costOf(used, model) === undefined)
      throw unpriced(budget, `the model \`${nameOf(model)}\` of agent \`${name}\``)
  }

  /** Holds an amount for a run, in each of its budgets or in none. Throws `budget_exceeded`. */
  readonly admit: Admit = async run => {
    const known = this.#tickets.get(run.id)
    // Another caller of this method has admitted it already.
    if (known !== undefined) return async () => {}
    this.check(run.target)
    const { target, options, client, id } = run
    const entries = await this.#holdAll(run, this.of({ target, owner: options.identity, client }), false)
    const ticket = new Ticket(
      run,
      entries.map(({ entry }) => entry),
      this.#parts,
    )
    this.#tickets.set(id, ticket)
    return async () => {
      this.#tickets.delete(id)
      this.#settle(ticket, NOTHING)
    }
  }

  /** Tracks the events of a run. After each model call it checks the budgets before it reads the next event. */
  readonly middleware: RunMiddleware = (run, next) => {
    let ticket: Ticket | undefined
    let events: AsyncIterator<RunEvent> | undefined
    const begin = async (): Promise<AsyncIterator<RunEvent>> => {
      ticket = await this.#ticketOf(run)
      ticket.begin(run.options)
      return next(run)
    }
    return {
      next: async () => {
        if (ticket?.isDue) await ticket.check()
        events ??= await begin()
        const item = await events.next()
        if (!item.done) ticket?.see(item.value)
        return item
      },
      return: async () => (await events?.return?.()) ?? END,
    }
  }

  /** The budgets in which a run counts. */
  of({
    target: { kind, name },
    owner,
    client,
  }: {
    readonly target: Pick<Target, 'kind' | 'name'>
    readonly owner: string | undefined
    readonly client: string
  }): { readonly budget: Budget; readonly at: KeyBudget }[] {
    const payer = owner === undefined ? client : `owner:${owner}`
    const run = { kind, name, owner: owner ?? null, client: payer }
    return this.#budgets.flatMap(budget => {
      const key = keyOf(budget, run)
      return key === undefined ? [] : [{ budget, at: this.at(budget, key) }]
    })
  }

  /** The budgets of a caller that do not depend on the target. */
  ofCaller(owner: string | undefined, client: string): { readonly budget: Budget; readonly at: KeyBudget }[] {
    const target = { kind: 'agent', name: '' } as const
    const all = this.#budgets.filter(({ key }) => key === 'owner' || key === 'all')
    return this.of({ target, owner, client }).filter(({ budget }) => all.includes(budget))
  }

  /** The budget of this name and key. */
  named(name: string, key: string): { readonly budget: Budget; readonly at: KeyBudget } | undefined {
    const budget = this.#budgets.find(each => each.name === name)
    return budget && { budget, at: this.at(budget, key) }
  }

  at({ name, windowMs, max }: Budget, key: string): KeyBudget {
    const keepMs = this.#timeoutMs + Math.min(KEEP_MS, KEEP_WINDOWS * windowMs)
    return { name, key, windowMs, keepMs, max }
  }

  standing(at: KeyBudget): Promise<WindowState> {
    return this.calls.standing(addressOf(at), at)
  }

  list(query: { readonly cursor?: string | undefined; readonly limit: number }): Promise<Page<ListedKey>> {
    return this.calls.list(LIST, query)
  }

  /** The ticket of a run that was not admitted here, for example one that resumes after an interruption. */
  async #ticketOf({ target, input, options }: MiddlewareRun): Promise<Ticket> {
    const { runId: id = '', identity, signal } = options
    const known = this.#tickets.get(id)
    if (known !== undefined) return known
    this.check(target)
    const run = { id, target, input }
    const held = await this.#holdAll(run, this.of({ target, owner: identity, client: NOBODY }), true)
    const before = held[0]?.used ?? NOTHING
    const ticket = new Ticket(
      run,
      held.map(({ entry }) => entry),
      this.#parts,
      before,
    )
    if (signal?.aborted) this.#settle(ticket, before)
    else this.#tickets.set(id, ticket)
    return ticket
  }

  async #holdAll(
    { id, target, input }: PayingRun,
    budgets: readonly { readonly budget: Budget; readonly at: KeyBudget }[],
    seeks: boolean,
  ): Promise<{ readonly entry: TicketEntry; readonly used: Amount }[]> {
    const held: { readonly entry: TicketEntry; readonly used: Amount }[] = []
    try {
      for (const { budget, at } of budgets) {
        const ask = {
          ...nextCallOf(target, budget, promptOf(input), this.costOf),
          seen: this.#seen.get(targetNameOf(target)),
        }
        const answer = await this.calls.hold(addressOf(at), at, id, ask, seeks)
        if (answer.hold === undefined) throw exceeded(budget, answer)
        const { startsAt, seen } = answer
        held.push({ entry: { budget, at, startsAt, seen, held: answer.hold.held }, used: answer.hold.used })
        if (answer.isNew) await this.#enlist(at, answer)
      }
      return held
    } catch (error) {
      for (const { entry, used } of held) this.#keepAlive(this.#settleOne(entry, id, used))
      throw error
    }
  }

  async #enlist({ name, key, keepMs }: KeyBudget, { resetAt }: Held): Promise<void> {
    try {
      const id = await sha256(JSON.stringify([name, key]))
      await this.calls.enlist(LIST, id, { name, key }, resetAt + keepMs)
    } catch (error) {
      // It stays counted, and is only missing in the administrator's list.
      this.#logError(error)
    }
  }

  #settle({ entries, id, target }: Ticket, used: Amount, largest?: LargestCall): void {
    const call = largest && { of: targetNameOf(target), largest }
    if (call !== undefined) this.#note(call)
    for (const entry of entries) this.#keepAlive(this.#settleOne(entry, id, used, call))
  }

  #note({ of, largest }: CountedCall): void {
    const before = this.#seen.get(of)
    if (before === undefined && this.#seen.size >= MAX_SEEN) this.#seen.clear()
    this.#seen.set(of, largestOf(before, largest) ?? largest)
  }

  async #settleOne(
    { at, startsAt }: TicketEntry,
    id: string,
    used: Amount,
    call?: CountedCall,
  ): Promise<void> {
    for (const wait of [...SETTLE_WAITS, undefined]) {
      try {
        return await this.calls.settle(addressOf(at), at, startsAt, id, used, call)
      } catch (error) {
        if (wait === undefined) return this.#logError(error)
        await later(wait)
      }
    }
  }

  /** Only a closing server waits for it. */
  #keepAlive(work: Promise<void>): void {
    const { state } = this.#settings
    this.working?.keep(work)
    if (state.kind === 'hosted') state.waitUntil(work)
  }

  #logError(error: unknown): void {
    logThrown(this.#settings.log, { event: 'budget.failed' }, error)
  }
}

function keyOf({ key, name }: Budget, run: BudgetRun): string | undefined {
  if (key === 'all') return 'all'
  if (key === 'agent') return `${run.kind}:${run.name}`
  if (key === 'owner') return run.client
  const given: unknown = key(run)
  if (given === undefined) return undefined
  if (typeof given === 'string' && given.length > 0 && given.length <= MAX_KEY) return given
  throw new TypeError(
    `\`budgets\`: \`key\` of \`${name}\` must give 1 to ${MAX_KEY} characters, or undefined`,
  )
}

/** The address of a key's windows. */
function addressOf({ name, key }: KeyBudget): { readonly name: string; readonly key: string } {
  return { name: LIST, key: JSON.stringify([name, key]) }
}
