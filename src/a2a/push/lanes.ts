/**
 * How many receivers are told at a time, and whose: clients and their receivers share two lanes, one for those that take
 * what they are told at once, and a small one for those that were slow or failed, so that nobody else waits behind them.
 *
 * @module
 */

import { type Claim, FairShare } from '../../fair-share.ts'
import type { KeptPush } from './kept.ts'

/** Receivers that are told at a time: quick ones, and the others. */
const QUICK = 48
const SLOW = 16

/** Milliseconds after which a receiver is slow. */
export const SLOW_MS = 1000

/** Slow receivers that are remembered; past it the ones that were found first are taken for quick ones again. */
const MAX_REMEMBERED = 1000

/** How much a client may have with all its receivers: three times what is free. Each of them may have what is free. */
const CLIENT_TIMES = 3

/** A place in a lane. */
export interface Place {
  /** It takes long: goes over to the slow lane, if there is a place. Whether it has. */
  goSlow(): boolean
  leave(): void
}

/** The lanes of one process. */
export class Lanes {
  readonly #quick = new FairShare(QUICK)
  readonly #slow = new FairShare(SLOW)
  readonly #known = new Set<string>()

  /** A place for a receiver; undefined where it has to wait. */
  enter(kept: KeptPush): Place | undefined {
    const claims = claimsOf(kept)
    let lane = kept.failures > 0 || this.#known.has(receiverOf(kept)) ? this.#slow : this.#quick
    if (!lane.change(claims, 0, 1)) return undefined
    return {
      goSlow: () => {
        if (lane === this.#slow || !this.#slow.change(claims, 0, 1)) return false
        lane.change(claims, 1, 0)
        lane = this.#slow
        return true
      },
      leave: () => void lane.change(claims, 1, 0),
    }
  }

  /** Remembers how a receiver was. */
  note(kept: KeptPush, isQuick: boolean): void {
    const receiver = receiverOf(kept)
    this.#known.delete(receiver)
    if (isQuick) return
    this.#known.add(receiver)
    const [oldest = ''] = this.#known
    if (this.#known.size > MAX_REMEMBERED) this.#known.delete(oldest)
  }
}

/** A receiver is an origin and the client that named it: nobody can make another one's receiver slow. */
function receiverOf({ client = '', config }: KeptPush): string {
  return `${new URL(config.url).origin} of ${client}`
}

function claimsOf(kept: KeptPush): Claim[] {
  return [{ name: kept.client ?? '', times: CLIENT_TIMES }, { name: receiverOf(kept) }]
}
