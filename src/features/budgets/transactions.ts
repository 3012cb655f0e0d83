/**
 * The windows of budgets, as pure transactions. Each key of a budget has one document for each window: the spent amount, and the
 * amounts held for the runs that began in it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Calls, Transactions } from '../../core/transaction-calls.ts'
import { type Page, readPage } from '../../runs/stored/page.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { type Amount, larger, minus, NOTHING, smaller, sum } from './amount.ts'
import { fits, furtherOf, type LargestCall, largest, type NextCall, needOf } from './need.ts'

/** The collections of windows, and of the keys that have one. */
export const WINDOWS = 'budget'
const KEYS = 'budget-key'

/** A budget and one of its keys. */
export interface KeyBudget {
  readonly name: string
  readonly key: string
  readonly windowMs: number
  /** Milliseconds for which a window is kept after its end: longer than any run. */
  readonly keepMs: number
  /** Infinite without a limit. */
  readonly max: Amount
}

/** The hold of a run: the held amount, its time, and the known spending. */
interface Hold {
  readonly held: Amount
  readonly used: Amount
  readonly at: number
}

interface Window {
  readonly spent: Amount
  readonly holds: Readonly<Record<string, Hold>>
  /** The largest calls that were counted in it, by target. */
  readonly calls?: Readonly<Record<string, LargestCall>>
}

/** The largest call of a target. */
export interface CountedCall {
  readonly of: string
  readonly largest: LargestCall
}

/** The state of a key in a window. */
export interface WindowState {
  /** The window's start and end, in milliseconds since 1970. */
  readonly startsAt: number
  readonly resetAt: number
  readonly spent: Amount
  /** For running runs, and for runs whose process has crashed. */
  readonly held: Amount
  readonly left: Amount
}

/** The result of `hold` and `grow`: the state of the key, and the hold of the run. Undefined if it was refused. */
export interface Held extends WindowState {
  readonly hold: Hold | undefined
  /** The largest call of the target so far. */
  readonly seen?: LargestCall | undefined
  /** Whether it was refused only because of the holds of other runs. */
  readonly mayFit?: boolean
  /** Whether nothing was stored of the window before. */
  readonly isNew?: true
}

/** A key with a window. */
export type ListedKey = Pick<KeyBudget, 'name' | 'key'>

/** The transactions of budgets. */
export interface BudgetTransactions extends Transactions {
  readonly reads: {
    standing(tx: Reader, budget: KeyBudget): WindowState
    list(tx: Reader, query: { readonly cursor?: string | undefined; readonly limit: number }): Page<ListedKey>
  }
  readonly writes: {
    /**
     * Holds the amount of a call for a new run. A repeated call keeps the hold. With `seeks` the run may have begun in an earlier
     * window.
     */
    hold(tx: Transaction, budget: KeyBudget, run: string, ask: NextCall, seeks?: boolean): Held
    /** Holds `need` more for a run than it has used, and some more if available. */
    grow(tx: Transaction, budget: KeyBudget, startsAt: number, run: string, used: Amount, need: Amount): Held
    /** Counts the spending of a run, and removes its hold. Does nothing for a run that was counted. */
    settle: typeof settle
    /** Lists a key until its window expires. Its id fits into a cursor. */
    enlist(tx: Transaction, id: string, key: ListedKey, expiresAt: number): void
  }
}

/** The transactions of budgets. */
export const BUDGET_TRANSACTIONS: BudgetTransactions = {
  expiring: [WINDOWS, KEYS],
  reads: {
    standing: (tx, budget) => standingOf(budget, ...current(tx, budget)),
    list: (tx, query) => readPage<ListedKey>(tx, KEYS, { partition: '' }, { ...query, isLive: true }),
  },
  writes: { hold, grow, settle, enlist },
}

/** The calls of the transactions. */
export type BudgetCalls = Calls<BudgetTransactions>

function hold(tx: Transaction, budget: KeyBudget, run: string, ask: NextCall, seeks: boolean = false): Held {
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
  // The window ended long ago, so nothing is counted in it any more.
  if (before === undefined) return { ...standing, hold: { held: sum(used, need), used, at: tx.now } }
  // The rest of the limit without the hold of this run.
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
  call?: CountedCall,
): void {
  const window = read(tx, budget, startsAt)
  if (window === undefined || holdOf(window, run) === undefined) return
  const { [run]: _, ...holds } = window.holds
  const spent = sum(window.spent, used)
  put(tx, budget, startsAt, { ...window, spent, holds, ...(call && { calls: withCall(window.calls, call) }) })
}

/** The largest call of a target in a window, or in the one before it. */
function seenOf(tx: Reader, budget: KeyBudget, startsAt: number, of: string): LargestCall | undefined {
  const own = read(tx, budget, startsAt)?.calls?.[of]
  return own ?? read(tx, budget, startsAt - budget.windowMs)?.calls?.[of]
}

/** Most targets whose largest call a window stores. */
const MAX_SEEN = 100

function withCall(
  calls: Window['calls'] = {},
  { of, largest: call }: CountedCall,
): NonNullable<Window['calls']> {
  const { [of]: before, ...others } = calls
  const kept = Object.entries(others).slice(1 - MAX_SEEN)
  return { ...Object.fromEntries(kept), [of]: largest(before, call) ?? call }
}

function enlist(tx: Transaction, id: string, value: ListedKey, expiresAt: number): void {
  tx.put(KEYS, { id, partition: '', at: tx.now, tags: {}, value, expiresAt })
}

/** The rest of the limit after the spending and the holds of all other runs. */
function others(max: Amount, window: Window | undefined, run: string): Amount {
  const { spent, holds } = window ?? EMPTY
  const { [run]: _, ...rest } = holds
  return minus(max, sum(spent, total(rest)))
}

function standingOf(budget: KeyBudget, startsAt: number, window: Window = EMPTY): WindowState {
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

/** Most runs with a held amount in a window. */
const MAX_HOLDS = 1000

/**
 * The window with room for one more hold. Holds of runs that must have ended long ago become spending. Throws `too_many_runs`.
 */
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

/** The current window. Windows begin at whole multiples of their length since 1970. */
function current(tx: Reader, budget: KeyBudget): [startsAt: number, window: Window | undefined] {
  const startsAt = Math.floor(tx.now / budget.windowMs) * budget.windowMs
  return [startsAt, read(tx, budget, startsAt)]
}

/** Most windows in which a run is searched. */
const MAX_WINDOWS = 100

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
  const expiresAt = at + budget.windowMs + budget.keepMs
  tx.put(WINDOWS, { id, partition: partitionOf(budget), at, tags: {}, value, expiresAt })
}

/** Joins the names unambiguously. With another window length it is another budget. */
function partitionOf({ name, key, windowMs }: KeyBudget): string {
  return JSON.stringify([name, key, windowMs])
}

function idOf({ name, key, windowMs }: KeyBudget, startsAt: number): string {
  return JSON.stringify([name, key, windowMs, startsAt])
}
