/** The name that a part of the whole counts for. */
export interface Claim {
  readonly name: string
  /**
   * How many times the free part the name may have, including what it asks for. Default: 1, which is half of the whole, beside
   * another name a third.
   */
  readonly times?: number
}

/** One in so many parts is reserved for names that have nothing. */
const FIRST = 4

/**
 * Shares a whole between any number of unknown names. A name may have at most as much as it leaves free for the next one. The
 * last quarter is for names that have nothing yet. So a single name never has everything, and a new one finds something until
 * there are as many as fit into that quarter.
 */
export class FairShare {
  #free: number
  readonly #first: number
  readonly #held = new Map<string, number>()

  constructor(size: number) {
    this.#free = size
    this.#first = Math.floor(size / FIRST)
  }

  /** Whether a name that has `from` may have `to` instead. */
  allows(claims: readonly Claim[], from: number, to: number): boolean {
    const free = this.#free + from
    if (to > free) return false
    return claims.every(({ name, times = 1 }) => {
      const others = (this.#held.get(name) ?? 0) - from
      return others + to <= times * free && (others === 0 || free - to >= this.#first)
    })
  }

  /** Changes `from` to `to`. Returns false, without a change, if that is more than allowed. Less is always allowed. */
  change(claims: readonly Claim[], from: number, to: number): boolean {
    if (to > from && !this.allows(claims, from, to)) return false
    this.#free += from - to
    for (const { name } of claims) {
      const held = (this.#held.get(name) ?? 0) + to - from
      if (held > 0) this.#held.set(name, held)
      else this.#held.delete(name)
    }
    return true
  }
}
