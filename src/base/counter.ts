/** Counts names. Undefined is not counted. */
export class Counter {
  readonly #counts = new Map<string, number>()

  add(name: string | undefined): void {
    if (name !== undefined) this.#counts.set(name, this.count(name) + 1)
  }

  remove(name: string | undefined): void {
    if (name === undefined) return
    const left = this.count(name) - 1
    if (left > 0) this.#counts.set(name, left)
    else this.#counts.delete(name)
  }

  count(name: string | undefined): number {
    return name === undefined ? 0 : (this.#counts.get(name) ?? 0)
  }
}
