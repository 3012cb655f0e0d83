import type { LogEntry, Store, Transaction } from '../state/store.ts'
import { createWake } from '../wake.ts'
import type { Follower } from './host.ts'
import type { Watch } from './watch.ts'

/** Entries that are read at once. */
const BATCH = 64

/** Milliseconds between looks at a run that another process has at work: only the store tells of it. */
const POLL_MS = 250

/** Which log is followed. */
export interface Followed {
  readonly store: Store
  /** Name of the log. */
  readonly log: string
  /** The place after which to begin. */
  readonly after: number
  /** Undefined where nobody tells of what is new. */
  readonly watch: Watch | undefined
  /** Whether there still is what the log is of: one that is gone gets no more entries, nor an end. */
  readonly isKept: (tx: Transaction) => boolean
}

/**
 * Reads a log, then waits for what is added, to its last entry, or until the log is deleted. Holds no more than one batch.
 */
export class LogFollower implements Follower {
  readonly #followed: Followed
  #after: number
  #hasLeft = false

  /** Throws `too_many_followers`. */
  constructor(followed: Followed) {
    followed.watch?.attach()
    this.#followed = followed
    this.#after = followed.after
  }

  async next(): Promise<readonly LogEntry[] | undefined> {
    while (!this.#hasLeft) {
      const { entries, isOver } = this.#read()
      if (entries.length > 0) return entries
      if (isOver) break
      await this.#change()
    }
    this.leave()
    return undefined
  }

  ready(): readonly LogEntry[] {
    return this.#hasLeft ? [] : this.#read().entries
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    const { watch } = this.#followed
    watch?.detach()
    watch?.changed.fire()
  }

  /** Waits until there may be something new: for a word, and where others write unheard, no longer than a while. */
  async #change(): Promise<void> {
    const { watch } = this.#followed
    const changed = watch?.changed ?? createWake()
    const timer = watch?.tellsAll() ? undefined : setTimeout(() => changed.fire(), POLL_MS)
    await changed.wait()
    if (timer !== undefined) clearTimeout(timer)
  }

  #read(): { entries: LogEntry[]; isOver: boolean } {
    const { store, log, isKept } = this.#followed
    return store.transact(tx => {
      const entries = tx.read(log, this.#after, BATCH)
      this.#after = entries.at(-1)?.seq ?? this.#after
      return { entries, isOver: entries.length === 0 && (tx.isSealed(log) || !isKept(tx)) }
    })
  }
}
