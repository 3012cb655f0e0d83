import * as v from 'valibot'
import { asPlugin } from '../core/built-in.ts'
import type { Keep, Transactions } from '../core/kept.ts'
import type { Plugin } from '../core/plugin.ts'
import {
  type CountRequest,
  countInStore,
  createLocalCount,
  createRateLimit,
  type RateLimitOptions,
  resolveRateLimit,
  WINDOWS,
} from '../http/rate-limit.ts'
import { checkOptions, count, duration, func } from '../schemas.ts'
import type { Transaction } from '../state/store.ts'
import { headerName } from '../validation.ts'

const NAME = 'rateLimit'

const OptionsSchema = v.strictObject({
  windowMs: v.optional(duration),
  max: v.optional(count),
  key: v.optional(func),
  trustedHeader: v.optional(headerName),
  shared: v.optional(v.boolean()),
})

const WINDOW_TRANSACTIONS = {
  writes: {
    count: (tx: Transaction, client: string, windowMs: number) => countInStore(tx, client, windowMs),
  },
  expiring: [WINDOWS],
} satisfies Transactions

/** Limits the requests of each client. Default: 100 a minute by address. Throws `invalid_options`. */
export function rateLimit(options: RateLimitOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const settings = resolveRateLimit(options)
  const { key, shared, windowMs, trustedHeader } = settings
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: WINDOW_TRANSACTIONS },
    mount({ keep, onNoAddress }) {
      const middleware = createRateLimit(
        settings,
        shared ? sharedCount(keep, windowMs) : createLocalCount(settings),
        onNoAddress,
      )
      // It runs before all other middleware, unless it counts by a key: other middleware may set that key.
      if (key !== undefined) return { middleware }
      return {
        outer: middleware,
        ...(trustedHeader === undefined && {
          withoutAddress: '`rateLimit` counts all of them as one client',
        }),
      }
    },
  })
}

/** Counts in the shared state. */
function sharedCount(keep: Keep, windowMs: number): CountRequest {
  const calls = keep(NAME, WINDOW_TRANSACTIONS)
  return client => calls.count({ name: 'rate', key: client }, client, windowMs)
}
