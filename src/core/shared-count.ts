import type { CountRequest, RateLimitSettings } from '../http/limits/rate-limit.ts'
import { createSharedCount, type Taken, takeRequests, WINDOWS } from '../http/limits/shared-rate.ts'
import type { Transaction } from '../stores/store.ts'
import type { CoreSettings } from './options.ts'
import type { CallTransactions, Transactions } from './transaction-calls.ts'

type Limit = Pick<RateLimitSettings, 'max' | 'windowMs'>

/** See {@link WINDOW_TRANSACTIONS}. */
interface WindowTransactions extends Transactions {
  readonly writes: {
    readonly take: (tx: Transaction, client: string, wanted: number, of: Limit) => Taken
  }
}

/** The windows of clients, each at a place of its own. */
export const WINDOW_TRANSACTIONS: WindowTransactions = {
  writes: { take: (tx, client, wanted, of) => takeRequests(tx, client, wanted, of) },
  expiring: [WINDOWS],
}

/** Counts in the shared state, by a keeper of {@link WINDOW_TRANSACTIONS}. A store that is far away is asked for more than one request at a time. */
export function sharedCount(
  keeper: string,
  keep: CallTransactions,
  state: CoreSettings['state'],
  { max, windowMs }: Limit,
): CountRequest {
  const calls = keep(keeper, WINDOW_TRANSACTIONS)
  const isFar = state.kind === 'local' && state.store.isFar === true
  return createSharedCount(
    (client, wanted) => calls.take({ name: 'rate', key: client }, client, wanted, { max, windowMs }),
    { max, windowMs },
    isFar,
  )
}
