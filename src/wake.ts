/** Wakes those who wait for something to change. */
export interface Wake {
  /** Resolves at the next `fire`. Check the condition first, with nothing awaited in between. */
  wait(): Promise<void>
  fire(): void
}

/** A promise with what settles it. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
}

/** Makes a {@link Deferred}, as `Promise.withResolvers` does, which Node 20 lacks. */
export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Makes a {@link Wake}. A `fire` that nobody waits for is forgotten. */
export function createWake(): Wake {
  let waiting: Deferred<void> | undefined
  return {
    wait() {
      waiting ??= deferred<void>()
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
