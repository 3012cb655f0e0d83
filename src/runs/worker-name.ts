import type { Store } from '../state/store.ts'

/** Names a host in what it writes down as being at work, and tells whether another one is still there. */
export interface WorkerName {
  /** The name of this host. */
  readonly own: string
  /** Whether the host of that name may still be at work. */
  isThere(name: string): boolean
}

/** Names a host over a store. Several hosts may share one, and each knows of its own work only. */
export function nameWorker(store: Store): WorkerName {
  let id: string | undefined
  return {
    get own() {
      // Made when it is first asked for: a Worker may not make random values while it is loaded.
      id ??= crypto.randomUUID()
      return `${store.instance}/${id}`
    },
    isThere: name => store.isAlive(name.split('/', 1)[0] ?? ''),
  }
}
