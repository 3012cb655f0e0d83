/**
 * How many receivers are told at a time, and whose: clients and their receivers share two lanes, one for those that take
 * what they are told at once, and a small one for those that were slow or failed, so that nobody else waits behind them.
 *
 * @module
 */

import { type Claim, FairShare } from '../fair-share.ts'

/** Receivers that are told at a time: quick ones, and the others. */
const QUICK = 48
const SLOW = 16

/** Milliseconds after which a receiver is slow. */
export const SLOW_MS = 1000

/** Slow receivers that are remembered; past it the ones that were found first are taken for quick ones again. */
const MAX_REMEMBERED = 1000

/** How much a client may have with all its receivers: three times what is free. Each of them may have what is free. */
const CLIENT_TIMES = 3

/** Who is told. */
export interface Receiver {
  readonly url: string
  /** Whose receiver it is; one of all who are unknown where nobody is named. */
  readonly client?: string | undefined
  /** How often in a row it has failed. */
  readonly failures: number
}

/** A place in a lane. */
export interface Place {
  /** It takes long: goes over to the slow lane, if there is a place. Whether it has. */
  goSlow(): boolean
  leave(): void
}

/** The lanes of one process, for whatever has a receiver. */
export class Lanes<T> {
  readonly #receiverOf: (told: T) => Receiver
  readonly #quick = new FairShare(QUICK)
  readonly #slow = new FairShare(SLOW)
  readonly #known = new Set<string>()

  constructor(receiverOf: (told: T) => Receiver) {
    this.#receiverOf = receiverOf
  }

  /** A place for a receiver; undefined where it has to wait. */
  enter(told: T): Place | undefined {
    const receiver = this.#receiverOf(told)
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

  /** Remembers how a receiver was. */
  note(told: T, isQuick: boolean): void {
    const name = nameOf(this.#receiverOf(told))
    this.#known.delete(name)
    if (isQuick) return
    this.#known.add(name)
    const [oldest = ''] = this.#known
    if (this.#known.size > MAX_REMEMBERED) this.#known.delete(oldest)
  }
}

/** A receiver is an origin and the client that named it: nobody can make another one's receiver slow. */
function nameOf({ client = '', url }: Receiver): string {
  return `${new URL(url).origin} of ${client}`
}

function claimsOf(receiver: Receiver): Claim[] {
  return [{ name: receiver.client ?? '', times: CLIENT_TIMES }, { name: nameOf(receiver) }]
}
