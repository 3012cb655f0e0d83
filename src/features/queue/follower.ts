import { createWake, unrefed, type Wake } from '../../base/wake.ts'
import type { Follower } from '../../runs/stored/host.ts'
import type { StoredLogEntry } from '../../stores/store.ts'

/** Milliseconds between checks of a run that may begin in another process: at first, and at most if each check costs money. */
const POLL_MS = 500
const MAX_POLL_MS = 4000

/** Resolves when a run has left the queue, or `signal` fires. */
export async function begun(
  isQueued: () => Promise<boolean>,
  changed: Wake | undefined,
  signal: AbortSignal,
): Promise<void> {
  const own = createWake()
  let isOver = false
  // One `wait` at a time: a promise that is awaited again and again keeps all its listeners.
  const listen = (): void => {
    void changed?.wait().then(() => {
      own.fire()
      if (!isOver) listen()
    })
  }
  listen()
  signal.addEventListener('abort', own.fire)
  try {
    for (let ms = POLL_MS; !signal.aborted; ms = changed ? POLL_MS : Math.min(2 * ms, MAX_POLL_MS)) {
      // Waits before the check, so that a change during the check counts as well.
      const change = own.wait()
      if (!(await isQueued())) return
      const timer = unrefed(setTimeout(own.fire, ms))
      await change
      clearTimeout(timer)
    }
  } finally {
    isOver = true
    signal.removeEventListener('abort', own.fire)
  }
}

/** Follows a queued run. It has no events until the run begins. */
export class QueuedFollower implements Follower {
  readonly #begin: (signal: AbortSignal) => Promise<Follower>
  readonly #left = new AbortController()
  #follower: Follower | undefined

  /** `begin` resolves when the run has begun, or its follower has left. */
  constructor(begin: (signal: AbortSignal) => Promise<Follower>) {
    this.#begin = begin
  }

  async next(): Promise<readonly StoredLogEntry[] | undefined> {
    const { signal } = this.#left
    if (this.#follower === undefined) {
      const follower = await this.#begin(signal)
      this.#follower = follower
      if (signal.aborted) follower.leave()
    }
    return signal.aborted ? undefined : this.#follower.next()
  }

  ready(): readonly StoredLogEntry[] {
    return this.#follower?.ready() ?? []
  }

  leave(): void {
    this.#left.abort()
    this.#follower?.leave()
  }
}

/** A follower without events. */
export const NOTHING: Follower = { next: async () => undefined, ready: () => [], leave() {} }
