/**
 * The data of plugins: transactions that run next to the data, on every store. In a local store they run in this process; with
 * Durable Objects they run in the object at an address.
 *
 * @module
 */

import type { Alarm, Expiring, Upkeep } from '../stores/alarm.ts'
import type { Reader, Store, Transaction } from '../stores/store.ts'
import type { CallService, HostedState, ObjectAddress } from './hosted.ts'
import { type NoState, stateFor } from './no-state.ts'

/** Transactions by name, over readers and writers of a kind. */
export interface TransactionsOver<R, W> {
  /** Transactions that only read. */
  readonly reads?: Readonly<Record<string, (kept: R, ...args: never[]) => unknown>> | undefined
  /** Transactions that write all or, if they throw, nothing. */
  readonly writes?: Readonly<Record<string, (kept: W, ...args: never[]) => unknown>> | undefined
}

/** Transactions over the store itself. */
export interface Transactions extends TransactionsOver<Reader, Transaction>, Expiring {
  /** Collections that an object has in memory only. Their data ends with the object's memory, or is rebuilt from stored data. */
  readonly inMemory?: readonly string[]
}

/**
 * Calls of transactions, each at an address. An error keeps its code. A store in this process that cannot be reached is
 * `state_unavailable`. An object that cannot be reached is an error without a code, which clients get as `internal_error`.
 */
export type Calls<T extends TransactionsOver<never, never>, P = ObjectAddress> = CallsOf<T['reads'], P> &
  CallsOf<T['writes'], P>

type CallsOf<Functions, P> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    kept: never,
    ...args: infer Args
  ) => infer Result
    ? (address: P, ...args: Args) => Promise<Result>
    : never
}

/** A function of {@link Transactions}, whatever its arguments. */
export type TransactionWork<T> = (tx: T, ...args: unknown[]) => unknown

/** Calls in a local store. What expires there is deleted by the alarm. */
export function localCalls<T extends Transactions>(
  store: Store,
  transactions: T,
  alarm?: Alarm,
  upkeep: Upkeep = {},
): Calls<T> {
  const { reads, writes, expiring = [] } = transactions
  const own = expiring.length === 0 ? undefined : alarm
  own?.add(transactions, upkeep)
  const write = <R>(work: (tx: Transaction) => R) =>
    own === undefined ? store.write(work) : own.write(transactions, upkeep, work)
  return callsBy<T>(
    { reads, writes },
    {
      read: (work, args) => store.read(tx => work(tx, ...args)),
      write: (work, args) => write(tx => work(tx, ...args)),
    },
  )
}

/** Calls in Durable Objects, where the service of that name has the same transactions. */
export function objectCalls<T extends Transactions>(
  reach: (address: ObjectAddress, service: string) => CallService,
  service: string,
  { reads, writes }: T,
): Calls<T> {
  const ask = (_: unknown, args: readonly unknown[], address: ObjectAddress, name: string) =>
    reach(address, service)(name, ...args)
  return callsBy<T>({ reads, writes }, { read: ask, write: ask })
}

interface Caller {
  read(work: TransactionWork<Reader>, args: readonly unknown[], address: ObjectAddress, name: string): unknown
  write(
    work: TransactionWork<Transaction>,
    args: readonly unknown[],
    address: ObjectAddress,
    name: string,
  ): unknown
}

function callsBy<T extends Transactions>(
  { reads = {}, writes = {} }: Transactions,
  caller: Caller,
): Calls<T> {
  const calls: Record<string, (address: ObjectAddress, ...args: unknown[]) => Promise<unknown>> = {}
  for (const [name, work] of Object.entries(reads)) {
    calls[name] = async (address, ...args) =>
      caller.read(work as TransactionWork<Reader>, args, address, name)
  }
  for (const [name, work] of Object.entries(writes)) {
    calls[name] = async (address, ...args) =>
      caller.write(work as TransactionWork<Transaction>, args, address, name)
  }
  return calls as Calls<T>
}

/** Makes the calls of transactions in a handler. `upkeep` is for a state in this process. With Durable Objects the service has it. */
export type CallTransactions = <T extends Transactions>(
  service: string,
  transactions: T,
  upkeep?: Upkeep,
) => Calls<T>

/** Makes the calls wherever the state is. */
export function callTransactionsIn(
  state: { readonly kind: 'local'; readonly store: Store } | HostedState | NoState,
  alarm?: Alarm,
): CallTransactions {
  if (state.kind === 'local')
    return (_, transactions, upkeep) => localCalls(state.store, transactions, alarm, upkeep)
  if (state.kind === 'none') return service => stateFor<never>(service, state)
  return (service, transactions) =>
    objectCalls((address, name) => state.reach('index', address, name), service, transactions)
}
