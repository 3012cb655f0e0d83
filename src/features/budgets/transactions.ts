/**
 * The windows of budgets, as pure transactions. Each key of a budget has one document for each window: what was spent, and what
 * is held for the runs that began in it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Calls, Transactions } from '../../core/transaction-calls.ts'
import { type Page, readPage } from '../../runs/stored/page.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { type Amount, larger, minus, NOTHING, smaller, sum } from './amount.ts'
import { type Ask, fits, furtherOf, largest, needOf, type Seen } from './need.ts'

/** The collections: of windows, and of the keys that have one, for lists. */
export const WINDOWS = 'budget'
const KEYS = 'budget-key'

/** Most runs for which a window holds something. */
const MAX_HOLDS = 1000

/** Most names of which a window keeps the largest call. */
const MAX_SEEN = 100

/** Windows in which a run is looked for. */
const MAX_WINDOWS = 100

/** A budget of one key. */
export interface KeyBudget {
  readonly name: string
  readonly key: string
  readonly windowMs: number
  /** Milliseconds for which a window is kept after its end: longer than any run takes. */
  readonly keepMs: number
  /** Infinite where there is no limit. */
  readonly max: Amount
}

/** What is held for a run: what it may spend, since when, and what it is known to have used. */
interface Hold {
  readonly held: Amount
  readonly used: Amount
  readonly at: number
}

interface Window {
  readonly spent: Amount
  readonly holds: Readonly<Record<string, Hold>>
  /** The largest calls that were counted in it, by what was run. */
  readonly calls?: Readonly<Record<string, Seen>>
}

/** The largest call of what is run. */
export interface Call {
  readonly of: string
  readonly largest: Seen
}

/** Where a key stands in a window. */
export interface Standing {
  /** The window's start and end, in milliseconds since 1970. */
  readonly startsAt: number
  readonly resetAt: number
  readonly spent: Amount
  /** For runs at work, and for runs whose process died. */
  readonly held: Amount
  readonly left: Amount
}

/** What became of a question: where the key stands, and what is held for the run; undefined where it was refused. */
export interface Held extends Standing {
  readonly hold: Hold | undefined
  /** The largest call that was seen of what is run. */
  readonly seen?: Seen | undefined
  /** It was refused for what is held for others alone. */
  readonly mayFit?: boolean
  /** Nothing was kept of the window before. */
  readonly isNew?: true
}

/** A key that has a window. */
export type ListedKey = Pick<KeyBudget, 'name' | 'key'>

/** The transactions of budgets. */
export interface BudgetTransactions extends Transactions {
  readonly reads: {
    standing(tx: Reader, budget: KeyBudget): Standing
    list(tx: Reader, query: { readonly cursor?: string | undefined; readonly limit: number }): Page<ListedKey>
  }
  readonly writes: {
    /** Holds a call for a run that begins; what is held for it stays. With `seeks` it may have begun in an earlier window. */
    hold(tx: Transaction, budget: KeyBudget, run: string, ask: Ask, seeks?: boolean): Held
    /** Holds `need` more for a run than it has used, and some more as far as that is left. */
    grow(tx: Transaction, budget: KeyBudget, startsAt: number, run: string, used: Amount, need: Amount): Held
    /** Counts what a run used, in place of what was held for it. Does nothing for a run that was settled. */
    settle(tx: Transaction, budget: KeyBudget, startsAt: number, run: string, used: Amount, call?: Call): void
    /** Lists a key until its window is gone. Its id is one that a cursor can hold. */
    enlist(tx: Transaction, id: string, key: ListedKey, expiresAt: number): void
  }
}

/** See {@link BudgetTransactions}. */
export const BUDGET_TRANSACTIONS: BudgetTransactions = {
  expiring: [WINDOWS, KEYS],
  reads: {
    standing: (tx, budget) => standingOf(budget, ...current(tx, budget)),
    list: (tx, query) => readPage<ListedKey>(tx, KEYS, { partition: '' }, query),
  },
  writes: { hold, grow, settle, enlist },
}

/** Calls of them. */
export type BudgetCalls = Calls<BudgetTransactions>

function hold(tx: Transaction, budget: KeyBudget, run: string, ask: Ask, seeks: boolean = false): Held {
  const earlier = seeks ? find(tx, budget, run) : undefined
  const [startsAt, known] = earlier ?? current(tx, budget)
  const seen = largest(seenOf(tx, budget, startsAt, ask.of), ask.seen)
  const standing = { ...standingOf(budget, startsAt, known), seen }
  const before = holdOf(known, run)
  if (before !== undefined) return { ...standing, hold: before }
  const need = needOf(budget.max, ask, seen)
  if (!fits(NOTHING, need, standing.left)) {
    return { ...standing, hold: undefined, mayFit: fits(standing.spent, need, budget.max) }
  }
  const own = { held: need, used: NOTHING, at: tx.now }
  const window = known === undefined ? undefined : withRoom(known, tx.now - budget.keepMs)
  put(tx, budget, startsAt, withHold(window, run, own))
  return { ...standing, hold: own, ...(known === undefined && { isNew: true }) }
}

function grow(
  tx: Transaction,
  budget: KeyBudget,
  startsAt: number,
  run: string,
  used: Amount,
  need: Amount,
): Held {
  const window = read(tx, budget, startsAt)
  const before = holdOf(window, run)
  const standing = standingOf(budget, startsAt, window)
  // The window is long over, so that nothing is counted in it any more.
  if (before === undefined) return { ...standing, hold: { held: sum(used, need), used, at: tx.now } }
  // What is left beside what is held for this run.
  const room = others(budget.max, window, run)
  const mayGoOn = fits(used, need, room)
  const held = mayGoOn ? smaller(sum(sum(used, need), furtherOf(budget.max)), room) : used
  const own = { ...before, held: larger(before.held, held), used: larger(before.used, used) }
  const after = withHold(window, run, own)
  put(tx, budget, startsAt, after)
  const mayFit = fits(sum(after.spent, used), need, budget.max)
  return { ...standingOf(budget, startsAt, after), hold: mayGoOn ? own : undefined, mayFit }
}

function settle(
  tx: Transaction,
  budget: KeyBudget,
  startsAt: number,
  run: string,
  used: Amount,
  call?: Call,
): void {
  const window = read(tx, budget, startsAt)
  if (window === undefined || holdOf(window, run) === undefined) return
  const { [run]: _, ...holds } = window.holds
  const spent = sum(window.spent, used)
  put(tx, budget, startsAt, { ...window, spent, holds, ...(call && { calls: withCall(window.calls, call) }) })
}

/** The largest call that was seen in a window, or in the one before it. */
function seenOf(tx: Reader, budget: KeyBudget, startsAt: number, of: string): Seen | undefined {
  const own = read(tx, budget, startsAt)?.calls?.[of]
  return own ?? read(tx, budget, startsAt - budget.windowMs)?.calls?.[of]
}

function withCall(calls: Window['calls'] = {}, { of, largest: call }: Call): NonNullable<Window['calls']> {
  const { [of]: before, ...others } = calls
  const kept = Object.entries(others).slice(1 - MAX_SEEN)
  return { ...Object.fromEntries(kept), [of]: largest(before, call) ?? call }
}

function enlist(tx: Transaction, id: string, value: ListedKey, expiresAt: number): void {
  sweep(tx, KEYS)
  tx.put(KEYS, { id, partition: '', at: tx.now, tags: {}, value, expiresAt })
}

/** What all that is held and spent leaves, but for what is held for one run. */
function others(max: Amount, window: Window | undefined, run: string): Amount {
  const { spent, holds } = window ?? EMPTY
  const { [run]: _, ...rest } = holds
  return minus(max, sum(spent, total(rest)))
}

function standingOf(budget: KeyBudget, startsAt: number, window: Window = EMPTY): Standing {
  const { windowMs, max } = budget
  const held = total(window.holds)
  const left = larger(NOTHING, minus(max, sum(window.spent, held)))
  return { startsAt, resetAt: startsAt + windowMs, spent: window.spent, held, left }
}

const EMPTY: Window = { spent: NOTHING, holds: {} }

function total(holds: Window['holds']): Amount {
  return Object.values(holds).reduce<Amount>((all, { held, used }) => sum(all, larger(held, used)), NOTHING)
}

function holdOf(window: Window | undefined, run: string): Hold | undefined {
  return window !== undefined && Object.hasOwn(window.holds, run) ? window.holds[run] : undefined
}

function withHold(window: Window = EMPTY, run: string, hold: Hold): Window {
  return { ...window, holds: { ...window.holds, [run]: hold } }
}

/** The window with a place for one more: what is held for runs that ended long ago, untold, is spent. Throws `too_many_runs`. */
function withRoom(window: Window, endedBy: number): Window {
  const entries = Object.entries(window.holds)
  if (entries.length < MAX_HOLDS) return window
  const isOver = ([, { at }]: (typeof entries)[number]) => at <= endedBy
  const over = Object.fromEntries(entries.filter(isOver))
  const holds = Object.fromEntries(entries.filter(entry => !isOver(entry)))
  if (Object.keys(holds).length < MAX_HOLDS)
    return { ...window, spent: sum(window.spent, total(over)), holds }
  throw new ServableError('too_many_runs', `Too many runs of one budget: ${MAX_HOLDS} are already at work`)
}

/** The window of now. Windows begin at whole multiples of their length since 1970. */
function current(tx: Reader, budget: KeyBudget): [startsAt: number, window: Window | undefined] {
  const startsAt = Math.floor(tx.now / budget.windowMs) * budget.windowMs
  return [startsAt, read(tx, budget, startsAt)]
}

function find(tx: Reader, budget: KeyBudget, run: string): [number, Window] | undefined {
  const windows = tx.list<Window>(WINDOWS, { partition: partitionOf(budget), limit: MAX_WINDOWS })
  const found = windows.find(({ value }) => holdOf(value, run) !== undefined)
  return found && [found.at, found.value]
}

function read(tx: Reader, budget: KeyBudget, startsAt: number): Window | undefined {
  return tx.get<Window>(WINDOWS, idOf(budget, startsAt))?.value
}

function put(tx: Transaction, budget: KeyBudget, at: number, value: Window): void {
  const id = idOf(budget, at)
  if (tx.get(WINDOWS, id) === undefined) sweep(tx, WINDOWS)
  const expiresAt = at + budget.windowMs + budget.keepMs
  tx.put(WINDOWS, { id, partition: partitionOf(budget), at, tags: {}, value, expiresAt })
}

/** Documents that are deleted in one go once they have expired. */
const EXPIRED_AT_ONCE = 100

function sweep(tx: Transaction, collection: string): void {
  for (const { id } of tx.expired(collection, tx.now, EXPIRED_AT_ONCE)) tx.delete(collection, id)
}

/** Names, so that none can be mistaken for two. Another length of the windows is another budget. */
function partitionOf({ name, key, windowMs }: KeyBudget): string {
  return JSON.stringify([name, key, windowMs])
}

function idOf({ name, key, windowMs }: KeyBudget, startsAt: number): string {
  return JSON.stringify([name, key, windowMs, startsAt])
}
