/**
 * Which processes work on a store, and which are gone.
 *
 * Stored work carries the name of its process. A name that is gone never returns. The first process that finds such work ends
 * it for all (`runs/stored/recovery.ts`), by an entry in the log that followers read, or goes on with it. If the process was alive after all, it finds
 * its log sealed, and stops. A store that uses a lock of the operating system (SQLite) makes no such mistake. A store that
 * uses leases must give a new `instance` to a process that lost its lease.
 *
 * @module
 */

/** The process that has a store open. Work of a process that is gone has no worker. */
export interface Presence {
  /** The name of this opening of the store. */
  readonly instance: string
  /** Whether other processes can have the store open at the same time. */
  readonly isShared: boolean
  /** Whether the opening with that name is alive. Each call checks anew; once every {@link LOOK_MS} is often enough. */
  isAlive(instance: string): boolean
}

/** Milliseconds between two checks for processes that are gone, while anyone waits for their work. */
export const LOOK_MS = 1000

/**
 * The presence of a store that only one process can open at a time, so earlier openings are gone. The name is made on first
 * use, since a Worker may not make random values while it is loaded.
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
