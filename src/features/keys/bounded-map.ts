/** A map with a limited number of entries. When it is full, the entry that was set first is removed. */
export class BoundedMap<V> {
  readonly #entries = new Map<string, V>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.size
  }

  get(name: string): V | undefined {
    return this.#entries.get(name)
  }

  set(name: string, value: V): V {
    this.#entries.delete(name)
    this.#entries.set(name, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest)
    return value
  }

  clear(): void {
    this.#entries.clear()
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }
}
