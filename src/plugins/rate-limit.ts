import * as v from 'valibot'
import { asPlugin, type Core } from '../core/built-in.ts'
import type { Transactions } from '../core/kept.ts'
import type { Plugin } from '../core/plugin.ts'
import {
  type CountRequest,
  createLocalCount,
  createRateLimit,
  type RateLimitOptions,
  type RateLimitSettings,
  resolveRateLimit,
} from '../http/rate-limit.ts'
import { createSharedCount, takeRequests, WINDOWS } from '../http/shared-rate.ts'
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
    take: (
      tx: Transaction,
      client: string,
      wanted: number,
      of: Pick<RateLimitSettings, 'max' | 'windowMs'>,
    ) => takeRequests(tx, client, wanted, of),
  },
  expiring: [WINDOWS],
} satisfies Transactions

/** Limits the requests of each client. Default: 100 a minute by address. Throws `invalid_options`. */
export function rateLimit(options: RateLimitOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const settings = resolveRateLimit(options)
  const { key, shared, trustedHeader } = settings
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: WINDOW_TRANSACTIONS },
    mount(core) {
      const middleware = createRateLimit(
        settings,
        shared ? sharedCount(core, settings) : createLocalCount(settings),
        core.onNoAddress,
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

/** Counts in the shared state. A store that is far away is asked for more than one request at a time. */
function sharedCount(
  { keep, settings: { state } }: Core,
  { max, windowMs }: RateLimitSettings,
): CountRequest {
  const calls = keep(NAME, WINDOW_TRANSACTIONS)
  const isFar = state.kind === 'local' && state.store.isFar === true
  return createSharedCount(
    (client, wanted) => calls.take({ name: 'rate', key: client }, client, wanted, { max, windowMs }),
    { max, windowMs },
    isFar,
  )
}
