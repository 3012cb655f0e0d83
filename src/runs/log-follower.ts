import type { LogEntry, Store } from '../state/store.ts'
import { createWake } from '../wake.ts'
import type { Follower } from './host.ts'
import type { Watch } from './watch.ts'

/** Entries that are read at once. */
const BATCH = 64

/** Milliseconds between looks at a run that another process has at work: only the store tells of it. */
const POLL_MS = 250

/** Reads a log, then waits for what is added, to its last entry. Holds no more than one batch. */
export class LogFollower implements Follower {
  readonly #store: Store
  readonly #id: string
  readonly #watch: Watch | undefined
  #after: number
  #hasLeft = false

  /** Throws `too_many_followers`. */
  constructor(store: Store, id: string, after: number, watch: Watch | undefined) {
    watch?.attach()
    this.#store = store
    this.#id = id
    this.#after = after
    this.#watch = watch
  }

  async next(): Promise<readonly LogEntry[] | undefined> {
    while (!this.#hasLeft) {
      const { entries, isSealed } = this.#read()
      if (entries.length > 0) return entries
      if (isSealed) break
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
    this.#watch?.detach()
    this.#watch?.changed.fire()
  }

  /** Waits until there may be something new: for a word, and where others write unheard, no longer than a while. */
  async #change(): Promise<void> {
    const changed = this.#watch?.changed ?? createWake()
    const timer = this.#watch?.tellsAll() ? undefined : setTimeout(() => changed.fire(), POLL_MS)
    await changed.wait()
    if (timer !== undefined) clearTimeout(timer)
  }

  #read(): { entries: LogEntry[]; isSealed: boolean } {
    return this.#store.transact(tx => {
      const entries = tx.read(this.#id, this.#after, BATCH)
      this.#after = entries.at(-1)?.seq ?? this.#after
      return { entries, isSealed: entries.length === 0 && tx.isSealed(this.#id) }
    })
  }
}
