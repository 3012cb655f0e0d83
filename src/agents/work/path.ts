/**
 * Names the work of one body, so that each piece has the same path when the body runs again.
 *
 * @module
 */

/** Counts the names of one body. */
export class Names {
  /** The path of the body in the run: empty at the top, else it ends with a slash. */
  readonly prefix: string
  #counts: Map<string, number> | undefined

  constructor(prefix = '') {
    this.prefix = prefix
  }

  /** The path of the next work of that name: `name`, then `name#2`, after the prefix. */
  next(name: string): string {
    this.#counts ??= new Map()
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    // Escape the name, so that no name can equal two names, no name, or the second occurrence of another.
    const path = this.prefix + (name === '' ? '%' : name.replace(/[%/#]/g, encodeURIComponent))
    return count === 1 ? path : `${path}#${count}`
  }
}
