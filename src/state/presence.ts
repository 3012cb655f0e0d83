/**
 * Who works on a store, and who is gone.
 *
 * Work that is written down carries the name of who does it. A name that is gone never comes back to that work: whoever
 * finds it so ends it for everyone (`runs/recovery.ts`), which is written into the same logs that all others follow. Who was
 * thought to be gone and was not finds its log sealed, and stops. A store that knows of the living by a lock of the operating
 * system (SQLite) never thinks so; one that knows by leases must give an opening that lost its own another `instance`.
 *
 * @module
 */

/** Who has a store open: work that another one left behind has lost its worker. */
export interface Presence {
  /** Names this opening of the store. */
  readonly instance: string
  /** Whether others may have the store open at the same time. */
  readonly isShared: boolean
  /** Whether the opening of that name is there. Asks anew each time: {@link LOOK_MS} apart is often enough. */
  isAlive(instance: string): boolean
}

/** Milliseconds between two looks at who is gone, while anyone waits for what others do. */
export const LOOK_MS = 1000

/**
 * The presence of the only one who can have a store open: whoever had it before is gone. Its name is made when it is
 * first asked for, since a Worker may not make random values while it is loaded.
 */
export function alone(): Presence {
  let instance: string | undefined
  const name = () => {
    instance ??= crypto.randomUUID()
    return instance
  }
  return {
    get instance() {
      return name()
    },
    isShared: false,
    isAlive: other => other === name(),
  }
}
