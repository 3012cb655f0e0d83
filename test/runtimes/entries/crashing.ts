import type { ObjectClass, ObjectState } from '../../../src/runtimes/cloudflare/platform.ts'

/** The class with a way to end an object like a crash. */
export function crashing(Made: ObjectClass): ObjectClass {
  return class extends Made {
    readonly #abort: () => void

    constructor(state: ObjectState & { abort?(reason: string): void }, env: unknown) {
      super(state, env)
      this.#abort = () => state.abort?.('on purpose')
    }

    crash(): void {
      this.#abort()
    }
  }
}
