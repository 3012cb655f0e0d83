import { createWake, type Wake } from '../../base/wake.ts'
import { LOOK_MS } from '../../stores/presence.ts'
import { isLost, mayPass } from '../../stores/remote/retrying.ts'
import type { LogWatch, Reader, Soon, Store, StoredLogEntry } from '../../stores/store.ts'
import type { Follower } from './host.ts'
import { LogReading } from './log-reading.ts'
import { withoutCalls } from './logged-calls.ts'
import type { Watch } from './watch.ts'

/** The log to follow. */
export interface Followed {
  readonly store: Store
  /** Name of the log. */
  readonly log: string
  /** The sequence number after which to begin. */
  readonly after: number
  /** Undefined if nothing reports new entries. */
  readonly watch: Watch | undefined
  /** Whether the run of the log is still stored. A log without it gets no more entries and no end. */
  readonly isKept: (tx: Reader) => boolean
  /** Ends the work that dead processes left. Rejects if that cannot be done now. */
  readonly look: () => Soon<void>
}

/** The result of a read. */
interface Page {
  readonly entries: readonly StoredLogEntry[]
  readonly isOver: boolean
}

/**
 * Reads a log, then waits for what is added, to its last entry, or until the log is deleted. Holds no more than one batch.
 */
export class LogFollower implements Follower {
  readonly #followed: Followed
  readonly #reading: LogReading
  /** Fires when there may be new entries. */
  readonly #changed: Wake
  #after: number
  #hasLeft = false
  /** Whether the last read reached the end. */
  #isOver = false
  /** Reports entries that others write; null if there are no such reports. */
  #hearing: LogWatch | null | undefined

  /** Throws `too_many_followers`. */
  constructor(followed: Followed) {
    followed.watch?.attach()
    this.#followed = followed
    this.#reading = new LogReading(followed.log, true)
    this.#after = followed.after
    this.#changed = followed.watch?.changed ?? createWake()
  }

  async next(): Promise<readonly StoredLogEntry[] | undefined> {
    while (!this.#hasLeft && !this.#isOver) {
      // Wait first, so that entries written during the read wake it as well.
      const word = this.#changed.wait()
      const read = this.#readPatiently()
      const entries = this.#given(read instanceof Promise ? await read : read)
      if (entries.length > 0) return entries
      if (!this.#isOver && !(await this.#hearsNow())) await this.#change(word)
    }
    this.leave()
    return undefined
  }

  ready(): readonly StoredLogEntry[] {
    const page = this.#hasLeft || this.#isOver ? undefined : this.#read()
    // `next` waits for what cannot be read at once.
    if (page instanceof Promise) void page.catch(() => {})
    return page === undefined || page instanceof Promise ? [] : this.#given(page)
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    const { watch } = this.#followed
    watch?.detach()
    this.#hearing?.stop()
    this.#changed.fire()
  }

  /** Subscribes to entries that others write. Returns true if the log must be read once more. */
  async #hearsNow(): Promise<boolean> {
    const { store, log, watch } = this.#followed
    if (this.#hearing !== undefined || watch?.tellsAll() || store.watch === undefined) return false
    this.#hearing = null
    try {
      this.#hearing = await store.watch(log, this.#changed.fire)
    } catch {
      // Without reports, the log is polled.
      return false
    }
    if (this.#hasLeft) this.#hearing.stop()
    return true
  }

  /** Waits until there may be new entries: for a wake, and at most for a while if others write without reports. */
  async #change(word: Promise<void>): Promise<void> {
    const { watch, look } = this.#followed
    if (watch?.tellsAll()) return word
    const timer = setTimeout(this.#changed.fire, this.#hearing?.isLive ? LOOK_MS : POLL_MS)
    await word
    clearTimeout(timer)
    try {
      await look()
    } catch {
      // The next call tries again.
    }
  }

  #readPatiently(): Soon<Page> {
    try {
      const read = this.#read()
      return read instanceof Promise ? read.catch(error => this.#readAgain(error)) : read
    } catch (error) {
      return this.#readAgain(error)
    }
  }

  /** Retries a read of a store that fails for a while. */
  async #readAgain(failure: unknown): Promise<Page> {
    const until = performance.now() + READ_PATIENCE_MS
    let last = failure
    while (!this.#hasLeft && mayPass(last) && !isLost(last) && performance.now() < until) {
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
      try {
        return await this.#read()
      } catch (error) {
        last = error
      }
    }
    throw last
  }

  #read(): Soon<Page> {
    const { store, isKept, watch } = this.#followed
    const recent = watch?.recent.after(this.#after, BATCH)
    if (recent !== undefined) return { entries: recent, isOver: false }
    return store.read(tx => {
      // At the end no further read is needed.
      const { entries, isLast } = this.#reading.read(tx, this.#after, BATCH)
      return { entries, isOver: isLast || (entries.length === 0 && !isKept(tx)) }
    })
  }

  #given({ entries, isOver }: Page): readonly StoredLogEntry[] {
    this.#isOver = isOver
    this.#after = entries.at(-1)?.seq ?? this.#after
    return withoutCalls(entries)
  }
}

/** Entries per read. */
const BATCH = 64

/** Milliseconds between two reads of a run at work elsewhere, if nothing reports new entries. */
const POLL_MS = 250

/** Milliseconds for which reads are retried if the store fails. Then the follower gets the error. */
const READ_PATIENCE_MS = 15_000
