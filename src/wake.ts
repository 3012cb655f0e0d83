/** Wakes those who wait for something to change. */
export interface Wake {
  /** Resolves at the next `fire`. Check the condition first, with nothing awaited in between. */
  wait(): Promise<void>
  fire(): void
}

/** Makes a {@link Wake}. A `fire` that nobody waits for is forgotten. */
export function createWake(): Wake {
  let waiting: PromiseWithResolvers<void> | undefined
  return {
    wait() {
      waiting ??= Promise.withResolvers<void>()
      return waiting.promise
    },
    fire() {
      waiting?.resolve()
      waiting = undefined
    },
  }
}

/** After so many items in a row a loop lets timers and I/O have their turn: other code may never wait by itself. */
export const BREATHE_EVERY = 4096

/** Resolves once timers and I/O have had their turn. */
export function breathe(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 0))
}
