/** Whose part of a whole something is. */
export interface Claim {
  readonly name: string
  /** The name may have so many times what is free, what it asks for included. Default: 1: half of the whole, beside another one a third. */
  readonly times?: number
}

/** The part of a whole that only those may have who have nothing yet: one of so many. */
const FIRST = 4

/**
 * Shares a whole between many, whose names nobody knows before: whoever wants more may have no more than it leaves free for
 * the next one. The last quarter is for those who have nothing yet. So one alone never has everything, and a newcomer finds
 * something until there are as many as fit into that quarter.
 */
export class FairShare {
  #free: number
  readonly #first: number
  readonly #held = new Map<string, number>()

  constructor(size: number) {
    this.#free = size
    this.#first = Math.floor(size / FIRST)
  }

  /** Whether one that has `from` may have `to` instead. */
  allows(claims: readonly Claim[], from: number, to: number): boolean {
    const free = this.#free + from
    if (to > free) return false
    return claims.every(({ name, times = 1 }) => {
      const others = (this.#held.get(name) ?? 0) - from
      return others + to <= times * free && (others === 0 || free - to >= this.#first)
    })
  }

  /** Makes `from` `to`; false, and nothing has changed, where that would be more than it may have. Less is always allowed. */
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
