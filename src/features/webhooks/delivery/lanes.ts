/**
 * Limits how many requests to receivers run at the same time, and shares them among clients and receivers. There are two
 * lanes. The large one is for receivers that answer quickly. The small one is for receivers that were slow or failed, so
 * that they do not hold up the others.
 *
 * @module
 */

import { type Claim, FairShare } from '../../../base/fair-share.ts'

/** Most simultaneous requests: in the quick lane, and in the slow lane. */
const QUICK = 48
const SLOW = 16

/** Milliseconds after which a receiver counts as slow. */
export const SLOW_MS = 1000

/** Most slow receivers that are remembered. Above it the oldest ones count as quick again. */
const MAX_REMEMBERED = 1000

/** A receiver may take as many slots as are free. A client may take three times as many for all its receivers. */
const CLIENT_TIMES = 3

/** A receiver. */
export interface Receiver {
  readonly url: string
  /** The client that named the receiver. All unknown clients count as one. */
  readonly client?: string | undefined
  /** Failures in a row. */
  readonly failures: number
}

/** A slot in a lane. */
export interface Slot {
  /** Moves to the slow lane if that has a free slot. Returns whether it moved. */
  goSlow(): boolean
  leave(): void
}

/** The two lanes of a process. `T` is anything that has a receiver. */
export class Lanes<T> {
  readonly #receiverOf: (item: T) => Receiver
  readonly #quick = new FairShare(QUICK)
  readonly #slow = new FairShare(SLOW)
  readonly #known = new Set<string>()

  constructor(receiverOf: (item: T) => Receiver) {
    this.#receiverOf = receiverOf
  }

  /** Returns a slot for a receiver. Undefined if it must wait. */
  enter(item: T): Slot | undefined {
    const receiver = this.#receiverOf(item)
    const claims = claimsOf(receiver)
    let lane = receiver.failures > 0 || this.#known.has(nameOf(receiver)) ? this.#slow : this.#quick
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

  /** Remembers whether a receiver was quick. */
  note(item: T, isQuick: boolean): void {
    const name = nameOf(this.#receiverOf(item))
    this.#known.delete(name)
    if (isQuick) return
    this.#known.add(name)
    const [oldest = ''] = this.#known
    if (this.#known.size > MAX_REMEMBERED) this.#known.delete(oldest)
  }
}

/** A receiver is identified by its origin and its client. So no client can make another client's receiver slow. */
function nameOf({ client = '', url }: Receiver): string {
  return `${new URL(url).origin} of ${client}`
}

function claimsOf(receiver: Receiver): Claim[] {
  return [{ name: receiver.client ?? '', times: CLIENT_TIMES }, { name: nameOf(receiver) }]
}
