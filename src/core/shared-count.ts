import type { CountRequest, RateLimitSettings } from '../http/limits/rate-limit.ts'
import { createSharedCount, type TakenRequests, takeRequests, WINDOWS } from '../http/limits/shared-rate.ts'
import type { Transaction } from '../stores/store.ts'
import type { CoreSettings } from './options.ts'
import type { CallTransactions, Transactions } from './transaction-calls.ts'

type Limit = Pick<RateLimitSettings, 'max' | 'windowMs'>

/** The type of {@link WINDOW_TRANSACTIONS}. */
interface WindowTransactions extends Transactions {
  readonly writes: {
    readonly take: (tx: Transaction, client: string, wanted: number, of: Limit) => TakenRequests
  }
}

/** The transactions that count the requests of clients in time windows, each at its own address. */
export const WINDOW_TRANSACTIONS: WindowTransactions = {
  writes: { take: (tx, client, wanted, of) => takeRequests(tx, client, wanted, of) },
  expiring: [WINDOWS],
}

/**
 * Counts requests in the shared state, by an object service of {@link WINDOW_TRANSACTIONS}. It asks a remote store for more than
 * one request at a time.
 */
export function sharedCount(
  service: string,
  callTransactions: CallTransactions,
  state: CoreSettings['state'],
  { max, windowMs }: Limit,
): CountRequest {
  const calls = callTransactions(service, WINDOW_TRANSACTIONS)
  const isRemote = state.kind === 'local' && state.store.isRemote === true
  return createSharedCount(
    (client, wanted) => calls.take({ name: 'rate', key: client }, client, wanted, { max, windowMs }),
    { max, windowMs },
    isRemote,
  )
}
