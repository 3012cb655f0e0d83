/**
 * Counts the requests of keys, each against its own rate.
 *
 * @module
 */

import type { Context } from '../../http/context.ts'
import { type CountRequest, countAgainst } from '../../http/limits/rate-limit.ts'
import { BoundedMap } from './bounded-map.ts'
import type { KeptKey, Rate } from './kept.ts'

/** Most rates that are counted at the same time. Most keys share a few. */
const MAX_RATES = 1000

/** Counts the requests of keys with a rate. */
export class KeyRates {
  readonly #counts = new BoundedMap<CountRequest>(MAX_RATES)
  readonly #countBy: (rate: Rate) => CountRequest

  constructor(countBy: (rate: Rate) => CountRequest) {
    this.#countBy = countBy
  }

  /** Counts a request, or a run of a socket. Sets the headers of the response. Throws `rate_limited`. */
  async take({ id, rate }: KeptKey, context?: Pick<Context, 'responseHeaders'>): Promise<void> {
    if (rate === undefined) return
    const { max, windowMs } = rate
    const name = `${max}/${windowMs}`
    const count = this.#counts.get(name) ?? this.#counts.set(name, this.#countBy(rate))
    // Windows of different lengths are counted separately.
    await countAgainst(rate, count, `${id}/${name}`, context?.responseHeaders)
  }
}
