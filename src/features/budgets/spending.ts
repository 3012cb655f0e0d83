/**
 * Holds what runs may spend before they start, looks at what they spend, and counts that when they have ended.
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
import type { AroundRun, RunMiddleware } from '../../runs/run-middleware.ts'
import type { Page } from '../../runs/stored/page.ts'
import type { WorkingRuns } from '../../runs/stored/working.ts'
import type { Target } from '../../runs/target.ts'
import { sha256 } from '../../web/digest.ts'
import { type Amount, NOTHING } from './amount.ts'
import { askOf, callsOf, largest as largestOf, type Seen } from './need.ts'
import { type Budget, type BudgetRun, NAME } from './options.ts'
import {
  type Entry,
  exceeded,
  type PayingRun,
  promptOf,
  Ticket,
  type TicketParts,
  unpriced,
} from './ticket.ts'
import {
  BUDGET_TRANSACTIONS,
  type BudgetCalls,
  type Call,
  type Held,
  type KeyBudget,
  type ListedKey,
  type Standing,
} from './transactions.ts'

/** Milliseconds between tries to count what a run used. After the last one what was held for it stays counted. */
const SETTLE_WAITS = [250, 1000, 5000, 15_000, 60_000]

/**
 * How long a window is kept after its end, beside the longest time of a run: milliseconds, and lengths of windows. A clock may be put
 * forward, and back again.
 */
const KEEP_MS = 24 * 60 * 60 * 1000
const KEEP_WINDOWS = 60

/** Most characters of a key. */
const MAX_KEY = 200

/** Most names of which a process knows the largest call. */
const MAX_SEEN = 1000

/** Where the list of all keys is. */
const LIST = NAME

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Who asks for a run that is known by its id alone. */
const NOBODY = 'anonymous'

/** The spending of a handler's runs. */
export class Spending {
  readonly calls: BudgetCalls
  readonly #budgets: readonly Budget[]
  readonly #settings: CoreSettings
  readonly #tickets: Map<string, Ticket>
  readonly #timeoutMs: number
  /** The largest calls that were seen here, by what was run. */
  readonly #seen = new Map<string, Seen>()
  /** The handler's, once it is made. */
  costOf: CostOf = ({ cost }) => cost
  working: Pick<WorkingRuns, 'keep'> | undefined
  readonly #parts: TicketParts = {
    costOf: (usage, model) => this.costOf(usage, model),
    grow: ({ at, startsAt }, id, used, need) => this.calls.grow(placeOf(at), at, startsAt, id, used, need),
    settle: (ticket, used, largest) => this.#settle(ticket, used, largest),
  }

  constructor(
    budgets: readonly Budget[],
    tickets: Map<string, Ticket>,
    { settings, keep }: { readonly settings: CoreSettings; readonly keep: CallTransactions },
  ) {
    this.#budgets = budgets
    this.#tickets = tickets
    this.#settings = settings
    this.#timeoutMs = settings.runs.timeoutMs
    this.calls = keep(NAME, BUDGET_TRANSACTIONS)
  }

  /** Throws `invalid_options` for what nobody knows the cost of, and would be refused for that. */
  check({ kind, name, scope, servable: { model } }: Target): void {
    const budget = this.#budgets.find(({ needsPrices }) => needsPrices)
    // What has members costs what they do. A tool that is called directly calls no model.
    if (budget === undefined || kind !== 'agent' || scope !== undefined) return
    const used = { promptTokens: 1, completionTokens: 1, totalTokens: 2 }
    if (nameOf(model) === undefined) throw unpriced(budget, `agent \`${name}\`, which names no \`model\`,`)
    if (this.costOf(used, model) === undefined)
      throw unpriced(budget, `the model \`${nameOf(model)}\` of agent \`${name}\``)
  }

  /** Holds something for a run, in each of its budgets or in none. Throws `budget_exceeded`. */
  readonly admit: Admit = async run => {
    const known = this.#tickets.get(run.id)
    // It is admitted already, by who asked for this.
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

  /** Looks at the events of a run. After each call of a model it asks whether the run may go on, before the run is asked again. */
  readonly around: RunMiddleware = (run, next) => {
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

  /** The budgets that count whatever a caller asks for. */
  ofCaller(owner: string | undefined, client: string): { readonly budget: Budget; readonly at: KeyBudget }[] {
    const target = { kind: 'agent', name: '' } as const
    const all = this.#budgets.filter(({ key }) => key === 'owner' || key === 'all')
    return this.of({ target, owner, client }).filter(({ budget }) => all.includes(budget))
  }

  /** A budget that there is, of a key. */
  named(name: string, key: string): { readonly budget: Budget; readonly at: KeyBudget } | undefined {
    const budget = this.#budgets.find(each => each.name === name)
    return budget && { budget, at: this.at(budget, key) }
  }

  at({ name, windowMs, max }: Budget, key: string): KeyBudget {
    const keepMs = this.#timeoutMs + Math.min(KEEP_MS, KEEP_WINDOWS * windowMs)
    return { name, key, windowMs, keepMs, max }
  }

  standing(at: KeyBudget): Promise<Standing> {
    return this.calls.standing(placeOf(at), at)
  }

  list(query: { readonly cursor?: string | undefined; readonly limit: number }): Promise<Page<ListedKey>> {
    return this.calls.list(LIST, query)
  }

  /** Of a run that was not admitted here: it goes on after it was cut off, or is started in a way of its own. */
  async #ticketOf({ target, input, options }: AroundRun): Promise<Ticket> {
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
  ): Promise<{ readonly entry: Entry; readonly used: Amount }[]> {
    const held: { readonly entry: Entry; readonly used: Amount }[] = []
    try {
      for (const { budget, at } of budgets) {
        const ask = {
          ...askOf(target, budget, promptOf(input), this.costOf),
          seen: this.#seen.get(callsOf(target)),
        }
        const answer = await this.calls.hold(placeOf(at), at, id, ask, seeks)
        if (answer.hold === undefined) throw exceeded(budget, answer)
        const { startsAt, seen } = answer
        held.push({ entry: { budget, at, startsAt, seen, held: answer.hold.held }, used: answer.hold.used })
        if (answer.isNew) await this.#enlist(at, answer)
      }
      return held
    } catch (error) {
      for (const { entry, used } of held) this.#keep(this.#settleOne(entry, id, used))
      throw error
    }
  }

  async #enlist({ name, key, keepMs }: KeyBudget, { resetAt }: Held): Promise<void> {
    try {
      const id = await sha256(JSON.stringify([name, key]))
      await this.calls.enlist(LIST, id, { name, key }, resetAt + keepMs)
    } catch (error) {
      // It counts as before, and only an administrator misses it.
      this.#tell(error)
    }
  }

  #settle({ entries, id, target }: Ticket, used: Amount, largest?: Seen): void {
    const call = largest && { of: callsOf(target), largest }
    if (call !== undefined) this.#note(call)
    for (const entry of entries) this.#keep(this.#settleOne(entry, id, used, call))
  }

  #note({ of, largest }: Call): void {
    const before = this.#seen.get(of)
    if (before === undefined && this.#seen.size >= MAX_SEEN) this.#seen.clear()
    this.#seen.set(of, largestOf(before, largest) ?? largest)
  }

  async #settleOne({ at, startsAt }: Entry, id: string, used: Amount, call?: Call): Promise<void> {
    for (const wait of [...SETTLE_WAITS, undefined]) {
      try {
        return await this.calls.settle(placeOf(at), at, startsAt, id, used, call)
      } catch (error) {
        if (wait === undefined) return this.#tell(error)
        await later(wait)
      }
    }
  }

  /** Nobody waits for it but a server that closes. */
  #keep(work: Promise<void>): void {
    const { state } = this.#settings
    this.working?.keep(work)
    if (state.kind === 'hosted') state.waitUntil(work)
  }

  #tell(error: unknown): void {
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

/** Each key is a place of its own. */
function placeOf({ name, key }: KeyBudget): { readonly name: string; readonly key: string } {
  return { name: LIST, key: JSON.stringify([name, key]) }
}
