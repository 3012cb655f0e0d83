import * as v from 'valibot'
import { checkOptions, count, duration, func } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { sharedCount, WINDOW_TRANSACTIONS } from '../../core/shared-count.ts'
import {
  createLocalCount,
  createRateLimit,
  type RateLimitOptions,
  resolveRateLimit,
} from '../../http/limits/rate-limit.ts'

const NAME = 'rateLimit'

const OptionsSchema = v.strictObject({
  windowMs: v.optional(duration),
  max: v.optional(count),
  key: v.optional(func),
  shared: v.optional(v.boolean()),
})

/** Limits the requests of each client. Default: 100 a minute by address. Throws `invalid_options`. */
export function rateLimit(options: RateLimitOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const settings = resolveRateLimit(options)
  const { key, shared } = settings
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: WINDOW_TRANSACTIONS },
    mount(core) {
      const middleware = createRateLimit(
        settings,
        shared
          ? sharedCount(NAME, core.callTransactions, core.settings.state, settings)
          : createLocalCount(settings),
        core.onNoAddress,
      )
      // It runs before all other middleware, unless it counts by a key: other middleware may set that key.
      if (key !== undefined) return { middleware }
      return { outer: middleware, withoutAddress: '`rateLimit` counts all of them as one client' }
    },
  })
}
