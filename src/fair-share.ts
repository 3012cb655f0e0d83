/** Whose part of a whole something is. */
export interface Claim {
  readonly name: string
  /** The name may have so many times what is free, what it asks for included. Default: 1: half of the whole, beside another one a third. */
  readonly times?: number
}

/**
 * Shares a whole between many, whose names nobody knows before: whoever wants more may have no more than it leaves free for
 * the next one. So one alone never has everything, and a newcomer finds something until there are very many.
 */
export class FairShare {
  #free: number
  readonly #held = new Map<string, number>()

  constructor(size: number) {
    this.#free = size
  }

  /** Whether one that has `from` may have `to` instead. */
  allows(claims: readonly Claim[], from: number, to: number): boolean {
    const free = this.#free + from
    if (to > free) return false
    return claims.every(({ name, times = 1 }) => (this.#held.get(name) ?? 0) - from + to <= times * free)
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
