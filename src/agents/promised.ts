import type { RunOptions } from './contract.ts'

/**
 * The options of a run whose signal fires, by promise, however `servable` is left: it needs no signal of its own beside it. No
 * copy is such a promise, nor is it one to anything else that they are handed on to.
 */
export function promisedTo(servable: object, options: RunOptions): RunOptions {
  return new Promised(servable, options) as RunOptions
}

/** Whether the options are {@link promisedTo} the servable. */
export function isPromisedTo(servable: object, options: RunOptions | undefined): boolean {
  return Promised.is(servable, options)
}

class Promised {
  readonly #servable: object

  constructor(servable: object, options: RunOptions) {
    this.#servable = servable
    Object.assign(this, options)
  }

  static is(servable: object, options: object | undefined): boolean {
    return options !== undefined && #servable in options && options.#servable === servable
  }
}
