/**
 * Counts the requests of keys, each against its own rate.
 *
 * @module
 */

import type { Context } from '../../http/context.ts'
import { type CountRequest, countAgainst } from '../../http/limits/rate-limit.ts'
import { BoundedMap } from './bounded-map.ts'
import type { KeptKey, Rate } from './kept.ts'

/** Rates that are counted at the same time. Most keys have one of a few. */
const MAX_RATES = 1000

/** The counts of keys that have a rate. */
export class KeyRates {
  readonly #counts = new BoundedMap<CountRequest>(MAX_RATES)
  readonly #countBy: (rate: Rate) => CountRequest

  constructor(countBy: (rate: Rate) => CountRequest) {
    this.#countBy = countBy
  }

  /** Counts a request, or a run that comes in no request of its own. Sets the headers of the response. Throws `rate_limited`. */
  async take({ id, rate }: KeptKey, context?: Pick<Context, 'responseHeaders'>): Promise<void> {
    if (rate === undefined) return
    const { max, windowMs } = rate
    const name = `${max}/${windowMs}`
    const count = this.#counts.get(name) ?? this.#counts.set(name, this.#countBy(rate))
    // Windows of another length are others.
    await countAgainst(rate, count, `${id}/${name}`, context?.responseHeaders)
  }
}
