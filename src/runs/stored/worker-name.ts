import { MAX_REST_MS } from '../../stores/deaths.ts'
import type { Store } from '../../stores/store.ts'

/** Names a host in the work that it writes, and tells whether another host is still alive. */
export interface WorkerName {
  /** The name of this host. */
  readonly own: string
  /** Whether the host of that name may still be at work. */
  isThere(name: string): boolean
  /** Called when this process is about to end: it then does not take again what it leaves to others. */
  retire(): void
}

/** The name of no worker: every host may take its work. */
export const NOBODY = 'nobody'

/** The end of a name whose worker has died, and whose work rests until a time, in milliseconds since 1970. */
const RESTS = /\/until\/(\d+)$/

/** The name of no worker until a time: its work is left alone until then. Older versions take it for the worker that has died. */
export function restingUntil(died: string, at: number): string {
  return `${processOf(died)}/until/${Math.ceil(at)}`
}

/** Whether a name is no worker's: its work was left, or rests, and no worker has died. */
export function isNobody(name: string): boolean {
  return name === NOBODY || RESTS.test(name)
}

/** Milliseconds after which this process may take again what it left to others, because it has not ended. */
const RETIRED_MS = 60_000

/** The process of a worker. */
export function processOf(name: string): string {
  return name.split('/', 1)[0] ?? ''
}

/** Names a host over a store. Several hosts may share a store, and each knows only its own work. */
export function nameWorker(store: Store): WorkerName {
  let id: string | undefined
  let retiredUntil = 0
  return {
    get own() {
      // Lazy: a Worker may not make random values while it is loaded.
      id ??= crypto.randomUUID()
      return `${store.instance}/${id}`
    },
    isThere(name) {
      if (name === NOBODY) return performance.now() < retiredUntil
      const [, until] = RESTS.exec(name) ?? []
      // The clock may have been set back since then.
      if (until !== undefined) return Number(until) > Date.now() && Number(until) < Date.now() + MAX_REST_MS
      return store.isAlive(processOf(name))
    },
    retire() {
      retiredUntil = performance.now() + RETIRED_MS
    },
  }
}
