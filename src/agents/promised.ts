import type { RunOptions } from './contract.ts'

/** What the run pipeline itself says to what it runs. */
interface Promises extends Pick<RunOptions, 'apiKey' | 'memory'> {
  readonly runId: string
  readonly signal: AbortSignal
}

/** The options of a run, by the pipeline. */
export type PromisedOptions = RunOptions & Promises

/**
 * The options with which the pipeline runs a servable. The signal fires, by promise, however the servable is left: it needs
 * none of its own beside it. A copy is no such promise, and it is none to whatever else they are handed on to.
 */
export function promisedTo(servable: object, options: RunOptions, own: Promises): PromisedOptions {
  return new Promised(servable, options, own) as object as PromisedOptions
}

/** Whether the options are {@link promisedTo} the servable. */
export function isPromisedTo(servable: object, options: RunOptions | undefined): options is PromisedOptions {
  return Promised.is(servable, options)
}

class Promised {
  readonly #servable: object

  constructor(servable: object, options: RunOptions, own: Promises) {
    this.#servable = servable
    Object.assign(this, options, own)
  }

  static is(servable: object, options: object | undefined): boolean {
    return options !== undefined && #servable in options && options.#servable === servable
  }
}
