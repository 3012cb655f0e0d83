import { createWake, unrefed, type Wake } from '../../base/wake.ts'
import type { Follower } from '../../runs/stored/host.ts'
import type { LogEntry } from '../../stores/store.ts'

/** Milliseconds between looks at a run that may begin in another process: at first, and at most where each look is paid for. */
const POLL_MS = 500
const MAX_POLL_MS = 4000

/** Resolves once a run waits no more, or once `signal` fires. */
export async function begun(
  isQueued: () => Promise<boolean>,
  changed: Wake | undefined,
  signal: AbortSignal,
): Promise<void> {
  const own = createWake()
  let isOver = false
  // One at a time: a promise that is awaited again and again keeps all who ever did.
  const hear = (): void => {
    void changed?.wait().then(() => {
      own.fire()
      if (!isOver) hear()
    })
  }
  hear()
  signal.addEventListener('abort', own.fire)
  try {
    for (let ms = POLL_MS; !signal.aborted; ms = changed ? POLL_MS : Math.min(2 * ms, MAX_POLL_MS)) {
      // Armed first: what changes while this looks counts as well.
      const word = own.wait()
      if (!(await isQueued())) return
      const timer = unrefed(setTimeout(own.fire, ms))
      await word
      clearTimeout(timer)
    }
  } finally {
    isOver = true
    signal.removeEventListener('abort', own.fire)
  }
}

/** Follows a run that waits for its place: it says nothing until it begins. */
export class QueuedFollower implements Follower {
  readonly #begin: (signal: AbortSignal) => Promise<Follower>
  readonly #left = new AbortController()
  #follower: Follower | undefined

  /** `begin` resolves once the run has begun, or whoever follows it has left. */
  constructor(begin: (signal: AbortSignal) => Promise<Follower>) {
    this.#begin = begin
  }

  async next(): Promise<readonly LogEntry[] | undefined> {
    const { signal } = this.#left
    if (this.#follower === undefined) {
      const follower = await this.#begin(signal)
      this.#follower = follower
      if (signal.aborted) follower.leave()
    }
    return signal.aborted ? undefined : this.#follower.next()
  }

  ready(): readonly LogEntry[] {
    return this.#follower?.ready() ?? []
  }

  leave(): void {
    this.#left.abort()
    this.#follower?.leave()
  }
}

/** Follows nothing. */
export const NOTHING: Follower = { next: async () => undefined, ready: () => [], leave() {} }
