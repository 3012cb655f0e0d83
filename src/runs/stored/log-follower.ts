import { createWake, type Wake } from '../../base/wake.ts'
import { LOOK_MS } from '../../stores/presence.ts'
import { isLost, mayPass } from '../../stores/remote/patient.ts'
import type { Hearing, LogEntry, Reader, Soon, Store } from '../../stores/store.ts'
import type { Follower } from './host.ts'
import type { Watch } from './watch.ts'

/** Entries that are read at once. */
const BATCH = 64

/** Milliseconds between looks at a run that others have at work, where nobody tells of it. */
const POLL_MS = 250

/** Milliseconds for which a store that cannot be read is asked again; then who follows is told. */
const READ_PATIENCE_MS = 15_000

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
  readonly isKept: (tx: Reader) => boolean
  /** Ends what the dead have left at work. Rejects where that cannot be done now. */
  readonly look: () => Soon<void>
}

/** What was read. */
interface Page {
  readonly entries: readonly LogEntry[]
  readonly isOver: boolean
}

/**
 * Reads a log, then waits for what is added, to its last entry, or until the log is deleted. Holds no more than one batch.
 */
export class LogFollower implements Follower {
  readonly #followed: Followed
  /** Fires when there may be something new. */
  readonly #changed: Wake
  #after: number
  #hasLeft = false
  /** What was read last is the end. */
  #isOver = false
  /** Tells of what others write; null where nobody does. */
  #hearing: Hearing | null | undefined

  /** Throws `too_many_followers`. */
  constructor(followed: Followed) {
    followed.watch?.attach()
    this.#followed = followed
    this.#after = followed.after
    this.#changed = followed.watch?.changed ?? createWake()
  }

  async next(): Promise<readonly LogEntry[] | undefined> {
    while (!this.#hasLeft && !this.#isOver) {
      // Armed first: what is written while this reads wakes it as well.
      const word = this.#changed.wait()
      const read = this.#readPatiently()
      const entries = this.#given(read instanceof Promise ? await read : read)
      if (entries.length > 0) return entries
      if (!this.#isOver && !(await this.#hearsNow())) await this.#change(word)
    }
    this.leave()
    return undefined
  }

  ready(): readonly LogEntry[] {
    const page = this.#hasLeft || this.#isOver ? undefined : this.#read()
    // What is not there at once is what `next` waits for.
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

  /** Begins to hear of what others write. True if what was written until now is to be read once more. */
  async #hearsNow(): Promise<boolean> {
    const { store, log, watch } = this.#followed
    if (this.#hearing !== undefined || watch?.tellsAll() || store.hear === undefined) return false
    this.#hearing = null
    try {
      this.#hearing = await store.hear(log, this.#changed.fire)
    } catch {
      // It is read again and again.
      return false
    }
    if (this.#hasLeft) this.#hearing.stop()
    return true
  }

  /** Waits until there may be something new: for a word, and where others write unheard, no longer than a while. */
  async #change(word: Promise<void>): Promise<void> {
    const { watch, look } = this.#followed
    if (watch?.tellsAll()) return word
    const timer = setTimeout(this.#changed.fire, this.#hearing?.isLive ? LOOK_MS : POLL_MS)
    await word
    clearTimeout(timer)
    try {
      await look()
    } catch {
      // The next time.
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

  /** A store that fails for a while keeps nobody from hearing the rest. */
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
    const { store, log, isKept, watch } = this.#followed
    const recent = watch?.recent.after(this.#after, BATCH)
    if (recent !== undefined) return { entries: recent, isOver: false }
    return store.read(tx => {
      const entries = tx.read(log, this.#after, BATCH)
      // Whoever has the end need not ask for more.
      const isLast = entries.length < BATCH && tx.isSealed(log)
      return { entries, isOver: isLast || (entries.length === 0 && !isKept(tx)) }
    })
  }

  #given({ entries, isOver }: Page): readonly LogEntry[] {
    this.#isOver = isOver
    this.#after = entries.at(-1)?.seq ?? this.#after
    return entries
  }
}
