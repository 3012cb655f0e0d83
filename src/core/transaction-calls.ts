/**
 * The data of plugins: transactions that run beside the data, on every store. In a local store they run in this process; with
 * Durable Objects they run in the object of a place.
 *
 * @module
 */

import type { Reader, Store, Transaction } from '../stores/store.ts'
import type { Ask, HostedState } from './hosted.ts'
import { type NoState, stateFor } from './no-state.ts'
import type { ObjectAddress } from './object-address.ts'

/** Transactions by name, over readers and writers of a kind. */
export interface TransactionsOver<R, W> {
  /** They read, and change nothing. */
  readonly reads?: Readonly<Record<string, (kept: R, ...args: never[]) => unknown>> | undefined
  /** Each writes all or, if it throws, nothing. */
  readonly writes?: Readonly<Record<string, (kept: W, ...args: never[]) => unknown>> | undefined
}

/** Transactions over the store itself. */
export interface Transactions extends TransactionsOver<Reader, Transaction> {
  /** Collections whose documents expire: an object deletes them when their time has come. */
  readonly expiring?: readonly string[]
  /** Deletes one of them with all that belongs to it. Default: the document alone. */
  readonly forget?: (tx: Transaction, collection: string, id: string) => void
  /** Collections that an object has in memory alone: what they tell of ends with its memory, or is told from what is kept. */
  readonly passing?: readonly string[]
}

/**
 * Calls of transactions, each at a place. An error keeps its code. A store in this process that cannot be reached is
 * `state_unavailable`. An object that cannot be reached is an error without a code, which clients get as `internal_error`.
 */
export type Calls<T extends TransactionsOver<never, never>, P = ObjectAddress> = CallsOf<T['reads'], P> &
  CallsOf<T['writes'], P>

type CallsOf<Functions, P> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    kept: never,
    ...args: infer Args
  ) => infer Result
    ? (place: P, ...args: Args) => Promise<Result>
    : never
}

/** A function of {@link Transactions}, whatever its arguments. */
export type Work<T> = (tx: T, ...args: unknown[]) => unknown

/** Calls in a store at hand. */
export function localCalls<T extends Transactions>(store: Store, { reads, writes }: T): Calls<T> {
  return callsBy<T>(
    { reads, writes },
    {
      read: (work, args) => store.read(tx => work(tx, ...args)),
      write: (work, args) => store.write(tx => work(tx, ...args)),
    },
  )
}

/** Calls in objects, where the keeper of that name has the same transactions. */
export function objectCalls<T extends Transactions>(
  reach: (place: ObjectAddress, keeper: string) => Ask,
  keeper: string,
  { reads, writes }: T,
): Calls<T> {
  const ask = (_: unknown, args: readonly unknown[], place: ObjectAddress, name: string) =>
    reach(place, keeper)(name, ...args)
  return callsBy<T>({ reads, writes }, { read: ask, write: ask })
}

interface Caller {
  read(work: Work<Reader>, args: readonly unknown[], place: ObjectAddress, name: string): unknown
  write(work: Work<Transaction>, args: readonly unknown[], place: ObjectAddress, name: string): unknown
}

function callsBy<T extends Transactions>(
  { reads = {}, writes = {} }: Transactions,
  caller: Caller,
): Calls<T> {
  const calls: Record<string, (place: ObjectAddress, ...args: unknown[]) => Promise<unknown>> = {}
  for (const [name, work] of Object.entries(reads)) {
    calls[name] = async (place, ...args) => caller.read(work as Work<Reader>, args, place, name)
  }
  for (const [name, work] of Object.entries(writes)) {
    calls[name] = async (place, ...args) => caller.write(work as Work<Transaction>, args, place, name)
  }
  return calls as Calls<T>
}

/** Where transactions are called from a handler. */
export type CallTransactions = <T extends Transactions>(keeper: string, transactions: T) => Calls<T>

/** Calls where the state is. */
export function callTransactionsIn(
  state: { readonly kind: 'local'; readonly store: Store } | HostedState | NoState,
): CallTransactions {
  if (state.kind === 'local') return (_, transactions) => localCalls(state.store, transactions)
  if (state.kind === 'none') return keeper => stateFor<never>(keeper, state)
  return (keeper, transactions) =>
    objectCalls((place, name) => state.reach('index', place, name), keeper, transactions)
}
