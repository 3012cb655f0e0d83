import { MAX_REST_MS } from '../../stores/deaths.ts'
import type { Store } from '../../stores/store.ts'

/** Names a host in what it writes down as being at work, and tells whether another one is still there. */
export interface WorkerName {
  /** The name of this host. */
  readonly own: string
  /** Whether the host of that name may still be at work. */
  isThere(name: string): boolean
  /** This process is about to end: what is left to others is not taken again here. */
  retire(): void
}

/** The name of nobody: what has it is anyone's. */
export const NOBODY = 'nobody'

/** What a name ends with whose bearer has died, and whose work rests until a time, in milliseconds since 1970. */
const RESTS = /\/until\/(\d+)$/

/** The name of nobody, until that time: what has it is left alone, and then anyone's. Older versions take it for the one that has died. */
export function restingUntil(died: string, at: number): string {
  return `${processOf(died)}/until/${Math.ceil(at)}`
}

/** Whether a name is nobody's: what has it was left, or rests, and its worker has not died. */
export function isNobody(name: string): boolean {
  return name === NOBODY || RESTS.test(name)
}

/** Milliseconds after which what was left to others may be taken again here: then this process has not ended. */
const RETIRED_MS = 60_000

/** The process of a worker. */
export function processOf(name: string): string {
  return name.split('/', 1)[0] ?? ''
}

/** Names a host over a store. Several hosts may share one, and each knows of its own work only. */
export function nameWorker(store: Store): WorkerName {
  let id: string | undefined
  let retiredUntil = 0
  return {
    get own() {
      // Made when it is first asked for: a Worker may not make random values while it is loaded.
      id ??= crypto.randomUUID()
      return `${store.instance}/${id}`
    },
    isThere(name) {
      if (name === NOBODY) return performance.now() < retiredUntil
      const [, until] = RESTS.exec(name) ?? []
      // The clock may have been set back since.
      if (until !== undefined) return Number(until) > Date.now() && Number(until) < Date.now() + MAX_REST_MS
      return store.isAlive(processOf(name))
    },
    retire() {
      retiredUntil = performance.now() + RETIRED_MS
    },
  }
}
