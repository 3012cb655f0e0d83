/**
 * Where in a run something happens: `outer/inner`, and from the second occurrence of a name in one body on `name#2`.
 *
 * @module
 */

/** Gives the things that one body does their paths. It knows no more names than the body uses, each of which is an event. */
export class Names {
  readonly #prefix: string
  readonly #counts = new Map<string, number>()

  /** `path` is the body's own; empty at the top. */
  constructor(path = '') {
    this.#prefix = path === '' ? '' : `${path}/`
  }

  /** The path of what has this name and comes next. The same calls in the same order give the same paths. */
  next(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    // No name can pass for two, for none, or for another one's second occurrence.
    const plain = name === '' ? '%' : name.replace(/[%/#]/g, encodeURIComponent)
    return `${this.#prefix}${plain}${count === 1 ? '' : `#${count}`}`
  }
}

const PATH = Symbol.for('servable.path')

interface Placed {
  readonly [PATH]?: string
}

/** The options for a body inside a run, at this path. Copies of them keep it. */
export function atPath<Options extends object>(options: Options, path: string): Options {
  return { ...options, [PATH]: path }
}

/** The path of the body that has these options: empty at the top. */
export function pathOf(options: object): string {
  return (options as Placed)[PATH] ?? ''
}
